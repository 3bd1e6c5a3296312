"""The converged order of every timeline and the edits that lead to it; the rules are in dbt_tangles.timelines.

What an earlier run published is read back: timelines whose arrivals are the same are copied, the others go on from
the last whole batch that is still the same.
"""

from functools import partial

from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dbt_tangles.timelines.partition import OUTPUT_SCHEMA, PUBLISHED_COLUMNS, order_of_partition


def model(dbt, spark):
    batch_size = dbt.config.get("edit_batch_size")
    arrivals = with_digest(dbt.ref("int_timeline_arrivals"), batch_size)
    unchanged = None
    if dbt.is_incremental:
        published = spark.table(str(dbt.this))
        unchanged = published.join(same_timelines(arrivals, published), "timeline_id", "left_semi")
        arrivals = without(arrivals, unchanged)
        published = without(published, unchanged).withColumn("is_published", sf.lit(True))
        arrivals = arrivals.withColumn("is_published", sf.lit(False))
        arrivals = arrivals.unionByName(
            published.select("timeline_id", "event_id", "digest", "is_published", *PUBLISHED_COLUMNS),
            allowMissingColumns=True,
        )
    whole_timelines = arrivals.repartition("timeline_id")
    order = whole_timelines.mapInArrow(
        partial(order_of_partition, batch_size=batch_size), from_arrow_schema(OUTPUT_SCHEMA)
    )
    return order if unchanged is None else order.unionByName(unchanged)


def with_digest(arrivals, batch_size):
    """Add the digest of all that is known of an arrival, and of what decides how its edits are made."""
    parts = sf.struct(sf.lit(batch_size).alias("batch_size"), *sorted(arrivals.columns))
    return arrivals.withColumn("digest", sf.sha2(sf.to_json(parts), 256))


def same_timelines(arrivals, published):
    """List the timelines whose arrivals are those that are published."""
    return fingerprints(arrivals).intersect(fingerprints(published)).select("timeline_id")


def fingerprints(rows):
    """Compress the set of digests of each timeline to one row: how many there are, and what they add up to."""
    halves = [sf.conv(sf.substring("digest", start, 15), 16, 10).cast("decimal(38, 0)") for start in (1, 16)]
    return rows.groupBy("timeline_id").agg(sf.count("*").alias("row_count"), *map(sf.sum, halves))


def without(rows, others):
    """Leave out the timelines that others hold."""
    return rows.join(others.select("timeline_id").distinct(), "timeline_id", "left_anti")
