"""Each observer's order of a base and its settled part; computed by dbt_tangles.algorithms.autobase.bases."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA, ORDER_SCHEMA, order_bases
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition


def model(dbt, spark):
    row_limit = dbt.config.meta_get("base_clock_limit")
    rule = dbt.config.meta_get("consensus_rule")
    members = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names)
    order = partial(run_on_partition, order_bases, row_limit=row_limit, rule=rule)
    return map_groups(members, ["base_id"], order, ORDER_SCHEMA)
