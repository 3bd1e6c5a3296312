"""Clocks of the tangles that are too large for ancestor pairs; the walk is in dbt_tangles.graph."""

from functools import partial

from dbt_tangles.graph.partition import clocks_of_partition
from dbt_tangles.ssb.graphs import tangle_columns, whole_graphs

CLOCKS = "graph_kind string, graph_id string, node_id string, author string, sequence int"


def model(dbt, spark):
    limit = dbt.config.meta_get("ancestor_limit")
    max_rows = dbt.config.meta_get("clock_limit")
    deeper_than = dbt.config.meta_get("deeper_than")
    members = dbt.ref("int_tangle_levels").where("set_aside_reason is null")
    nodes = whole_graphs(
        members.select("tangle_name", "root_id", "message_id", "previous", "depth", "author", "sequence")
    )
    clocks = partial(clocks_of_partition, limit=limit, max_rows=max_rows, deeper_than=deeper_than)
    return tangle_columns(nodes.mapInArrow(clocks, CLOCKS))
