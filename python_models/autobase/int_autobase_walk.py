"""Which nodes of a base are in, and how deep; the rules are in dbt_tangles.graph."""

from pyspark.sql import functions as sf

from dbt_tangles.graph.partition import levels_of_partition

CANDIDATES = (
    "tangle_name string, root_id string, message_id string, previous array<string>, is_root boolean, "
    "claim_error string, asserted_at double, received_at double, known_depth int, is_levelled boolean"
)
PLACES = (
    "depth int, set_aside_reason string, position int, thread_position int, child_count int, "
    "redundant_previous array<string>"
)


def model(dbt, spark):
    candidates = dbt.ref("int_autobase_candidates").select(
        sf.lit("autobase").alias("tangle_name"),
        sf.col("base_id").alias("root_id"),
        sf.col("node_id").alias("message_id"),
        "previous",
        "is_root",
        "claim_error",
        sf.lit(None).cast("double").alias("asserted_at"),
        sf.lit(None).cast("double").alias("received_at"),
        sf.lit(None).cast("int").alias("known_depth"),
        sf.lit(False).alias("is_levelled"),
    )
    whole_bases = candidates.repartition("root_id")
    return whole_bases.mapInArrow(levels_of_partition, f"{CANDIDATES}, {PLACES}").select(
        sf.col("root_id").alias("base_id"),
        sf.col("message_id").alias("node_id"),
        "previous",
        "depth",
        "child_count",
        "set_aside_reason",
    )
