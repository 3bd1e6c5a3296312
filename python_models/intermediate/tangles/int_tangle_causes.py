"""Root causes of each message that is set aside; computed by dbt_tangles.algorithms.graph.causes."""

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.graph.graph_batches import causes_of_partition
from dbt_tangles.formats.ssb.graphs import GRAPH_KEYS, graph_columns, tangle_columns

CAUSES = "graph_kind string, graph_id string, node_id string, blocked_by array<string>"


def model(dbt, spark):
    nodes = graph_columns(dbt.ref("int_tangle_waiting"))
    return tangle_columns(map_groups(nodes, GRAPH_KEYS, causes_of_partition, CAUSES))
