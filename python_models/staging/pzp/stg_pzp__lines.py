"""Lines of the pzp log, each checked by dbt_tangles.formats.pzp."""

from functools import partial

from pyspark.sql import functions as sf

from dbt_spark_python.incremental.earlier import earlier, tails
from dbt_tangles.formats.pzp.verify_lines import OUTPUT_SCHEMA, VerifyOptions, verify_batches
from dbt_tangles.ingest.line_format import Reading
from dbt_tangles.ingest.log_lines import LineCheck, Log, check_lines


def model(dbt, spark):
    path = dbt.config.meta_get("pzp_log")
    verify_signatures = dbt.config.meta_get("verify_signatures")
    unpack_limit = dbt.config.meta_get("unpack_limit")

    options = VerifyOptions(verify_signatures=verify_signatures)
    fixtures = None if path else dbt.ref("stg_tables__lines")
    # Equal lines in one partition are verified once.
    check = LineCheck(partial(verify_batches, options=options), OUTPUT_SCHEMA, together=sf.xxhash64("raw"))
    reading = Reading(options.max_line_bytes, unpack_ratio=unpack_limit)
    return check_lines(
        spark, Log("pzp_log", path, fixtures), check, reading, earlier(spark, dbt.this), tails(spark, dbt.this)
    )
