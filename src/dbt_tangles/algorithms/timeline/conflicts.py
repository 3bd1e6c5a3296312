"""Finds the events of an event log whose lines contradict each other: one id with other causes or another author.

An id that is a hash names one content. Where two lines disagree about it, the log does not say which of them is true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from dbt_tangles.columns.dense_ids import Nodes

# Pairs of rows that are compared at a time.
_PAIRS = 2**16


def conflicting(table: pa.Table, nodes: Nodes, number: np.ndarray, is_new: np.ndarray) -> np.ndarray:
    """Mark the arrivals of events that have several contents: bool[nodes].

    Args:
        table: The input of `order.order_timelines`.
        nodes: Its rows by timeline and name, so that the rows of an event are adjacent.
        number: int32[nodes], the number of each node's name.
        is_new: bool[nodes]; false for rows of the published order, which are not compared.
    """
    node = np.flatnonzero(is_new)
    repeated = np.flatnonzero(number[node[1:]] == number[node[:-1]])
    contradicted = np.zeros(len(number), np.bool_)
    for start in range(0, len(repeated), _PAIRS):
        first = repeated[start : start + _PAIRS]
        pairs = [pa.array(nodes.row[node[places]]) for places in (first, first + 1)]
        authors, causes = ([table[name].take(rows) for rows in pairs] for name in ("author", "causes"))
        differs = _authors_differ(*authors) | _causes_differ(*causes)
        contradicted[number[node[first[differs]]]] = True
    return contradicted[number]


def _authors_differ(one: pa.ChunkedArray, other: pa.ChunkedArray) -> np.ndarray:
    """Compare authors: bool[pairs]. A missing author differs from any other."""
    is_same = pc.and_(pc.equal(one.is_null(), other.is_null()), pc.equal(one.fill_null(""), other.fill_null("")))
    return ~is_same.to_numpy()


def _causes_differ(one: pa.ChunkedArray, other: pa.ChunkedArray) -> np.ndarray:
    """Compare sets of causes: bool[pairs]. Nearly all rows list them in the same order."""
    sizes, others = (pc.list_value_length(lists).fill_null(-1).to_numpy() for lists in (one, other))
    differs = sizes != others
    places = np.flatnonzero(~differs & (sizes > 0))
    if not len(places):
        return differs
    pairs = [lists.take(pa.array(places)) for lists in (one, other)]
    is_same = pc.equal(*map(pc.list_flatten, pairs)).fill_null(False).to_numpy()
    unlike = ~np.logical_and.reduceat(is_same, np.cumsum(sizes[places]) - sizes[places])
    sets = (map(frozenset, lists.filter(pa.array(unlike)).to_pylist()) for lists in pairs)
    differs[places[unlike]] = [first != second for first, second in zip(*sets, strict=True)]
    return differs
