"""Reads the event log line by line; the rules are in dbt_tangles.events."""

from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python.lines import cut, no_lines, read_lines, read_seed
from dbt_tangles.events.check import OUTPUT_SCHEMA, check_batches
from dbt_tangles.lines import MAX_LINE_BYTES


def model(dbt, spark):
    path = dbt.config.get("event_log")
    is_fixture_run = dbt.config.get("is_fixture_run")
    if path:
        lines = read_lines(spark, path, "event_log", MAX_LINE_BYTES)
    elif is_fixture_run:
        lines = read_seed(dbt.ref("event_fixture_log"))
    else:
        lines = no_lines(spark)
    return cut(lines, MAX_LINE_BYTES).mapInArrow(check_batches, from_arrow_schema(OUTPUT_SCHEMA))
