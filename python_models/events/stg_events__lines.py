"""Reads the event log line by line; the rules are in dbt_tangles.events."""

from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python.lines import cut, read_lines
from dbt_tangles.events.check import OUTPUT_SCHEMA, check_batches
from dbt_tangles.lines import MAX_LINE_BYTES


def model(dbt, spark):
    path = dbt.config.meta_get("event_log")
    if path:
        lines = read_lines(spark, path, "event_log", MAX_LINE_BYTES)
    else:
        lines = dbt.ref("stg_fixtures__lines").where("log = 'event_log'")
    return cut(lines, MAX_LINE_BYTES).mapInArrow(check_batches, from_arrow_schema(OUTPUT_SCHEMA))
