"""What each node has seen of each writer; the walk is in dbt_tangles.graph."""

from functools import partial

from pyspark.sql import functions as sf

from dbt_tangles.graph.partition import clocks_of_partition

CLOCKS = "graph_kind string, graph_id string, node_id string, author string, sequence int"


def model(dbt, spark):
    max_rows = dbt.config.meta_get("clock_limit")
    members = dbt.ref("int_autobase_members").select(
        sf.lit("autobase").alias("graph_kind"),
        sf.col("base_id").alias("graph_id"),
        "node_id",
        "previous",
        "depth",
        sf.col("writer").alias("author"),
        sf.col("length").alias("sequence"),
    )
    whole_bases = members.repartition("graph_id")
    clocks = whole_bases.mapInArrow(partial(clocks_of_partition, limit=0, max_rows=max_rows), CLOCKS)
    return clocks.select(
        sf.col("graph_id").alias("base_id"),
        "node_id",
        sf.col("author").alias("writer"),
        sf.col("sequence").alias("length"),
    )
