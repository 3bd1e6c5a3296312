"""What holds back each candidate that is set aside; the walk is in dbt_tangles.graph."""

from dbt_spark_python.earlier import earlier, touched
from dbt_spark_python.groups import reduced_by_group
from dbt_tangles.graph.partition import causes_of_partition
from dbt_tangles.ssb.graphs import GRAPH_KEYS, graph_columns, tangle_columns

CAUSES = "graph_kind string, graph_id string, node_id string, blocked_by array<string>"


def model(dbt, spark):
    before, groups = earlier(spark, dbt.this), touched(spark, dbt.this)
    nodes = graph_columns(dbt.ref("int_tangle_waiting"))
    causes = reduced_by_group(
        nodes,
        GRAPH_KEYS,
        causes_of_partition,
        CAUSES,
        before and graph_columns(before),
        touched=groups and graph_columns(groups),
    )
    return tangle_columns(causes)
