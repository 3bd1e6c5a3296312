"""Heads of each base, which the next node of any writer follows; computed by dbt_tangles.algorithms.autobase.heads."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA
from dbt_tangles.algorithms.autobase.heads import HEAD_SCHEMA, heads_of_bases
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition


def model(dbt, spark):
    members = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names)
    return map_groups(members, ["base_id"], partial(run_on_partition, heads_of_bases), HEAD_SCHEMA)
