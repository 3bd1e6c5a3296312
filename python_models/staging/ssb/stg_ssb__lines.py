"""Reads the log line by line and checks every line; the rules are in dbt_tangles.formats.ssb."""

from functools import partial

from dbt_spark_python.incremental.earlier import earlier
from dbt_tangles.formats.ssb.options import hmac_key
from dbt_tangles.formats.ssb.verify_lines import OUTPUT_SCHEMA, CheckOptions, check_batches
from dbt_tangles.ingest.line_format import Reading
from dbt_tangles.ingest.log_lines import check_lines
from dbt_tangles.ingest.shuffle_key import text_before


def model(dbt, spark):
    # dbt finds the configuration keys by reading this file, and sees them only in plain assignments.
    path = dbt.config.meta_get("ssb_log")
    log_format = dbt.config.meta_get("ssb_log_format")
    verify_signatures = dbt.config.meta_get("verify_signatures")
    unpack_limit = dbt.config.meta_get("unpack_limit")

    options = CheckOptions(verify_signatures=verify_signatures, hmac_key=hmac_key())
    fixtures = None if path else dbt.ref("stg_tables__lines")
    return check_lines(
        spark,
        "ssb_log",
        path,
        fixtures,
        partial(check_batches, options=options),
        OUTPUT_SCHEMA,
        Reading(options.max_line_bytes, "\n\n" if log_format == "pretty" else "\n", unpack_limit),
        # Copies of a message carry the same signature: together in a partition, they are verified once. Its last
        # characters do, and exports have little behind it.
        together=text_before(spark, "raw", ".sig.ed25519", length=32, within=160),
        known=earlier(spark, dbt.this),
    )
