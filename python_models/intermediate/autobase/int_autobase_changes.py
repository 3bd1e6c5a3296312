"""Changes of each writer's view at each of its nodes; computed by dbt_tangles.algorithms.autobase.view_changes."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA
from dbt_tangles.algorithms.autobase.view_changes import CHANGE_SCHEMA, changes_of_bases
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition


def model(dbt, spark):
    row_limit = dbt.config.meta_get("base_clock_limit")
    rule = dbt.config.meta_get("consensus_rule")
    members = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names)
    changes = partial(run_on_partition, changes_of_bases, row_limit=row_limit, rule=rule)
    return map_groups(members, ["base_id"], changes, CHANGE_SCHEMA)
