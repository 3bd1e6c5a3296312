"""What the next node of any writer follows; the rules are in dbt_tangles.autobase.heads."""

from pyspark.sql.pandas.types import from_arrow_schema

from dbt_tangles.autobase.bases import INPUT_SCHEMA
from dbt_tangles.autobase.heads import HEAD_SCHEMA, heads_of_partition


def model(dbt, spark):
    whole_bases = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names).repartition("base_id")
    return whole_bases.mapInArrow(heads_of_partition, from_arrow_schema(HEAD_SCHEMA))
