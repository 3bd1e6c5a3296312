"""Quorums over each node, by degree; computed by dbt_tangles.algorithms.autobase.quorums."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA
from dbt_tangles.algorithms.autobase.quorums import QUORUM_SCHEMA, quorums_of_bases
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition


def model(dbt, spark):
    max_degree = dbt.config.meta_get("quorum_degrees")
    members = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names)
    quorums = partial(run_on_partition, quorums_of_bases, max_degree=max_degree)
    return map_groups(members, ["base_id"], quorums, QUORUM_SCHEMA)
