"""Ancestor pairs of the tangles that are small enough for them; the walk is in dbt_tangles.graph."""

from functools import partial

from dbt_tangles.graph.partition import ancestors_of_partition
from dbt_tangles.ssb.graphs import tangle_columns, whole_graphs

PAIRS = "graph_kind string, graph_id string, node_id string, ancestor_id string, distance int"


def model(dbt, spark):
    limit = dbt.config.meta_get("ancestor_limit")
    deeper_than = dbt.config.meta_get("deeper_than")
    members = dbt.ref("int_tangle_levels").where("set_aside_reason is null")
    nodes = whole_graphs(members.select("tangle_name", "root_id", "message_id", "previous", "depth"))
    pairs = nodes.mapInArrow(partial(ancestors_of_partition, limit=limit, deeper_than=deeper_than), PAIRS)
    return tangle_columns(pairs)
