"""Membership, depth and order of every tangle; the rules are in dbt_tangles.graph."""

from dbt_tangles.graph.partition import levels_of_partition
from dbt_tangles.ssb.graphs import tangle_columns, whole_graphs

PLACES = (
    "depth int, set_aside_reason string, position int, thread_position int, child_count int, "
    "redundant_previous array<string>"
)


def model(dbt, spark):
    candidates = dbt.ref("int_tangle_candidates")
    # What SQL has settled travels in rows of its own to where its graph is: one shuffle, and no join.
    depths = dbt.ref("int_tangle_depths").withColumnRenamed("depth", "known_depth")
    nodes = whole_graphs(candidates.unionByName(depths, allowMissingColumns=True))
    fields = ", ".join(f"{name} {kind}" for name, kind in nodes.drop("known_depth").dtypes)
    return tangle_columns(nodes.mapInArrow(levels_of_partition, f"{fields}, {PLACES}"))
