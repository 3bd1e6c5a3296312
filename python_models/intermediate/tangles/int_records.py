"""Fields of every record at the tips of its tangle; computed by dbt_tangles.algorithms.record.reduction."""

from functools import partial

from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.record.reduction import reduce_records
from dbt_tangles.formats.ssb.contents import parse_content


def model(dbt, spark):
    messages = dbt.ref("int_record_messages").select(reduce_records.reads.names)
    reduce = partial(reduce_records, parse=parse_content)
    return map_groups(messages, reduce_records.keys, reduce, reduce_records.writes)
