"""Ancestor pairs of tangles up to `ancestor_limit` members; computed by dbt_tangles.algorithms.graph."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.graph.graph_batches import ancestors_of_partition
from dbt_tangles.formats.ssb.graphs import GRAPH_KEYS, graph_columns, tangle_columns

PAIRS = "graph_kind string, graph_id string, node_id string, ancestor_id string, distance int"


def model(dbt, spark):
    limit = dbt.config.meta_get("ancestor_limit")
    # The SQL rounds list all pairs of a tangle or none.
    listed = dbt.ref("int_tangle_ancestor_rounds").select("tangle_name", "root_id")
    members = dbt.ref("int_tangle_levels").where("set_aside_reason is null")
    members = members.join(listed, ["tangle_name", "root_id"], "left_anti")
    nodes = graph_columns(members.select("tangle_name", "root_id", "message_id", "previous", "depth"))
    return tangle_columns(map_groups(nodes, GRAPH_KEYS, partial(ancestors_of_partition, limit=limit), PAIRS))
