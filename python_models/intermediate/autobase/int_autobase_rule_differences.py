"""Differences of the two rules' orders; computed by dbt_tangles.algorithms.autobase.rule_differences."""

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA
from dbt_tangles.algorithms.autobase.rule_differences import DIFFERENCE_SCHEMA, difference_batches


def model(dbt, spark):
    members = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names)
    return map_groups(members, ["base_id"], difference_batches, DIFFERENCE_SCHEMA)
