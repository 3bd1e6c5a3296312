"""Vector clocks of tangles above `ancestor_limit` members; computed by dbt_tangles.algorithms.graph."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.graph.graph_batches import clocks_of_partition
from dbt_tangles.formats.ssb.graphs import GRAPH_KEYS, graph_columns, tangle_columns

CLOCKS = "graph_kind string, graph_id string, node_id string, author string, sequence int"


def model(dbt, spark):
    limit = dbt.config.meta_get("ancestor_limit")
    max_rows = dbt.config.meta_get("clock_limit")
    members = dbt.ref("int_tangle_levels").where("set_aside_reason is null")
    nodes = graph_columns(
        members.select("tangle_name", "root_id", "message_id", "previous", "depth", "author", "sequence")
    )
    clocks = partial(clocks_of_partition, limit=limit, max_rows=max_rows)
    return tangle_columns(map_groups(nodes, GRAPH_KEYS, clocks, CLOCKS))
