"""Reads the pzp log line by line and checks every line; the rules are in dbt_tangles.pzp."""

from functools import partial

from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python.lines import cut, read_lines
from dbt_tangles.pzp.check import OUTPUT_SCHEMA, CheckOptions, check_batches


def model(dbt, spark):
    path = dbt.config.meta_get("pzp_log")
    verify_signatures = dbt.config.meta_get("verify_signatures")

    options = CheckOptions(verify_signatures=verify_signatures)
    if path:
        lines = read_lines(spark, path, "pzp_log", options.max_line_bytes)
    else:
        lines = dbt.ref("stg_fixtures__lines").where("log = 'pzp_log'")
    # Equal lines together in a partition are verified once.
    together = cut(lines, options.max_line_bytes).repartition(sf.xxhash64("raw"))
    return together.mapInArrow(partial(check_batches, options=options), from_arrow_schema(OUTPUT_SCHEMA))
