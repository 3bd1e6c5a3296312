"""Excludes that an epoch is charged with and does not follow; the walk is in dbt_tangles.groups.foreign."""

from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python.sail import gather, map_in_arrow
from dbt_tangles.groups.foreign import FOREIGN_INPUT_SCHEMA, FOREIGN_OUTPUT_SCHEMA
from dbt_tangles.groups.foreign_partition import foreign_excludes_of_partition


def model(dbt, spark):
    whole_groups = gather(dbt.ref("int_group_links").select(FOREIGN_INPUT_SCHEMA.names), "group_id")
    return map_in_arrow(whole_groups, foreign_excludes_of_partition, from_arrow_schema(FOREIGN_OUTPUT_SCHEMA))
