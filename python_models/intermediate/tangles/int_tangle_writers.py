"""Permitted writers of each tangle of a restricted type; computed by dbt_tangles.formats.ssb.writers."""

from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python.engines.sail import map_in_arrow
from dbt_tangles.formats.ssb.writers import INPUT_SCHEMA, OUTPUT_SCHEMA, list_writers


def model(dbt, spark):
    roots = dbt.ref("int_tangle_writer_roots").select(INPUT_SCHEMA.names)
    return map_in_arrow(roots, list_writers, from_arrow_schema(OUTPUT_SCHEMA))
