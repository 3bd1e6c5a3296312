"""Rows that a model computed once and that an executor kept: they are lost with it, and Spark does not make them again.

`sail.checkpoint` leaves rows where they were computed, and forgets how. A model that has lost some is run again from
its inputs, once.
"""

import re
from collections.abc import Callable

from dbt_spark_python.session.progress import say

_LOST = re.compile(r"CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND|Checkpoint block \S+ not found")


def over_lost_rows(make: Callable[[], None], node: str) -> None:
    """Make a table; once more where rows were lost that it goes on from.

    Args:
        make: Makes it from the beginning, and raises Spark's error where that cannot be done.
        node: What it is called.
    """
    try:
        make()
    except Exception as error:
        if not _LOST.search(str(error)):
            raise
        say(f"{node.rsplit('.', 1)[-1]}: rows were lost with an executor that kept them; it is made again")
        make()
