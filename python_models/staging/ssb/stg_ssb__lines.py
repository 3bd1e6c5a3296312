"""Lines of the SSB log, each checked by dbt_tangles.formats.ssb.verify_lines."""

from functools import partial

from dbt_spark_python.incremental.earlier import earlier
from dbt_spark_python.lines import check_lines
from dbt_spark_python.python_model.shuffle_key import text_before
from dbt_spark_python.unpack import Reading
from dbt_tangles.formats.ssb.options import hmac_key
from dbt_tangles.formats.ssb.verify_lines import OUTPUT_SCHEMA, VerifyOptions, verify_batches


def model(dbt, spark):
    # dbt finds the configuration keys by parsing this file; it recognises only plain assignments.
    path = dbt.config.meta_get("ssb_log")
    log_format = dbt.config.meta_get("ssb_log_format")
    verify_signatures = dbt.config.meta_get("verify_signatures")
    unpack_limit = dbt.config.meta_get("unpack_limit")

    options = VerifyOptions(verify_signatures=verify_signatures, hmac_key=hmac_key())
    fixtures = None if path else dbt.ref("stg_tables__lines")
    return check_lines(
        spark,
        "ssb_log",
        path,
        fixtures,
        partial(verify_batches, options=options),
        OUTPUT_SCHEMA,
        Reading(options.max_line_bytes, "\n\n" if log_format == "pretty" else "\n", unpack_limit),
        # Copies of a message have the same signature. Rows with the same end of a signature share a partition, where
        # each message is verified once. In exports the signature is near the end of the line.
        together=text_before(spark, "raw", ".sig.ed25519", length=32, within=160),
        known=earlier(spark, dbt.this),
    )
