"""Validity and reduction of every set; computed by dbt_tangles.algorithms.set."""

from functools import partial

from dbt_spark_python.incremental.earlier import only_changed
from dbt_spark_python.python_model.map_groups import map_groups
from dbt_tangles.algorithms.set.set_batches import reduce_entries


def model(dbt, spark):
    ghost_span = dbt.config.meta_get("set_ghost_span")
    verify_signatures = dbt.config.meta_get("verify_signatures")
    entries = only_changed(spark, dbt.this, dbt.ref("int_set_entries"), "set_id", dbt.ref("int_set_versions"))
    reduce = partial(reduce_entries, ghost_span=ghost_span, is_trusted=not verify_signatures)
    return map_groups(entries.select(reduce_entries.reads.names), reduce_entries.keys, reduce, reduce_entries.writes)
