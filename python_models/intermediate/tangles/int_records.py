"""Fields of every record at the tips of its tangle; computed by dbt_tangles.algorithms.record.reduction."""

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.record.record_batches import INPUT_SCHEMA, OUTPUT_SCHEMA, reduce_record_batches


def model(dbt, spark):
    messages = dbt.ref("int_record_messages").select(INPUT_SCHEMA.names)
    return map_groups(messages, ["tangle_name", "root_id"], reduce_record_batches, OUTPUT_SCHEMA)
