"""Which nodes of a base are in, and how deep; the rules are in dbt_tangles.graph."""

import pyarrow as pa
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dbt_tangles.graph.partition import levels_of_partition
from dbt_tangles.graph.walk import WALK_INPUT_SCHEMA, WALK_OUTPUT_SCHEMA


def model(dbt, spark):
    candidates = dbt.ref("int_autobase_candidates").select(
        sf.lit("autobase").alias("graph_kind"),
        sf.col("base_id").alias("graph_id"),
        "node_id",
        "previous",
        "is_root",
        "claim_error",
        sf.lit(None).cast("double").alias("asserted_at"),
        sf.lit(None).cast("double").alias("received_at"),
    )
    whole_bases = candidates.repartition("graph_id")
    walked = pa.schema([*WALK_INPUT_SCHEMA, *WALK_OUTPUT_SCHEMA])
    return whole_bases.mapInArrow(levels_of_partition, from_arrow_schema(walked)).select(
        sf.col("graph_id").alias("base_id"),
        "node_id",
        "previous",
        "depth",
        "child_count",
        "set_aside_reason",
    )
