"""Decides whether an engine reads the disk of this machine, so that `input_files` decides which files are read."""

import re

from pyspark.sql import SparkSession

from dbt_spark_python.engines import sail
from dbt_spark_python.fences.hadoop import find_hadoop
from dbt_spark_python.session.progress import is_connect


def reads_this_disk(session: SparkSession | None, path: str = "") -> bool:
    """Whether an engine reads a path on this machine's disk.

    A server of Spark Connect may run elsewhere, and a cluster's default file system may be another one. The same path
    may then lead to other files there.

    Args:
        session: The session of Python models; None if SQL goes to a server and there is no session beside it.
        path: The path; one without a scheme leads to the default file system.
    """
    if session is None:
        return False
    if is_connect(session):
        return sail.is_sail(session)
    if scheme := re.match("([^/:]+):/", path):
        return scheme[1] == "file"
    return find_hadoop(session).configuration.get("fs.defaultFS", "file:///").startswith("file:")
