"""The converged order of every timeline and the edits that lead to it; the rules are in dbt_tangles.timelines.

What an earlier run published is read back: timelines whose arrivals are the same are copied. The others are ordered
anew, and compared with the order that was published, for `timeline_updates`.
"""

from functools import partial

from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python.earlier import Few, compared
from dbt_spark_python.row_texts import row_digest
from dbt_spark_python.sail import gather, map_in_arrow
from dbt_spark_python.touched import Touched
from dbt_tangles.timelines.partition import order_of_partition
from dbt_tangles.timelines.schemas import OUTPUT_SCHEMA, PUBLISHED_SCHEMA


def model(dbt, spark):
    arrivals = dbt.ref("int_timeline_arrivals")
    sizes = {
        "batch_size": dbt.config.meta_get("edit_batch_size"),
        "edit_limit": dbt.config.meta_get("edit_limit"),
        "edit_command_limit": dbt.config.meta_get("edit_command_limit"),
        "graph_limit": dbt.config.meta_get("graph_limit"),
    }
    rows_in_memory = dbt.config.meta_get("rows_in_memory")
    if not spark.catalog.tableExists(str(dbt.this)):
        return order(arrivals, rows_in_memory=rows_in_memory, **sizes)
    # Everything known of an arrival, and how its edits are made: the table has these columns too.
    columns = [*arrivals.columns, "edit_batch_size", "edit_command_limit"]
    published = spark.table(str(dbt.this))
    if not {*columns, *PUBLISHED_SCHEMA.names} <= set(published.columns):
        raise ValueError(f"{dbt.this} is of an earlier version of this project: build it once with --full-refresh")
    arrivals = with_edit_settings(arrivals, **sizes)
    touched = Touched(["timeline_id"], Few(other_timelines(arrivals, published, columns)))
    # Of a timeline that was too large nothing was published.
    before = touched.of(published.where("reason is null or reason <> 'timeline_too_large'"))
    before = before.select("timeline_id", "event_id", *PUBLISHED_SCHEMA.names, sf.lit(True).alias("is_published"))
    rows = touched.of(arrivals).withColumn("is_published", sf.lit(False))
    rows = rows.unionByName(before, allowMissingColumns=True)
    unchanged = touched.others(published).select(published.columns)
    return order(rows, rows_in_memory=rows_in_memory, **sizes).unionByName(unchanged)


def order(rows, **sizes):
    """Hand whole timelines to the kernel."""
    whole_timelines = gather(rows, "timeline_id")
    return map_in_arrow(whole_timelines, partial(order_of_partition, **sizes), from_arrow_schema(OUTPUT_SCHEMA))


def with_edit_settings(arrivals, batch_size, edit_limit, edit_command_limit, graph_limit):
    """Add how the scripts of each timeline are made.

    `edit_batch_size` is how many arrivals share a script: 0, for none, where a timeline is too long; null where it is
    too large. `edit_command_limit` is null where there are no scripts.
    """
    long = arrivals.groupBy("timeline_id").count().where(sf.col("count") > min(edit_limit, graph_limit))
    # The few are on the left: there are engines that hold the left side of a join in memory.
    sized = sf.broadcast(long).join(arrivals, "timeline_id", "right")
    of_long = sf.when(sf.col("count") > graph_limit, sf.lit(None)).otherwise(0)
    sized = sized.withColumn("edit_batch_size", sf.when(sf.col("count").isNull(), batch_size).otherwise(of_long))
    command_limit = sf.when(sf.col("edit_batch_size") > 0, sf.lit(edit_command_limit).cast("bigint"))
    return sized.withColumn("edit_command_limit", command_limit).drop("count")


def other_timelines(arrivals, published, columns):
    """List the timelines whose arrivals are not those that are published; of those that are gone, too."""
    now, before = (fingerprints(rows, columns) for rows in (arrivals, published))
    return compared(now, before).where("is_now <> was_before").select("timeline_id").distinct()


def fingerprints(rows, columns):
    """Compress the digests of each timeline's rows to one row: how many there are, and what they add up to."""
    rows = rows.select("timeline_id", row_digest(rows, columns).alias("digest"))
    halves = [sf.xxhash64(sf.substring("digest", start, 32)).cast("decimal(38, 0)") for start in (1, 33)]
    return rows.groupBy("timeline_id").agg(sf.count("*").alias("row_count"), *map(sf.sum, halves))
