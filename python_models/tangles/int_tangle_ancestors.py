"""Ancestor pairs of the tangles that are small enough for them; the walk is in dbt_tangles.graph."""

from functools import partial

from dbt_tangles.graph.partition import ancestors_of_partition

PAIRS = "tangle_name string, root_id string, message_id string, ancestor_id string, distance int"


def model(dbt, spark):
    limit = dbt.config.meta_get("ancestor_limit")
    deeper_than = dbt.config.meta_get("deeper_than")
    members = dbt.ref("int_tangle_levels").where("set_aside_reason is null")
    members = members.select("tangle_name", "root_id", "message_id", "previous", "depth")
    whole_graphs = members.repartition("tangle_name", "root_id")
    return whole_graphs.mapInArrow(partial(ancestors_of_partition, limit=limit, deeper_than=deeper_than), PAIRS)
