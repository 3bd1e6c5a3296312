"""Validity and reduction of every set; the rules are in dbt_tangles.pzp.validity and dbt_tangles.sets."""

from functools import partial

from pyspark.sql.pandas.types import from_arrow_schema

from dbt_tangles.sets.partition import INPUT_SCHEMA, OUTPUT_SCHEMA, sets_of_partition


def model(dbt, spark):
    ghost_span = dbt.config.meta_get("set_ghost_span")
    verify_signatures = dbt.config.meta_get("verify_signatures")
    whole_sets = dbt.ref("int_set_entries").select(INPUT_SCHEMA.names).repartition("set_id")
    reduce = partial(sets_of_partition, ghost_span=ghost_span, is_trusted=not verify_signatures)
    return whole_sets.mapInArrow(reduce, from_arrow_schema(OUTPUT_SCHEMA))
