"""Membership, depth and order of every tangle; the rules are in dbt_tangles.graph."""

from dbt_tangles.graph.partition import levels_of_partition

PLACES = (
    "depth int, set_aside_reason string, position int, thread_position int, child_count int, "
    "redundant_previous array<string>"
)


def model(dbt, spark):
    candidates = dbt.ref("int_tangle_candidates")
    # What SQL has settled travels in rows of its own to where its graph is: one shuffle, and no join.
    depths = dbt.ref("int_tangle_depths").withColumnRenamed("depth", "known_depth")
    rows = candidates.unionByName(depths, allowMissingColumns=True)
    whole_graphs = rows.repartition("tangle_name", "root_id")
    fields = ", ".join(f"{name} {kind}" for name, kind in candidates.dtypes)
    return whole_graphs.mapInArrow(levels_of_partition, f"{fields}, {PLACES}")
