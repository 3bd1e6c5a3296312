"""Ancestor pairs of tangles up to `ancestor_limit` members; computed by dbt_tangles.algorithms.graph.ancestors."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.graph.ancestors import ancestor_pairs
from dbt_tangles.formats.ssb.graphs import graph_columns, tangle_columns


def model(dbt, spark):
    limit = dbt.config.meta_get("ancestor_limit")
    # The SQL rounds list all pairs of a tangle or none.
    listed = dbt.ref("int_tangle_ancestor_rounds").select("tangle_name", "root_id")
    members = dbt.ref("int_tangle_levels").where("set_aside_reason is null")
    members = members.join(listed, ["tangle_name", "root_id"], "left_anti")
    nodes = graph_columns(members.select("tangle_name", "root_id", "message_id", "previous", "depth"))
    pairs = partial(ancestor_pairs, group_limit=limit)
    return tangle_columns(map_groups(nodes, ancestor_pairs.keys, pairs, ancestor_pairs.writes))
