"""Validity and reduction of every set; the rules are in dbt_tangles.pzp.validity and dbt_tangles.sets."""

from functools import partial

from dbt_spark_python.earlier import earlier
from dbt_spark_python.groups import reduced_by_group
from dbt_tangles.sets.partition import INPUT_SCHEMA, OUTPUT_SCHEMA, sets_of_partition


def model(dbt, spark):
    ghost_span = dbt.config.meta_get("set_ghost_span")
    verify_signatures = dbt.config.meta_get("verify_signatures")
    entries = dbt.ref("int_set_entries").select(INPUT_SCHEMA.names)
    reduce = partial(sets_of_partition, ghost_span=ghost_span, is_trusted=not verify_signatures)
    return reduced_by_group(entries, ["set_id"], reduce, OUTPUT_SCHEMA, earlier(spark, dbt.this))
