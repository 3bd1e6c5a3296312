"""Vector clock of each node, over the writers that it follows; computed by dbt_tangles.algorithms.graph.clocks."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.graph.clocks import author_clocks

CLOCKS = "graph_id string, node_id string, author string, sequence int"
GRAPH_NAMES = {"base_id": "graph_id", "writer": "author", "length": "sequence"}
BASE_NAMES = {graph: base for base, graph in GRAPH_NAMES.items()}


def model(dbt, spark):
    max_rows = dbt.config.meta_get("base_clock_limit")
    members = dbt.ref("int_autobase_members").withColumnsRenamed(GRAPH_NAMES)
    clocks = map_groups(
        members.select("graph_id", "node_id", "previous", "depth", "author", "sequence"),
        ["graph_id"],
        partial(author_clocks, limit=0, max_rows=max_rows, group_limit=max_rows),
        CLOCKS,
    )
    return clocks.withColumnsRenamed(BASE_NAMES)
