"""Reruns a model once if an executor with its checkpointed rows was lost.

A local checkpoint keeps rows on the executors that computed them, without their lineage, so Spark
cannot recompute them.
"""

import re
from collections.abc import Callable

from dbt_spark_python.session.progress import show_line

_LOST = re.compile(r"CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND|Checkpoint block \S+ not found")


def retry_lost_rows(make: Callable[[], None], node: str) -> None:
    """Make a table; make it once more if checkpointed rows were lost.

    Args:
        make: Makes the table from its inputs, and raises Spark's error if it fails.
        node: The node's name, for the log.
    """
    try:
        make()
    except Exception as error:
        if not _LOST.search(str(error)):
            raise
        show_line(f"{node.rsplit('.', 1)[-1]}: an executor with checkpointed rows was lost; the model runs again")
        make()
