"""Lines of the SSB log, each checked by dbt_tangles.formats.ssb.verify_lines."""

from functools import partial

from dbt_spark_python.incremental.earlier import earlier, tails
from dbt_tangles.formats.ssb.options import hmac_key
from dbt_tangles.formats.ssb.verify_lines import OUTPUT_SCHEMA, VerifyOptions, verify_batches
from dbt_tangles.ingest.line_format import Reading
from dbt_tangles.ingest.log_lines import LineCheck, Log, check_lines
from dbt_tangles.ingest.shuffle_key import text_before


def model(dbt, spark):
    # dbt finds the configuration keys by reading this file, and sees them only in plain assignments.
    path = dbt.config.meta_get("ssb_log")
    log_format = dbt.config.meta_get("ssb_log_format")
    verify_signatures = dbt.config.meta_get("verify_signatures")
    unpack_limit = dbt.config.meta_get("unpack_limit")

    options = VerifyOptions(verify_signatures=verify_signatures, hmac_key=hmac_key())
    fixtures = None if path else dbt.ref("stg_tables__lines")
    # Copies of a message have the same signature, and in one partition they are verified once. The signature's last
    # characters suffice as a key; exports have little text after them.
    together = text_before("raw", ".sig.ed25519", length=32, within=160)
    check = LineCheck(partial(verify_batches, options=options), OUTPUT_SCHEMA, together)
    reading = Reading(options.max_line_bytes, "\n\n" if log_format == "pretty" else "\n", unpack_limit)
    return check_lines(
        spark, Log("ssb_log", path, fixtures), check, reading, earlier(spark, dbt.this), tails(spark, dbt.this)
    )
