"""What holds back each candidate that is set aside; the walk is in dbt_tangles.graph."""

from dbt_tangles.graph.partition import causes_of_partition
from dbt_tangles.ssb.graphs import tangle_columns, whole_graphs

CAUSES = "graph_kind string, graph_id string, node_id string, blocked_by array<string>"


def model(dbt, spark):
    nodes = whole_graphs(dbt.ref("int_tangle_waiting"))
    return tangle_columns(nodes.mapInArrow(causes_of_partition, CAUSES))
