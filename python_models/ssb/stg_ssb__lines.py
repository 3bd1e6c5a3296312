"""Reads the log line by line and checks every line; the rules are in dbt_tangles.ssb."""

from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python.lines import cut, no_lines, read_lines, read_seed
from dbt_tangles.ssb.check import OUTPUT_SCHEMA, CheckOptions, check_batches
from dbt_tangles.ssb.options import decode_hmac_key


def model(dbt, spark):
    # dbt finds the configuration keys by reading this file, and sees them only in plain assignments.
    path = dbt.config.get("ssb_log")
    log_format = dbt.config.get("ssb_log_format")
    verify_signatures = dbt.config.get("verify_signatures")
    hmac_key = dbt.config.get("ssb_hmac_key")
    is_fixture_run = dbt.config.get("is_fixture_run")

    options = CheckOptions(verify_signatures=verify_signatures, hmac_key=decode_hmac_key(hmac_key))
    if path:
        separator = "\n\n" if log_format == "pretty" else "\n"
        lines = read_lines(spark, path, "ssb_log", options.max_line_bytes, separator)
    elif is_fixture_run:
        lines = read_seed(dbt.ref("ssb_fixture_log"))
    else:
        lines = no_lines(spark)
    # Copies of a message carry the same signature: together in a partition, they are verified once.
    copies = sf.expr("substring(cast(raw as string), locate('.sig.ed25519', cast(raw as string)) - 88, 88)")
    together = cut(lines, options.max_line_bytes).repartition(copies)

    def check(batches):
        return check_batches(batches, options)

    return together.mapInArrow(check, from_arrow_schema(OUTPUT_SCHEMA))
