"""Reads text files as one row per line, with the line's place, and one row per file that is not read completely."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import pyarrow as pa
from dbt.adapters.events.logging import AdapterLogger
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python.engines import sail
from dbt_spark_python.incremental.earlier import ExtendedTable, NarrowRows
from dbt_spark_python.incremental.plan import VERSION
from dbt_spark_python.input_files import Tail, uri
from dbt_spark_python.session.found_input import FoundInput, find_input
from dbt_tangles.ingest import file_blocks, line_cache
from dbt_tangles.ingest.decompress import SUFFIXES, UNREAD_SUFFIX
from dbt_tangles.ingest.file_blocks import Block
from dbt_tangles.ingest.line_format import LINE_SCHEMA, Reading
from dbt_tangles.ingest.unpack import read_files
from dbt_tangles.reasons import FileFault

logger = AdapterLogger("Spark")


#: Larger compressed files that are not on this machine are left to Spark, although Spark fails at damage: Python would
#: need their content in one piece.
MAX_CONTENT_BYTES = 2**25

_UNPACKED = re.compile(rf"[.]({'|'.join(SUFFIXES)})$", re.IGNORECASE)
# Not the name of a plain file, or one that Hadoop may not open.
_ODD_NAME = re.compile(f"{_UNPACKED.pattern}|{UNREAD_SUFFIX.pattern}|:[^/]*$", re.IGNORECASE)


def read_lines(
    spark: SparkSession, path: str, name: str, reading: Reading, tails: list[Tail] | None = None
) -> DataFrame:
    """Read the files at `path`, or only their tails.

    Python reads files of this machine. It keeps the readable part of a damaged file, and numbers lines on both engines.

    Args:
        spark: The session.
        path: The file or folder of exactly this name, or else the matches of a glob; folders are read recursively.
        name: The user's name for the path (a var), for errors and warnings.
        reading: The line format and limits.
        tails: The bytes of files on this machine to read.

    Returns:
        `source_file` string; `line` bigint, its number in the file, from 1; `raw` binary; `raw_length` bigint, null if
        `raw` is the whole line; `fault` and `fault_detail` string. A row with a `fault` is not a line but the last row
        of a file that was not read completely: `fault` is a code of `FileFault`, `fault_detail` an explanation.

    Raises:
        ValueError: Files are missing at the path.
    """
    log = find_input(spark, path, name)
    skipped = {FileFault.DANGLING_LINK: log.dangling, FileFault.NOT_A_FILE: log.irregular}
    unread = {FileFault.UNSUPPORTED_COMPRESSION: list(filter(UNREAD_SUFFIX.search, log.files))}
    _tell(name, path, log.files, unread | skipped)
    if log.local is None:
        return _read_elsewhere(log, reading)
    blocks = []
    if tails is None:
        tails = [Tail(file, 0, size, 0) for file, size in log.local]
        blocks = [Block(path, fault=fault.value) for fault, paths in skipped.items() for path in paths]
    for tail in tails:
        if UNREAD_SUFFIX.search(tail.path):
            blocks.append(Block(tail.path, fault=FileFault.UNSUPPORTED_COMPRESSION.value))
        elif _UNPACKED.search(tail.path) or not reading.is_by_line:
            blocks.append(Block(tail.path))
        else:
            blocks += file_blocks.divide(tail)
    return file_blocks.spread(spark, blocks).mapInArrow(partial(read_files, reading=reading), _LINES)


def _read_elsewhere(log: FoundInput, reading: Reading) -> DataFrame:
    """Read files that are not on this machine: Spark passes small compressed ones to Python, and reads all others."""
    file_name, name = sf.col("_metadata.file_name"), sf.col("_metadata.file_path").alias("source_file")
    is_unread = file_name.rlike(f"(?i){UNREAD_SUFFIX.pattern}")
    is_unpacked = file_name.rlike(f"(?i){_UNPACKED.pattern}") | sf.lit(not reading.is_by_line)
    content, nothing = sf.col("content"), sf.lit(None)
    if log.files[0].startswith("file:"):  # Hadoop cannot open local names with a colon, and the workers read that disk
        is_unpacked, content = is_unpacked | file_name.contains(":"), nothing.cast("binary").alias("content")
    else:
        is_unpacked &= sf.col("_metadata.file_size") <= MAX_CONTENT_BYTES
    # Spark skips whole files by their metadata, without opening them.
    text = log.place.read("text", lineSep=reading.separator).where(~(is_unread | is_unpacked))
    if not reading.is_by_line:  # between two separators there may be blank text
        text = text.where("value rlike '\\\\S'")
    lines = _lines_of_text(text)
    if reading.is_by_line and not any(map(_ODD_NAME.search, log.files)):
        return lines
    files, code = log.place.read("binaryFile"), FileFault.UNSUPPORTED_COMPRESSION.value
    unpacked = files.where(is_unpacked & ~is_unread).select(
        name, "path", content, nothing.cast("string").alias("fault")
    )
    unread = files.where(is_unread).select(name, "path", nothing.cast("binary"), sf.lit(code))
    return lines.union(unpacked.union(unread).mapInArrow(partial(read_files, reading=reading), _LINES))


def _lines_of_text(text: DataFrame) -> DataFrame:
    """Return the rows of Spark's text reader as lines with their places.

    Spark numbers the rows of a partition, and splits a file by the size of the whole log and the number of cores. A
    line's number in the file is that of its row plus the rows of all earlier splits of the file. The rows of the splits
    are counted at once: a broadcast that has to read the log first would exceed Spark's time for broadcasts.
    """
    lines = text.select(
        sf.col("_metadata.file_path").alias("source_file"),
        sf.col("_metadata.file_block_start").alias("split"),
        sf.monotonically_increasing_id().alias("row_id"),
        sf.col("value").cast("binary").alias("raw"),
    )
    splits = lines.groupBy("source_file", "split").agg(sf.min("row_id").alias("least"), sf.count("*").alias("lines"))
    earlier = Window.partitionBy("source_file").orderBy("split").rowsBetween(Window.unboundedPreceding, -1)
    shift = sf.coalesce(sf.sum("lines").over(earlier), sf.lit(0)) - sf.col("least") + 1
    shifts = NarrowRows(splits.select("source_file", "split", shift.alias("shift")))
    lines = lines.join(shifts.broadcast_if_small(shifts.rows), ["source_file", "split"])
    number = (sf.col("row_id") + sf.col("shift")).alias("line")
    whole = (sf.lit(None).cast(field.dataType).alias(field.name) for field in _LINES[3:])
    return lines.select("source_file", number, "raw", *whole)


def _tell(name: str, path: str, files: list[str], skipped: dict[FileFault, list[str]]) -> None:
    """Log how many files a var names unless it names one, and warn of those that are skipped."""
    if len(files) > 1:
        logger.info(f"{name}: {len(files):,} files at {path!r}")
    for fault, names in skipped.items():
        if names:
            logger.warning(f"{name}: not read ({fault.value}): {', '.join(names[:10])}{', …' if names[10:] else ''}")


class Log(NamedTuple):
    """A log, and the lines that replace it.

    Attributes:
        name: The user's name for the log's path (a var).
        path: As for `read_lines`; None or empty without a log.
        fixtures: The lines used without a log, with the columns of `read_lines` and `log`, the name of their log.
    """

    name: str
    path: str | None
    fixtures: DataFrame | None


class LineCheck(NamedTuple):
    """A check of lines.

    Attributes:
        function: Takes the lines of a partition and returns rows of `schema`: the place and the digest of each line
            (`line_cache`), and columns that depend only on the line's bytes.
        schema: The schema of the result.
        together: Lines with the same value of this column go into one partition.
    """

    function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    schema: pa.Schema
    together: Column | None = None


def check_lines(
    spark: SparkSession,
    log: Log,
    check: LineCheck,
    reading: Reading,
    known: DataFrame | None = None,
    tails: list[Tail] | None = None,
) -> DataFrame | ExtendedTable:
    """Read the lines of a log and check them in Python, except lines whose results are cached.

    Args:
        spark: The session.
        log: The log.
        check: The check of its lines.
        reading: As for `read_lines`.
        known: The earlier version of the table, built with the same check; see `earlier`.
        tails: The bytes that the log gained since then, if it has not changed otherwise; only these are read.

    Returns:
        Rows of the check's schema with their `version`: the number of the build in which the row was added. The result
        is an `ExtendedTable` if all cached rows stay; if one goes, all rows get the new version.

    Raises:
        ValueError: Files are missing at the path.
    """
    only = None if known is None or tails is None else _to_read(known, tails, reading)
    lines = (
        read_lines(spark, log.path, log.name, reading, only)
        if log.path
        else log.fixtures.where(sf.col("log") == log.name)
    )
    lines = cut(lines, reading.max_bytes)
    digest, parted, last = line_cache.line_digest(reading.max_bytes), None, 0
    if only is not None:
        parted = line_cache.Parted(known, None, lines.select("*", digest), is_grown=True)
    elif known is not None:
        parted = line_cache.part(lines, digest, known)
    if known is not None:
        last = known.agg(sf.coalesce(sf.max(VERSION), sf.lit(0))).first()[0]
    lines = lines.select("*", digest) if parted is None else parted.unknown
    if check.together is not None:
        lines = sail.gather(lines, check.together)
    version = sf.lit(last + 1).cast("bigint").alias(VERSION)
    new = lines.mapInArrow(check.function, from_arrow_schema(check.schema)).select("*", version)
    if parted is None:
        return new
    if parted.moved is not None:
        new = parted.moved.withColumn(VERSION, version).unionByName(new)
    if parted.is_grown:
        return ExtendedTable(new, parted.standing.unionByName(new))
    return parted.standing.withColumn(VERSION, version).unionByName(new)


def _to_read(known: DataFrame, tails: list[Tail], reading: Reading) -> list[Tail] | None:
    """Return the tails with new lines; None if the table does not hold exactly the lines before the tails.

    The table holds more lines if a file grew while it was read. A compressed file that grew has to be read as a whole.
    """
    if not reading.is_by_line:
        return None
    counts, found = dict(known.groupBy("source_file").count().collect()), []
    for tail in tails:
        rows, is_grown = counts.get(uri(tail.path), 0), tail.start < tail.end
        is_packed = bool(_UNPACKED.search(tail.path) or UNREAD_SUFFIX.search(tail.path))
        if (rows and is_grown) if is_packed else rows != tail.lines:
            return None
        if not rows if is_packed else is_grown:  # even an empty file may have a fault
            found.append(tail)
    return found


def cut(lines: DataFrame, max_bytes: int) -> DataFrame:
    """Cut long lines before they reach a worker's memory; `raw_length` keeps the original number of bytes."""
    return lines.select(
        "source_file",
        "line",
        sail.leading_bytes(lines.sparkSession, "raw", max_bytes),
        sf.coalesce("raw_length", sf.octet_length("raw").cast("bigint")).alias("raw_length"),
        "fault",
        "fault_detail",
    )


_LINES = from_arrow_schema(LINE_SCHEMA)
