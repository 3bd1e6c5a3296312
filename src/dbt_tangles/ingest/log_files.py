"""Finds the files of a log: on this machine's disk as the plugin finds them, elsewhere with Spark."""

import re
from typing import NamedTuple

from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import DataFrame, SparkSession

from dbt_spark_python.input_files import find_files, uri
from dbt_spark_python.session.local_disk import reads_this_disk
from dbt_tangles.reasons import FileFault

_PATTERN_MARK = re.compile(r"[][{}*?\\]")


class LogPlace(NamedTuple):
    """The paths to read, taken literally or as patterns."""

    spark: SparkSession
    paths: list[str]
    is_pattern: bool

    def read(self, kind: str, **options: str) -> DataFrame:
        """Read the place with one of Spark's readers."""
        # Spark's undocumented option for reading a name literally although it looks like a pattern.
        options |= {"__globPaths__": str(self.is_pattern).lower(), "recursiveFileLookup": "true"}
        return self.spark.read.format(kind).options(**options).load(self.paths)


class FoundLog(NamedTuple):
    """The files of a log."""

    place: LogPlace  # The place at which Spark's readers find these files
    files: list[str]  # Their URIs
    local: list[tuple[str, int]] | None  # The same files by their paths and sizes, if they are on this machine
    skipped: dict[FileFault, list[str]]  # The paths on this machine that lead to no file, by their fault


def find_log(spark: SparkSession, path: str, name: str) -> FoundLog:
    """Find the files at a path, and decide how Spark reads them.

    Raises:
        ValueError: Files are missing at the path.
        OSError: Permission to read a folder is missing.
    """
    if not reads_this_disk(spark, path):
        return _find_with_spark(spark, path, name)
    found = find_files(path, name)
    # Hadoop takes the rest of such a path literally.
    place = LogPlace(spark, [f"file:{each}" for each in found.places], False)
    skipped = {FileFault.DANGLING_LINK: found.dangling, FileFault.NOT_A_FILE: found.irregular}
    return FoundLog(place, [uri(file) for file, _ in found.files], found.files, skipped)


def _find_with_spark(spark: SparkSession, path: str, name: str) -> FoundLog:
    """Find files on the disks of other machines; links and pipes there stay unnoticed."""
    # A colon before any slash ends the scheme of a URI.
    relative = f"./{path}" if re.match("[^/]*:(?!//)", path) else path
    places = [LogPlace(spark, [relative], False)]
    if _PATTERN_MARK.search(path):
        places.append(LogPlace(spark, [path], True))
    causes = []
    for place in places:
        try:
            if files := place.read("text").inputFiles():
                return FoundLog(place, files, None, {})
            causes.append("names that begin with _ or . are hidden")
        except AnalysisException as error:
            causes.append(error.getCondition() or "")
        except IllegalArgumentException:
            causes.append("a name there has a colon, which globs do not support: give the file or the whole folder")
    raise ValueError(f"{name}: Spark does not find a file at {path!r} ({causes[-1]}); name a file, a folder or a glob")
