"""Lines of the pzp log, each checked by dbt_tangles.formats.pzp."""

from functools import partial

from pyspark.sql import functions as sf

from dbt_spark_python.incremental.earlier import earlier
from dbt_spark_python.lines import check_lines
from dbt_spark_python.unpack import Reading
from dbt_tangles.formats.pzp.verify_lines import OUTPUT_SCHEMA, VerifyOptions, verify_batches


def model(dbt, spark):
    path = dbt.config.meta_get("pzp_log")
    verify_signatures = dbt.config.meta_get("verify_signatures")
    unpack_limit = dbt.config.meta_get("unpack_limit")

    options = VerifyOptions(verify_signatures=verify_signatures)
    fixtures = None if path else dbt.ref("stg_tables__lines")
    return check_lines(
        spark,
        "pzp_log",
        path,
        fixtures,
        partial(verify_batches, options=options),
        OUTPUT_SCHEMA,
        Reading(options.max_line_bytes, unpack_ratio=unpack_limit),
        together=sf.xxhash64("raw"),  # equal lines together in a partition are verified once
        known=earlier(spark, dbt.this),
    )
