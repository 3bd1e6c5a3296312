"""Reads the log line by line and checks every line; the rules are in dbt_tangles.ssb."""

from pyspark.errors import AnalysisException
from pyspark.sql import functions as sf

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
        lines = read_log(spark, path, pretty=log_format == "pretty")
    else:
        fixtures = dbt.ref("ssb_fixture_log")
        lines = read_fixtures(fixtures if is_fixture_run else fixtures.limit(0))
    lines = lines.select(
        "source_file",
        "block_start",
        "row_id",
        # A line that is longer than any message could be is cut here, before it reaches a worker's memory.
        sf.expr(f"substring(raw, 1, {options.max_line_bytes})").alias("raw"),
        sf.octet_length("raw").cast("bigint").alias("raw_length"),
        # Copies of a message carry the same signature: together in a partition, they are verified once.
        sf.expr("substring(cast(raw as string), locate('.sig.ed25519', cast(raw as string)) - 88, 88)").alias("copies"),
    )

    def check(batches):
        return check_batches(batches, options)

    together = lines.repartition("copies").drop("copies")
    return together.mapInArrow(check, spark_schema(OUTPUT_SCHEMA))


def read_log(spark, path, pretty):
    """One row per line (pretty: per object) of the files at `path`."""
    reader = spark.read.format("text").option("lineSep", "\n\n" if pretty else "\n")
    try:
        files = reader.option("recursiveFileLookup", True).load(path)
    except AnalysisException as error:
        raise ValueError(f"ssb_log: Spark finds no file at {path!r} ({error.getCondition()})") from error
    if not files.inputFiles():
        raise ValueError(f"ssb_log: Spark finds no file at {path!r} (names that begin with _ or . are hidden)")
    if pretty:  # more than one blank line between two objects is no object
        files = files.where("value rlike '\\\\S'")
    lines = files.select(
        sf.col("_metadata.file_path").alias("source_file"),
        sf.col("_metadata.file_block_start").alias("block_start"),
        sf.monotonically_increasing_id().alias("row_id"),
        sf.col("value").cast("binary").alias("raw"),
    )
    return lines


def read_fixtures(seed):
    """The seed log in the same shape; its lines are kept as base64, which any CSV reader leaves alone."""
    return seed.select(
        "source_file",
        sf.lit(0).cast("bigint").alias("block_start"),
        sf.col("line").cast("bigint").alias("row_id"),
        sf.unbase64(sf.coalesce("raw_base64", sf.lit(""))).alias("raw"),
    )


def spark_schema(schema):
    """Translate the kernel's Arrow schema, which is where the columns are defined."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
