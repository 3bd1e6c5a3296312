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
from dbt_spark_python.session.found_input import find_input
from dbt_tangles.ingest import file_blocks, line_cache, unpack
from dbt_tangles.ingest.decompress import SUFFIXES, UNREAD_SUFFIX
from dbt_tangles.ingest.file_blocks import Block
from dbt_tangles.ingest.line_format import LINE_SCHEMA, Reading
from dbt_tangles.reasons import FileFault

logger = AdapterLogger("Spark")


#: Larger compressed files that are not on a local disk are left to Spark, although Spark fails at damage: Python would
#: need their content in one piece.
MAX_CONTENT_BYTES = 2**25

_UNPACKED = re.compile(rf"[.]({'|'.join(SUFFIXES)})$", re.IGNORECASE)


def read_lines(
    spark: SparkSession, path: str, name: str, reading: Reading, tails: list[Tail] | None = None
) -> DataFrame:
    """Read the files at `path`, or only their tails.

    Python unpacks compressed files, so that the readable part of a damaged file is kept. Python also reads files whose
    lines do not end in a line feed, because Spark supports one separator at a time. All other files are read by Spark.

    Args:
        spark: The session.
        path: The file or folder of exactly this name, or else the matches of a glob; folders are read recursively.
        name: The user's name for the path (a var), for errors and warnings.
        reading: The line format and limits.
        tails: The bytes of files on this machine to read. Python reads them.

    Returns:
        `source_file` string; `line` bigint, its number in the file, from 1; `raw` binary; `raw_length` bigint, null if
        `raw` is the whole line; `fault` and `fault_detail` string. A row with a `fault` is not a line but the last row
        of a file that was not read completely: `fault` is a code of `FileFault`, `fault_detail` an explanation.

    Raises:
        ValueError: Files are missing at the path.
    """
    log = find_input(spark, path, name)
    skipped = {FileFault.DANGLING_LINK: log.dangling, FileFault.NOT_A_FILE: log.irregular}
    not_read = list(filter(UNREAD_SUFFIX.search, log.files))
    _tell(name, path, log.files, {FileFault.UNSUPPORTED_COMPRESSION: not_read, **skipped})
    if tails is not None:
        return _read_in_blocks(spark, tails, reading)
    if sail.is_sail(spark):
        blocks = [Block(path, fault=fault.value) for fault, paths in skipped.items() for path in paths]
        return _read_in_blocks(spark, [Tail(file, 0, size, 0) for file, size in log.local or ()], reading, blocks)
    place, files = log.place, log.files
    is_local = files[0].startswith("file:")
    # Hadoop's local file system lists names with a colon, but cannot open them.
    unpacked = [
        file
        for file in files
        if not reading.is_by_line or _UNPACKED.search(file) or (is_local and ":" in file.rpartition("/")[2])
    ]
    is_not_read = sf.col("_metadata.file_name").rlike(f"(?i){UNREAD_SUFFIX.pattern}")
    is_unpacked = _is_unpacked(reading, is_local) & ~is_not_read
    text = place.read("text", lineSep=reading.separator)
    if not_read or unpacked:  # Spark skips whole files by their metadata, without opening them
        text = text.where(~(is_not_read | is_unpacked))
    if not reading.is_by_line:  # between two separators there may be blank text
        text = text.where("value rlike '\\\\S'")
    lines = _lines_of_text(text)
    if unpacked:
        content = [] if is_local else ["content"]  # workers read local files themselves, like Spark's readers
        packed = place.read("binaryFile").where(is_unpacked)
        packed = packed.select(sf.col("_metadata.file_path").alias("source_file"), "path", *content)
        lines = lines.union(packed.mapInArrow(partial(unpack.unpack, reading=reading), _LINES))
    if not_read:
        file = sf.col("_metadata.file_path").alias("source_file")
        lines = lines.union(
            _faults(place.read("binaryFile").where(is_not_read).select(file), FileFault.UNSUPPORTED_COMPRESSION)
        )
    return _add_skipped(spark, lines, skipped)


def _add_skipped(spark: SparkSession, lines: DataFrame, skipped: dict[FileFault, list[str]]) -> DataFrame:
    """Add a row for each path that is no file."""
    for fault, paths in skipped.items():
        if paths:
            rows = spark.createDataFrame([(uri(each),) for each in paths], "source_file string").coalesce(1)
            lines = lines.union(_faults(rows, fault))
    return lines


def _is_unpacked(reading: Reading, is_local: bool) -> Column:
    """Whether Python reads a file, unless its format is unsupported."""
    file_name = sf.col("_metadata.file_name")
    is_unpacked = file_name.rlike(f"(?i){_UNPACKED.pattern}") | sf.lit(not reading.is_by_line)
    if is_local:
        return is_unpacked | file_name.contains(":")
    return is_unpacked & (sf.col("_metadata.file_size") <= MAX_CONTENT_BYTES)


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
    return lines.select("source_file", number, "raw", *_whole())


def _read_in_blocks(
    spark: SparkSession, tails: list[Tail], reading: Reading, skipped: list[Block] | None = None
) -> DataFrame:
    """Read files of this machine in Python only: Sail's readers do not report a line's place (until 0.6.6)."""
    blocks = skipped or []
    for tail in tails:
        if UNREAD_SUFFIX.search(tail.path):
            blocks.append(Block(tail.path, fault=FileFault.UNSUPPORTED_COMPRESSION.value))
        elif _UNPACKED.search(tail.path) or not reading.is_by_line:
            blocks.append(Block(tail.path))
        else:
            blocks += file_blocks.divide(tail)
    return file_blocks.spread_numbered(spark, blocks).mapInArrow(partial(unpack.read_blocks, reading=reading), _LINES)


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
        sf.coalesce("raw_length", sf.expr(_BYTES).cast("bigint")).alias("raw_length"),
        "fault",
        "fault_detail",
    )


_LINES = from_arrow_schema(LINE_SCHEMA)

# Sail counts the bytes of strings only (until 0.6.6); Spark casts any bytes to a string, and the second expression is
# unused.
_BYTES = "coalesce(octet_length(try_cast(raw as string)), length(decode(raw, 'iso-8859-1')))"


def _whole() -> list[Column]:
    """Return the columns after `raw`, for a line that is complete."""
    return [sf.lit(None).cast(field.dataType).alias(field.name) for field in _LINES[3:]]


def _faults(files: DataFrame, fault: FileFault) -> DataFrame:
    """Return a row for each of some files that are not read."""
    row = {"line": 1, "fault": fault.value, "fault_detail": fault.description}
    return files.select(
        "source_file", *(sf.lit(row.get(field.name)).cast(field.dataType).alias(field.name) for field in _LINES[1:])
    )
