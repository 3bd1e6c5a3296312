"""Differences of the two rules' orders; computed by dbt_tangles.algorithms.autobase.rule_differences."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA
from dbt_tangles.algorithms.autobase.rule_differences import DIFFERENCE_SCHEMA, differences_of_bases
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition


def model(dbt, spark):
    members = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names)
    return map_groups(members, ["base_id"], partial(run_on_partition, differences_of_bases), DIFFERENCE_SCHEMA)
