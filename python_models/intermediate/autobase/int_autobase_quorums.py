"""Quorums over each node, by degree; computed by dbt_tangles.algorithms.autobase.quorums."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA
from dbt_tangles.algorithms.autobase.quorums import QUORUM_SCHEMA, quorum_batches


def model(dbt, spark):
    max_degree = dbt.config.meta_get("quorum_degrees")
    members = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names)
    quorums = partial(quorum_batches, max_degree=max_degree)
    return map_groups(members, ["base_id"], quorums, QUORUM_SCHEMA)
