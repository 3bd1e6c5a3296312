"""Folders that a process was writing a table to when it was killed: Spark's catalogs know nothing of them.

Spark makes no managed table in a folder that is there. One that a writer has not finished holds its `_temporary`; then
it is removed, and the table is made. Any other folder may be somebody's, and Spark's own error names it.
"""

import re
from collections.abc import Callable

import pyspark

# A writer of Hadoop's makes this folder first, and removes it when all rows are in place.
_UNFINISHED = "_temporary"

_IS_THERE = re.compile(r"LOCATION_ALREADY_EXISTS\].* associated location '(.+?)' already exists")


def over_unfinished(make: Callable[[], None]) -> None:
    """Make a table; once more where all that was in its way is what a killed process had begun to write.

    Args:
        make: Makes it, and raises Spark's error where that cannot be done.
    """
    try:
        make()
    except Exception as error:
        if not _remove_unfinished(str(error)):
            raise
        make()


def _remove_unfinished(message: str) -> bool:
    """Remove the folder that an error is about, if it is an unfinished one; whether it was."""
    found, kind = _IS_THERE.search(message), getattr(pyspark, "SparkContext", None)  # pyspark's client has none
    context = kind and kind._active_spark_context
    if not found or context is None:  # a server's files are the server's
        return False
    path = context._jvm.org.apache.hadoop.fs.Path
    folder = path(found[1])
    files = folder.getFileSystem(context._jsc.hadoopConfiguration())
    return files.exists(path(folder, _UNFINISHED)) and files.delete(folder, True)
