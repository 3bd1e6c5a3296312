"""Removes the unfinished folder of a killed process that blocks a table of the same name.

Spark refuses to create a managed table in an existing folder. A folder with a `_temporary` folder inside belongs to an
unfinished write; it is removed, and the table is created. Any other folder stays, and Spark's own error names it.
"""

import re
from collections.abc import Callable

from dbt_spark_python.fences.hadoop import find_hadoop
from dbt_spark_python.fences.known_session import find_session

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
    found, session = _IS_THERE.search(message), find_session()
    hadoop = find_hadoop(session) if found and session else None
    if hadoop is None:  # a server's files are not touched
        return False
    folder = hadoop.path(found[1])
    files = folder.getFileSystem(hadoop.configuration)
    return files.exists(hadoop.path(folder, _UNFINISHED)) and files.delete(folder, True)
