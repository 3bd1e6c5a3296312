"""Membership, depth and order of every tangle; the rules are in dbt_tangles.algorithms.graph."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.graph.graph_batches import levels_of_partition
from dbt_tangles.formats.ssb.graphs import GRAPH_KEYS, graph_columns, tangle_columns

PLACES = (
    "depth int, set_aside_reason string, position int, thread_position int, child_count int, "
    "redundant_previous array<string>"
)


def model(dbt, spark):
    graph_limit = dbt.config.meta_get("graph_limit")
    rows_in_memory = dbt.config.meta_get("rows_in_memory")
    candidates = graph_columns(dbt.ref("int_tangle_candidates"))
    # What SQL has settled travels in rows of its own to where its graph is: one shuffle, and no join.
    settled = dbt.ref("int_tangle_depths").drop("is_frontier")
    depths = graph_columns(settled.withColumnRenamed("depth", "known_depth"))
    fields = ", ".join(f"{name} {kind}" for name, kind in candidates.dtypes)
    nodes = map_groups(
        candidates.unionByName(depths, allowMissingColumns=True),
        GRAPH_KEYS,
        partial(levels_of_partition, graph_limit=graph_limit, rows_in_memory=rows_in_memory),
        f"{fields}, {PLACES}",
    )
    return tangle_columns(nodes)
