"""Removes the unfinished folder of a killed process that blocks a table of the same name.

Spark refuses to create a managed table in an existing folder. A folder with a `_temporary` folder inside belongs to an
unfinished write; it is removed, and the table is created. Any other folder stays, and Spark's own error names it.
"""

import re
from collections.abc import Callable

import pyspark

# Hadoop's writers create this folder first, and remove it when all rows are in place.
_UNFINISHED = "_temporary"

_IS_THERE = re.compile(r"LOCATION_ALREADY_EXISTS\].* associated location '(.+?)' already exists")


def retry_over_unfinished(make: Callable[[], None]) -> None:
    """Make a table; if only an unfinished write blocks it, remove that and make the table again.

    Args:
        make: Makes the table, and raises Spark's error if it fails.
    """
    try:
        make()
    except Exception as error:
        if not _remove_unfinished(str(error)):
            raise
        make()


def _remove_unfinished(message: str) -> bool:
    """Remove the folder that an error names if it is unfinished; return whether it was."""
    found, kind = _IS_THERE.search(message), getattr(pyspark, "SparkContext", None)  # pyspark-client lacks it
    context = kind and kind._active_spark_context
    if not found or context is None:  # a server's files are not touched
        return False
    path = context._jvm.org.apache.hadoop.fs.Path
    folder = path(found[1])
    files = folder.getFileSystem(context._jsc.hadoopConfiguration())
    return files.exists(path(folder, _UNFINISHED)) and files.delete(folder, True)
