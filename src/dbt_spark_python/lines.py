"""Text files as one row per line, each with its place."""

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf


def read_lines(spark: SparkSession, path: str, name: str, separator: str = "\n") -> DataFrame:
    """Read the files at `path`.

    Args:
        spark: The session.
        path: A path or glob that Spark can read; folders are read with all they hold.
        name: What the user calls this path, for the error.
        separator: What ends a line.

    Returns:
        `source_file` string; `block_start` bigint, the byte at which the block starts that Spark read the line in;
        `row_id` bigint, growing by one from line to line within a block; `raw` binary.

    Raises:
        ValueError: There is no such file.
    """
    reader = spark.read.format("text").option("lineSep", separator)
    try:
        files = reader.option("recursiveFileLookup", True).load(path)
    except AnalysisException as error:
        raise ValueError(f"{name}: Spark finds no file at {path!r} ({error.getCondition()})") from error
    if not files.inputFiles():
        raise ValueError(f"{name}: Spark finds no file at {path!r} (names that begin with _ or . are hidden)")
    if separator != "\n":  # more than one separator between two objects is no object
        files = files.where("value rlike '\\\\S'")
    return files.select(
        sf.col("_metadata.file_path").alias("source_file"),
        sf.col("_metadata.file_block_start").alias("block_start"),
        sf.monotonically_increasing_id().alias("row_id"),
        sf.col("value").cast("binary").alias("raw"),
    )


def cut(lines: DataFrame, max_bytes: int) -> DataFrame:
    """Cut longer lines, before they reach a worker's memory, and add `raw_length` bigint, the bytes there were."""
    return lines.select(
        "source_file",
        "block_start",
        "row_id",
        sf.expr(f"substring(raw, 1, {max_bytes:d})").alias("raw"),
        sf.octet_length("raw").cast("bigint").alias("raw_length"),
    )
