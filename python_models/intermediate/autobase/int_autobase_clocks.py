"""What each node has seen of each writer; the walk is in dbt_tangles.graph."""

from functools import partial

from pyspark.sql import functions as sf

from dbt_spark_python.earlier import earlier
from dbt_spark_python.groups import reduced_by_group
from dbt_tangles.graph.partition import clocks_of_partition

CLOCKS = "graph_id string, node_id string, author string, sequence int"
GRAPH_NAMES = {"base_id": "graph_id", "writer": "author", "length": "sequence"}
BASE_NAMES = {graph: base for base, graph in GRAPH_NAMES.items()}


def model(dbt, spark):
    max_rows = dbt.config.meta_get("clock_limit")
    before = earlier(spark, dbt.this)
    members = dbt.ref("int_autobase_members").withColumnsRenamed(GRAPH_NAMES)
    kind = sf.lit("autobase").alias("graph_kind")
    clocks = reduced_by_group(
        members.select(kind, "graph_id", "node_id", "previous", "depth", "author", "sequence"),
        ["graph_id"],
        partial(clocks_of_partition, limit=0, max_rows=max_rows),
        CLOCKS,
        before and before.withColumnsRenamed(GRAPH_NAMES),
    )
    return clocks.withColumnsRenamed(BASE_NAMES)
