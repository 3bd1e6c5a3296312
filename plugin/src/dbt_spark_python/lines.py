"""Text files as one row per line, each with its place; and a row per file that could not be read whole."""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from dbt.adapters.events.logging import AdapterLogger
from pyspark import cloudpickle
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python import known_lines, unpack
from dbt_spark_python.engines import sail
from dbt_spark_python.incremental.earlier import Grown
from dbt_spark_python.incremental.plan import VERSION
from dbt_spark_python.local_files import find_files, is_hidden, uri
from dbt_spark_python.session.progress import is_connect
from dbt_spark_python.unpack import FAULTS, LINE_SCHEMA, SUFFIXES, Fault, Reading

logger = AdapterLogger("Spark")

# A cluster's workers have what is sent to them; importing this package takes dbt.
cloudpickle.register_pickle_by_value(unpack)

#: Compressed files of more bytes that are not on a local disk are left to Spark, which does not get past a damage:
#: Python would have to be handed them whole.
MAX_CONTENT_BYTES = 2**25

#: Where Python reads plain files, it reads so much of one at a time.
BLOCK_BYTES = 2**25

_UNPACKED = re.compile(rf"[.]({'|'.join(SUFFIXES)})$", re.IGNORECASE)
# Spark takes these for text; but .lz4 and .snappy for formats of Hadoop's own: a file by any other tool makes it ask
# for gigabytes.
_NOT_READ = re.compile(r"[.](7z|br|lz|lz4|lzma|lzo|rar|snappy|sz|tbz2?|tgz|txz|xz|z|zip)$", re.IGNORECASE)
_PATTERN_MARK = re.compile(r"[][{}*?\\]")


def read_lines(spark: SparkSession, path: str, name: str, reading: Reading) -> DataFrame:
    """Read the files at `path`.

    Compressed files are unpacked by Python, so that of a damaged one everything is read that can be, and so are files
    whose lines do not end in a line feed, as Spark knows one separator at a time. Without any of these, the files are
    read by Spark alone.

    Args:
        spark: The session.
        path: What has exactly this name, or else what a glob matches; folders are read with all they hold.
        name: What the user calls this path, for errors and warnings.
        reading: How they are read.

    Returns:
        `source_file` string; `block_start` bigint, the byte at which the block starts that the line was read in;
        `row_id` bigint, growing by one from line to line within a block; `raw` binary; `raw_length` bigint, null where
        `raw` is the whole line; `fault` and `fault_detail` string. Where `fault` is not null the row is no line, but
        the last of a file that was not read whole: a code of `FAULTS`, and more about it.

    Raises:
        ValueError: There is no such file.
    """
    if sail.is_sail(spark):
        return _read_local_lines(spark, path, name, reading)
    place, files = _find(spark, path, name)
    is_local = files[0].startswith("file:")
    not_read = list(filter(_NOT_READ.search, files))
    # Hadoop's local file system lists names with a colon, and cannot open them.
    unpacked = [
        file
        for file in files
        if not reading.is_by_line or _UNPACKED.search(file) or (is_local and ":" in file.rpartition("/")[2])
    ]
    links = _dangling_links(place)
    _warn(name, {Fault.UNSUPPORTED: not_read, Fault.DANGLING_LINK: links})
    file_name, file_size = sf.col("_metadata.file_name"), sf.col("_metadata.file_size")
    is_not_read = file_name.rlike(f"(?i){_NOT_READ.pattern}")
    is_unpacked = (file_name.rlike(f"(?i){_UNPACKED.pattern}") | sf.lit(not reading.is_by_line)) & ~is_not_read
    if is_local:
        is_unpacked = is_unpacked | (file_name.contains(":") & ~is_not_read)
    else:
        is_unpacked = is_unpacked & (file_size <= MAX_CONTENT_BYTES)

    text = place.read("text", lineSep=reading.separator)
    if not_read or unpacked:  # Spark leaves out whole files by their metadata, without opening them
        text = text.where(~(is_not_read | is_unpacked))
    if not reading.is_by_line:  # more than one separator between two objects is no object
        text = text.where("value rlike '\\\\S'")
    lines = text.select(
        sf.col("_metadata.file_path").alias("source_file"),
        sf.col("_metadata.file_block_start").alias("block_start"),
        sf.monotonically_increasing_id().alias("row_id"),
        sf.col("value").cast("binary").alias("raw"),
        *_whole(),
    )
    if unpacked:
        content = [] if is_local else ["content"]  # workers read a local disk themselves, as Spark would there
        packed = place.read("binaryFile").where(is_unpacked)
        packed = packed.select(sf.col("_metadata.file_path").alias("source_file"), "path", *content)
        lines = lines.union(packed.mapInArrow(partial(unpack.unpack, reading=reading), _LINES))
    if not_read:
        file = sf.col("_metadata.file_path").alias("source_file")
        lines = lines.union(_faults(place.read("binaryFile").where(is_not_read).select(file), Fault.UNSUPPORTED))
    if links:
        paths = spark.createDataFrame([(link,) for link in links], "source_file string").coalesce(1)
        lines = lines.union(_faults(paths, Fault.DANGLING_LINK))
    return lines


def _read_local_lines(spark: SparkSession, path: str, name: str, reading: Reading) -> DataFrame:
    """Read files as `read_lines` does, by Python alone: Sail has no readers that say where a line is (until 0.6.6)."""
    found = find_files(path, name)
    not_read = [file for file, _ in found.files if _NOT_READ.search(file)]
    _warn(name, {Fault.UNSUPPORTED: not_read, Fault.DANGLING_LINK: found.dangling})
    blocks = [(file, 0, None, Fault.UNSUPPORTED) for file in not_read]
    blocks += [(file, 0, None, Fault.DANGLING_LINK) for file in found.dangling]
    for file, size in found.files:
        if _NOT_READ.search(file):
            continue
        if _UNPACKED.search(file) or not reading.is_by_line:
            blocks.append((file, 0, None, None))
        else:
            blocks += [(file, at, min(at + BLOCK_BYTES, size), None) for at in range(0, size, BLOCK_BYTES)]
    rows = [(number, uri(file), file, start, end, fault) for number, (file, start, end, fault) in enumerate(blocks)]
    # A log of empty files has no blocks.
    table = spark.createDataFrame(
        rows, "number int, source_file string, path string, start bigint, end bigint, fault string"
    )
    if len(rows) > 1:
        table = table.repartition(min(len(rows), os.cpu_count() or 1), "number")
    return table.mapInArrow(partial(unpack.read_blocks, reading=reading), _LINES)


def _warn(name: str, faults: dict[str, list[str]]) -> None:
    """Say which files are not read at all."""
    for fault, files in faults.items():
        if files:
            logger.warning(f"{name}: not read ({fault}): {', '.join(files[:10])}{', …' if files[10:] else ''}")


def measure_files(spark: SparkSession, path: str, name: str) -> DataFrame:
    """Count what `read_lines` reads: one row with `files` bigint and `bytes` bigint, as they are stored.

    Raises:
        ValueError: There is no such file.
    """
    if sail.is_sail(spark):
        files = find_files(path, name).files
        return spark.createDataFrame([(len(files), sum(size for _, size in files))], "files bigint, bytes bigint")
    place, files = _find(spark, path, name)
    size = sf.coalesce(sf.sum("length"), sf.lit(0)).cast("bigint").alias("bytes")  # Spark passes over empty files
    return place.read("binaryFile").agg(size).select(sf.lit(len(files)).cast("bigint").alias("files"), "bytes")


def check_lines(
    spark: SparkSession,
    name: str,
    path: str | None,
    fixtures: DataFrame | None,
    check: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: pa.Schema,
    reading: Reading,
    together: Column | None = None,
    known: DataFrame | None = None,
) -> DataFrame | Grown:
    """Read the lines of a log and check them in Python, but for those that were checked before.

    Args:
        spark: The session.
        name: What the user calls the log's path.
        path: As for `read_lines`; None or empty where there is no log.
        fixtures: The lines that take a log's place where there is none, as `read_lines` returns them but for another
            column, `log`: which log they are for, by its name.
        check: Takes the lines of a partition and returns rows of `schema`: where a line is and its digest
            (`known_lines`), and what depends on nothing but its bytes.
        schema: Of the result.
        reading: As for `read_lines`.
        together: Lines with the same value of this go into one partition.
        known: The table as it was before, made with the same check; see `earlier`.

    Returns:
        Rows of `schema`, with the `version` of the table at which the row came into it; as `Grown` where all known rows
        stay. Where one of them goes, all rows come anew.

    Raises:
        ValueError: There is no such file.
    """
    lines = read_lines(spark, path, name, reading) if path else fixtures.where(sf.col("log") == name)
    lines = cut(lines, reading.max_bytes)
    digest, parted, last = known_lines.line_digest(reading.max_bytes), None, 0
    if known is not None:
        parted = known_lines.part(lines, digest, known)
        last = known.agg(sf.coalesce(sf.max(VERSION), sf.lit(0))).first()[0]
    lines = lines.select("*", digest) if parted is None else parted.unknown
    if together is not None:
        lines = sail.gather(lines, together)
    version = sf.lit(last + 1).cast("bigint").alias(VERSION)
    new = lines.mapInArrow(check, from_arrow_schema(schema)).select("*", version)
    if parted is None:
        return new
    if parted.moved is not None:
        new = parted.moved.withColumn(VERSION, version).unionByName(new)
    if parted.is_grown:
        return Grown(new, parted.standing.unionByName(new))
    return parted.standing.withColumn(VERSION, version).unionByName(new)


def cut(lines: DataFrame, max_bytes: int) -> DataFrame:
    """Cut longer lines, before they reach a worker's memory; `raw_length` then has the bytes there were."""
    return lines.select(
        "source_file",
        "block_start",
        "row_id",
        sail.leading_bytes(lines.sparkSession, "raw", max_bytes),
        sf.coalesce("raw_length", sf.expr(_BYTES).cast("bigint")).alias("raw_length"),
        "fault",
        "fault_detail",
    )


_LINES = from_arrow_schema(LINE_SCHEMA)

# Sail counts the bytes of strings alone (until 0.6.6); to Spark any bytes are a string, and the rest is not looked at.
_BYTES = "coalesce(octet_length(try_cast(raw as string)), length(decode(raw, 'iso-8859-1')))"


def _whole() -> list[Column]:
    """The columns behind `raw` of a line that is all there."""
    return [sf.lit(None).cast(field.dataType).alias(field.name) for field in _LINES[4:]]


def _faults(files: DataFrame, fault: str) -> DataFrame:
    """Make a row for each of some files that nothing is read of."""
    row = {"block_start": 0, "row_id": 0, "fault": fault, "fault_detail": FAULTS[fault]}
    return files.select(
        "source_file", *(sf.lit(row.get(field.name)).cast(field.dataType).alias(field.name) for field in _LINES[1:])
    )


@dataclass(frozen=True)
class _Place:
    """Where to read: a path that is taken by its very name, or a pattern."""

    spark: SparkSession
    path: str
    is_pattern: bool

    def read(self, kind: str, **options: str) -> DataFrame:
        # Spark has an option for names that only look like patterns, though it does not speak of it.
        options |= {"__globPaths__": str(self.is_pattern).lower(), "recursiveFileLookup": "true"}
        return self.spark.read.format(kind).options(**options).load(self.path)


def _find(spark: SparkSession, path: str, name: str) -> tuple[_Place, list[str]]:
    """Find out how to read `path`, and what files are there.

    Raises:
        ValueError: None are.
    """
    # A colon before any slash ends the scheme of a URI.
    relative = f"./{path}" if re.match("[^/]*:(?!//)", path) else path
    places = [_Place(spark, relative, False)]
    if _PATTERN_MARK.search(path):
        places.append(_Place(spark, path, True))
    causes = []
    for place in places:
        try:
            if files := place.read("text").inputFiles():
                return place, files
            causes.append("names that begin with _ or . are hidden")
        except AnalysisException as error:
            causes.append(error.getCondition() or "")
        except IllegalArgumentException:
            causes.append("a name there has a colon, which globs do not get past: give the file or the whole folder")
    if links := _dangling_links(places[-1]):
        raise ValueError(f"{name}: nothing at {path!r} but links that lead nowhere: {', '.join(links[:10])}")
    raise ValueError(f"{name}: Spark finds no file at {path!r} ({causes[-1]})")


def _dangling_links(place: _Place) -> list[str]:
    """List the links at a place that lead nowhere, as URIs: Hadoop leaves them out of its listings without a word.

    Only local disks have any; on Spark Connect, where the disk is another machine's, they stay unnoticed.
    """
    if is_connect(place.spark):
        return []
    hadoop = place.spark._jvm.org.apache.hadoop.fs
    path = hadoop.Path(place.path)
    disk = path.getFileSystem(place.spark._jsc.hadoopConfiguration())
    if disk.getUri().getScheme() != "file":
        return []
    path = disk.makeQualified(path)

    def matches(pattern: Any) -> list[str]:
        try:
            return [status.getPath().toUri().getPath() for status in disk.globStatus(pattern) or ()]
        except IllegalArgumentException:  # a colon
            return []

    if place.is_pattern:
        accepts = hadoop.GlobFilter(path.getName()).accept
        folders = matches(path.getParent())
        links = [link for folder in folders for link in _dangling_in(folder) if accepts(hadoop.Path(link))]
        roots = matches(path)
    else:
        roots = [path.toUri().getPath()]
        links = [root for root in roots if _is_dangling(root)]
    for root in roots:
        for folder, folders, _ in os.walk(root):
            folders[:] = [name for name in folders if not is_hidden(name)]
            links += _dangling_in(folder)
    return [disk.makeQualified(hadoop.Path(link)).toUri().toString() for link in sorted(set(links))]


def _dangling_in(folder: str) -> list[str]:
    if not os.path.isdir(folder):
        return []
    names = [os.path.join(folder, name) for name in os.listdir(folder) if not is_hidden(name)]
    return list(filter(_is_dangling, names))


def _is_dangling(path: str) -> bool:
    return os.path.islink(path) and not os.path.exists(path)
