"""What each writer had to undo, and what was settled, at each of its nodes; the rules are in dbt_tangles.autobase."""

from functools import partial

from pyspark.sql.pandas.types import from_arrow_schema

from dbt_tangles.autobase.bases import INPUT_SCHEMA
from dbt_tangles.autobase.changes import CHANGE_SCHEMA, changes_of_partition


def model(dbt, spark):
    row_limit = dbt.config.meta_get("clock_limit")
    rule = dbt.config.meta_get("consensus_rule")
    whole_bases = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names).repartition("base_id")
    changes = partial(changes_of_partition, row_limit=row_limit, rule=rule)
    return whole_bases.mapInArrow(changes, from_arrow_schema(CHANGE_SCHEMA))
