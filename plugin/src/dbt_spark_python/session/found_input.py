"""Finds and measures the files at a path: on this machine's disk as `input_files` does, elsewhere with Spark."""

import re
from typing import NamedTuple

from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from dbt_spark_python.engines import sail
from dbt_spark_python.fences.hadoop import find_hadoop
from dbt_spark_python.input_files import PATTERN_MARK, find_files, uri
from dbt_spark_python.session.progress import is_connect


class Place(NamedTuple):
    """The paths to read, taken literally or as patterns."""

    spark: SparkSession
    paths: list[str]
    is_pattern: bool

    def read(self, kind: str, **options: str) -> DataFrame:
        """Read the place with one of Spark's readers."""
        # Spark's undocumented option for reading a name literally although it looks like a pattern.
        options |= {"__globPaths__": str(self.is_pattern).lower(), "recursiveFileLookup": "true"}
        return self.spark.read.format(kind).options(**options).load(self.paths)


class FoundInput(NamedTuple):
    """The files of an input."""

    place: Place  # The place at which Spark's readers find these files
    files: list[str]  # Their URIs
    local: list[tuple[str, int]] | None  # The same files by their paths and sizes, if they are on this machine
    dangling: list[str]  # The links on this machine that lead nowhere
    irregular: list[str]  # The pipes, sockets and devices on this machine

    def count_bytes(self) -> int:
        """Return the stored size of the files."""
        if self.local is not None:
            return sum(size for _, size in self.local)
        # Spark skips empty files.
        return int(self.place.read("binaryFile").agg(sf.coalesce(sf.sum("length"), sf.lit(0))).first()[0])


def reads_this_disk(session: SparkSession | None, path: str = "") -> bool:
    """Whether an engine reads a path on this machine's disk, so that `input_files` decides which files are read.

    A server of Spark Connect may run elsewhere, and a cluster's default file system, to which a path without a scheme
    leads, may be another one. `session` is None if SQL goes to a server and there is no session beside it.
    """
    if session is None:
        return False
    if is_connect(session):
        return sail.is_sail(session)
    if scheme := re.match("([^/:]+):/", path):
        return scheme[1] == "file"
    return find_hadoop(session).configuration.get("fs.defaultFS", "file:///").startswith("file:")


def find_input(spark: SparkSession, path: str, name: str) -> FoundInput:
    """Find the files at a path, and decide how Spark reads them; errors have the user's name for the path (a var).

    They are the file or folder of exactly this name, or else the matches of a glob; folders are read recursively.

    Raises:
        ValueError: Files are missing at the path.
        OSError: Permission to read a folder is missing.
    """
    if not reads_this_disk(spark, path):
        return _find_with_spark(spark, path, name)
    found = find_files(path, name)
    # Hadoop takes the rest of such a path literally.
    place = Place(spark, [f"file:{each}" for each in found.places], False)
    return FoundInput(place, [uri(file) for file, _ in found.files], found.files, found.dangling, found.irregular)


def _find_with_spark(spark: SparkSession, path: str, name: str) -> FoundInput:
    """Find files on the disks of other machines; links and pipes there stay unnoticed."""
    # A colon before any slash ends the scheme of a URI.
    relative = f"./{path}" if re.match("[^/]*:(?!//)", path) else path
    places = [Place(spark, [relative], False)]
    if PATTERN_MARK.search(path):
        places.append(Place(spark, [path], True))
    causes = []
    for place in places:
        try:
            if files := place.read("text").inputFiles():
                return FoundInput(place, files, None, [], [])
            causes.append("names that begin with _ or . are hidden")
        except AnalysisException as error:
            causes.append(error.getCondition() or "")
        except IllegalArgumentException:
            causes.append("a name there has a colon, which globs do not support: give the file or the whole folder")
    raise ValueError(f"{name}: Spark does not find a file at {path!r} ({causes[-1]}); name a file, a folder or a glob")
