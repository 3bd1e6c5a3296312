"""Heads of each base, which the next node of any writer follows; computed by dbt_tangles.algorithms.autobase.heads."""

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA
from dbt_tangles.algorithms.autobase.heads import HEAD_SCHEMA, head_batches


def model(dbt, spark):
    members = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names)
    return map_groups(members, ["base_id"], head_batches, HEAD_SCHEMA)
