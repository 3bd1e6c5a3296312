"""Finds the events of an event log whose lines contradict each other: one id with other causes or another author.

An id that is a hash names one content. Where two lines disagree about it, the log does not say which of them is true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from dbt_tangles.algorithms.graph.dense_ids import Nodes
    from dbt_tangles.kernel_runtime.spill_buffer import Rows

#: The verdict of an arrival that another one contradicts, beside the verdicts of `admission`.
CONFLICT = 4

# Pairs of rows that are compared at a time.
_PAIRS = 4096


def conflicting(table: pa.Table | Rows, nodes: Nodes, number: np.ndarray, is_new: np.ndarray) -> np.ndarray:
    """Mark the arrivals of events that have several contents.

    Args:
        table: The input of `order.order_timelines`.
        nodes: Its rows by timeline and name, so that the rows of an event are adjacent.
        number: int32[nodes], the number of each node's name.
        is_new: bool[rows]; false for rows of the published order, which are not compared.

    Returns:
        bool[nodes].
    """
    node = np.flatnonzero(is_new[nodes.row])
    repeated = np.flatnonzero(number[node[1:]] == number[node[:-1]])
    contradicted = np.zeros(len(number), np.bool_)
    for start in range(0, len(repeated), _PAIRS):
        first = repeated[start : start + _PAIRS]
        before, after = (_contents(table, nodes.row[node[places]]) for places in (first, first + 1))
        differs = [one != other for one, other in zip(before, after, strict=True)]
        contradicted[number[node[first[differs]]]] = True
    return contradicted[number]


def _contents(table: pa.Table | Rows, rows: np.ndarray) -> list[tuple]:
    """Return the author of each row and the set of its causes, whose order has no meaning."""
    authors, causes = (table[name].take(pa.array(rows)).to_pylist() for name in ("author", "causes"))
    return [
        (author, None if listed is None else frozenset(listed)) for author, listed in zip(authors, causes, strict=True)
    ]
