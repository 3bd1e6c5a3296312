"""What the next node of any writer follows; the rules are in dbt_tangles.autobase.heads."""

from dbt_spark_python.earlier import earlier
from dbt_spark_python.groups import reduced_by_group
from dbt_tangles.autobase.bases import INPUT_SCHEMA
from dbt_tangles.autobase.heads import HEAD_SCHEMA, heads_of_partition


def model(dbt, spark):
    members = dbt.ref("int_autobase_members").select(INPUT_SCHEMA.names)
    return reduced_by_group(members, ["base_id"], heads_of_partition, HEAD_SCHEMA, earlier(spark, dbt.this))
