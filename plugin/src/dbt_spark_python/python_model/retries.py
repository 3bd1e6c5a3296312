"""Makes a table a second time after a killed process, or after a lost executor."""

import re
from collections.abc import Callable

from dbt_spark_python.fences.hadoop import find_hadoop
from dbt_spark_python.fences.known_session import find_session
from dbt_spark_python.session.progress import show_line

# Hadoop's writers create this folder first, and remove it when all rows are in place.
_UNFINISHED = "_temporary"

_IS_THERE = re.compile(r"LOCATION_ALREADY_EXISTS\].* associated location '(.+?)' already exists")
_LOST = re.compile(r"CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND|Checkpoint block \S+ not found")


def retry_over_unfinished(make: Callable[[], None]) -> None:
    """Make a table; if only an unfinished write blocks it, remove that and make the table again.

    Spark refuses to create a managed table in an existing folder. A folder with a `_temporary` folder inside belongs to
    an unfinished write. Any other folder stays, and Spark's own error names it.
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


def retry_lost_rows(make: Callable[[], None], name: str) -> None:
    """Make the table of this name; make it once more if checkpointed rows were lost.

    A local checkpoint keeps rows on the executors that computed them, without their lineage, so Spark cannot recompute
    the rows of a lost executor.
    """
    try:
        make()
    except Exception as error:
        if not _LOST.search(str(error)):
            raise
        show_line(f"{name}: an executor with checkpointed rows was lost; the model runs again")
        make()
