"""Reads the autobase log line by line; the rules are in dbt_tangles.autobase.check."""

from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python.lines import cut, no_lines, read_lines, read_seed
from dbt_tangles.autobase.check import OUTPUT_SCHEMA, check_batches
from dbt_tangles.lines import MAX_LINE_BYTES


def model(dbt, spark):
    path = dbt.config.get("autobase_log")
    is_fixture_run = dbt.config.get("is_fixture_run")
    if path:
        lines = read_lines(spark, path, "autobase_log", MAX_LINE_BYTES)
    elif is_fixture_run:
        lines = read_seed(dbt.ref("autobase_fixture_log"))
    else:
        lines = no_lines(spark)
    return cut(lines, MAX_LINE_BYTES).mapInArrow(check_batches, from_arrow_schema(OUTPUT_SCHEMA))
