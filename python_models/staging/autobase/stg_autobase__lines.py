"""Lines of the Autobase log, parsed and typed by dbt_tangles.formats.autobase.verify_lines."""

from dbt_spark_python.incremental.earlier import earlier
from dbt_spark_python.lines import check_lines
from dbt_spark_python.unpack import Reading
from dbt_tangles.formats.autobase.verify_lines import OUTPUT_SCHEMA, verify_batches
from dbt_tangles.ingest.line_checks import MAX_LINE_BYTES


def model(dbt, spark):
    path = dbt.config.meta_get("autobase_log")
    reading = Reading(MAX_LINE_BYTES, unpack_ratio=dbt.config.meta_get("unpack_limit"))
    fixtures = None if path else dbt.ref("stg_tables__lines")
    return check_lines(
        spark,
        "autobase_log",
        path,
        fixtures,
        verify_batches,
        OUTPUT_SCHEMA,
        reading,
        known=earlier(spark, dbt.this),
    )
