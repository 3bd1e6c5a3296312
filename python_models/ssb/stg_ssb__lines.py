"""Reads the log line by line and checks every line; the rules are in dbt_tangles.ssb."""

from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python.lines import cut, read_lines
from dbt_tangles.ssb.check import OUTPUT_SCHEMA, CheckOptions, check_batches
from dbt_tangles.ssb.options import hmac_key


def model(dbt, spark):
    # dbt finds the configuration keys by reading this file, and sees them only in plain assignments.
    path = dbt.config.meta_get("ssb_log")
    log_format = dbt.config.meta_get("ssb_log_format")
    verify_signatures = dbt.config.meta_get("verify_signatures")

    options = CheckOptions(verify_signatures=verify_signatures, hmac_key=hmac_key())
    if path:
        separator = "\n\n" if log_format == "pretty" else "\n"
        lines = read_lines(spark, path, "ssb_log", options.max_line_bytes, separator)
    else:
        lines = dbt.ref("stg_fixtures__lines").where("log = 'ssb_log'")
    # Copies of a message carry the same signature: together in a partition, they are verified once.
    copies = sf.expr("substring(cast(raw as string), locate('.sig.ed25519', cast(raw as string)) - 88, 88)")
    together = cut(lines, options.max_line_bytes).repartition(copies)

    def check(batches):
        return check_batches(batches, options)

    return together.mapInArrow(check, from_arrow_schema(OUTPUT_SCHEMA))
