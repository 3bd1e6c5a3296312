"""Membership, depth and order of every tangle; the rules are in dbt_tangles.graph."""

from pyspark.sql import functions as sf

from dbt_tangles.graph.partition import levels_of_partition

PLACES = (
    "depth int, set_aside_reason string, position int, thread_position int, child_count int, "
    "redundant_previous array<string>"
)


def model(dbt, spark):
    candidates = dbt.ref("int_tangle_candidates")
    levelled = dbt.ref("int_tangle_sql_levels")
    uses_sql_rounds = dbt.config.meta_get("uses_sql_rounds")
    if uses_sql_rounds:
        # The SQL rounds level whole graphs, and each graph they took has its root in their table.
        graph = ["tangle_name", "root_id"]
        taken = levelled.where("depth = 0").select(*graph, sf.lit(True).alias("is_levelled"))
        known = levelled.select(*graph, "message_id", sf.col("depth").alias("known_depth"))
        candidates = candidates.join(taken, graph, "left").join(known, [*graph, "message_id"], "left")
        candidates = candidates.withColumn("is_levelled", sf.coalesce("is_levelled", sf.lit(False)))
    else:
        candidates = candidates.select(
            "*", sf.lit(False).alias("is_levelled"), sf.lit(None).cast("int").alias("known_depth")
        )
    whole_graphs = candidates.repartition("tangle_name", "root_id")
    fields = ", ".join(f"{name} {kind}" for name, kind in candidates.dtypes)
    placed = whole_graphs.mapInArrow(levels_of_partition, f"{fields}, {PLACES}")
    return placed.drop("known_depth", "is_levelled")
