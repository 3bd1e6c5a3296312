"""Lines of the event log, parsed and typed by dbt_tangles.formats.events."""

from dbt_spark_python.incremental.earlier import earlier, tails
from dbt_tangles.formats.events.verify_lines import OUTPUT_SCHEMA, verify_batches
from dbt_tangles.ingest.line_checks import MAX_LINE_BYTES
from dbt_tangles.ingest.line_format import Reading
from dbt_tangles.ingest.log_lines import LineCheck, Log, check_lines


def model(dbt, spark):
    path = dbt.config.meta_get("event_log")
    reading = Reading(MAX_LINE_BYTES, unpack_ratio=dbt.config.meta_get("unpack_limit"))
    fixtures = None if path else dbt.ref("stg_tables__lines")
    log, check = Log("event_log", path, fixtures), LineCheck(verify_batches, OUTPUT_SCHEMA)
    return check_lines(spark, log, check, reading, earlier(spark, dbt.this), tails(spark, dbt.this))
