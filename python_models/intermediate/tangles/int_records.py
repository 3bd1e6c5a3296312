"""Fields of every record at the tips of its tangle; computed by dbt_tangles.algorithms.record.reduction."""

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.record.reduction import reduce_records


def model(dbt, spark):
    messages = dbt.ref("int_record_messages").select(reduce_records.reads.names)
    return map_groups(messages, reduce_records.keys, reduce_records, reduce_records.writes)
