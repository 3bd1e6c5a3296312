"""Each observer's order of a base, and how much of it is settled; the rules are in dbt_tangles.autobase."""

from functools import partial

from pyspark.sql.pandas.types import from_arrow_schema

from dbt_tangles.autobase.bases import INPUT_SCHEMA, ORDER_SCHEMA, order_of_partition


def model(dbt, spark):
    row_limit = dbt.config.meta_get("clock_limit")
    rule = dbt.config.meta_get("consensus_rule")
    whole_bases = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names).repartition("base_id")
    order = partial(order_of_partition, row_limit=row_limit, rule=rule)
    return whole_bases.mapInArrow(order, from_arrow_schema(ORDER_SCHEMA))
