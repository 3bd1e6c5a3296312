"""Finds the files of a log with Spark, and the dangling links that Hadoop omits from its listings."""

import os
import re
from dataclasses import dataclass
from typing import Any

from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import DataFrame, SparkSession

from dbt_spark_python.input_files import is_hidden
from dbt_spark_python.session.progress import is_connect

_PATTERN_MARK = re.compile(r"[][{}*?\\]")


@dataclass(frozen=True)
class LogPlace:
    """The path to read, taken literally or as a pattern."""

    spark: SparkSession
    path: str
    is_pattern: bool

    def read(self, kind: str, **options: str) -> DataFrame:
        """Read the place with one of Spark's readers."""
        # Spark's undocumented option for reading a name literally although it looks like a pattern.
        options |= {"__globPaths__": str(self.is_pattern).lower(), "recursiveFileLookup": "true"}
        return self.spark.read.format(kind).options(**options).load(self.path)


def find_log(spark: SparkSession, path: str, name: str) -> tuple[LogPlace, list[str]]:
    """Decide how to read `path`, and list its files.

    Raises:
        ValueError: Files are missing at the path.
    """
    # A colon before any slash ends the scheme of a URI.
    relative = f"./{path}" if re.match("[^/]*:(?!//)", path) else path
    places = [LogPlace(spark, relative, False)]
    if _PATTERN_MARK.search(path):
        places.append(LogPlace(spark, path, True))
    causes = []
    for place in places:
        try:
            if files := place.read("text").inputFiles():
                return place, files
            causes.append("names that begin with _ or . are hidden")
        except AnalysisException as error:
            causes.append(error.getCondition() or "")
        except IllegalArgumentException:
            causes.append("a name there has a colon, which globs do not support: give the file or the whole folder")
    if links := list_dangling(places[-1]):
        raise ValueError(
            f"{name}: {path!r} has only dangling links: {', '.join(links[:10])}; restore their targets, or name "
            f"another path"
        )
    raise ValueError(f"{name}: Spark does not find a file at {path!r} ({causes[-1]}); name a file, a folder or a glob")


def list_dangling(place: LogPlace) -> list[str]:
    """List the dangling links at a place, as URIs, because Hadoop silently omits them from its listings.

    Only local disks have links. On Spark Connect the disk belongs to another machine, and dangling links stay
    unnoticed.
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
