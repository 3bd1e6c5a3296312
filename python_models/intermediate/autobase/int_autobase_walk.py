"""Membership and depth of each node of a base; computed by dbt_tangles.algorithms.graph.walk."""

from pyspark.sql import functions as sf

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.graph.walk import walk

PLACES = "graph_id string, node_id string, previous array<string>, depth int, child_count int, set_aside_reason string"


def model(dbt, spark):
    candidates = dbt.ref("int_autobase_candidates").select(
        sf.col("base_id").alias("graph_id"), "node_id", "previous", "is_root", "claim_error"
    )
    return map_groups(candidates, ["graph_id"], walk, PLACES).withColumnRenamed("graph_id", "base_id")
