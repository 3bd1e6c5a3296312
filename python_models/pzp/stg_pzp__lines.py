"""Reads the pzp log line by line and checks every line; the rules are in dbt_tangles.pzp."""

from functools import partial

from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python.lines import cut, no_lines, read_lines, read_seed
from dbt_tangles.pzp.check import OUTPUT_SCHEMA, CheckOptions, check_batches


def model(dbt, spark):
    path = dbt.config.get("pzp_log")
    verify_signatures = dbt.config.get("verify_signatures")
    is_fixture_run = dbt.config.get("is_fixture_run")

    options = CheckOptions(verify_signatures=verify_signatures)
    if path:
        lines = read_lines(spark, path, "pzp_log", options.max_line_bytes)
    elif is_fixture_run:
        lines = read_seed(dbt.ref("pzp_fixture_log"))
    else:
        lines = no_lines(spark)
    # Equal lines together in a partition are verified once.
    together = cut(lines, options.max_line_bytes).repartition(sf.xxhash64("raw"))
    return together.mapInArrow(partial(check_batches, options=options), from_arrow_schema(OUTPUT_SCHEMA))
