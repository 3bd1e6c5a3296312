"""Bases as their observers know them, in arrays.

Nodes of a view are neighbours (`view_start` int64[views + 1]) and ascend by writer and length; edges are compressed
rows (`start` int64[nodes + 1] into `previous` int32[edges]) to what a node follows directly: the heads its writer knew,
and the writer's own previous node. The indexers of a view are numbered from 0, and lengths of their logs count from
their floor: the length that was settled before, of which no node is here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner


class Graph(NamedTuple):
    """The nodes of all views.

    Attributes:
        start: int64[nodes + 1].
        previous: int32[edges].
        child_start: int64[nodes + 1], the edges turned round.
        child: int32[edges].
        writer: int32[nodes].
        batch: int32[nodes]; how many nodes of the batch are left, this one included.
        indexer: int32[nodes], or -1.
    """

    start: np.ndarray
    previous: np.ndarray
    child_start: np.ndarray
    child: np.ndarray
    writer: np.ndarray
    batch: np.ndarray
    indexer: np.ndarray


class View(NamedTuple):
    """One view.

    Attributes:
        begin: Its first node.
        end: One behind its last.
        first: int64[indexers], the first node of each that has any.
        known: int64[indexers], how many nodes there are of each.
        removed: int64[indexers], how many of them are settled.
        clock: int32[nodes of the view, indexers], how much of each log each node knows, itself included.
    """

    begin: int
    end: int
    first: np.ndarray
    known: np.ndarray
    removed: np.ndarray
    clock: np.ndarray


@compiled
def check_views(view_start, start, previous, writer, length, indexer, is_relayed, floor_start, floor):
    """Check arrays as `consensus.order_views` takes them.

    Raises:
        ValueError: Edges leave a view, nodes do not ascend, or an indexer's log is not one.
    """
    log_of = np.full(len(floor), -1, np.int64)
    for v in range(len(view_start) - 1):
        begin, end = view_start[v], view_start[v + 1]
        for x in range(begin, end):
            follows_own = False
            for e in range(start[x], start[x + 1]):
                if previous[e] < begin or previous[e] >= end:
                    raise ValueError("an edge leaves its view")
                follows_own |= previous[e] == x - 1
            is_first = x == begin or writer[x - 1] != writer[x]
            if x > begin and (writer[x] < writer[x - 1] or (not is_first and length[x] <= length[x - 1])):
                raise ValueError("nodes do not ascend by writer and length")
            k = indexer[x]
            if not is_first and indexer[x - 1] != k:
                raise ValueError("a writer is not always the same indexer")
            if k < 0:
                continue
            if is_relayed[x]:
                raise ValueError("an indexer's node is relayed")
            if k >= floor_start[v + 1] - floor_start[v]:
                raise ValueError("an indexer has no floor")
            f = floor_start[v] + k
            if is_first:
                if log_of[f] >= 0:
                    raise ValueError("an indexer has two logs")
                log_of[f] = writer[x]
            if length[x] != (floor[f] if is_first else length[x - 1]) + 1:
                raise ValueError("an indexer's log has a hole, or is not above its floor")
            if not is_first and not follows_own:
                raise ValueError("an indexer's node does not follow the one before")


@inner
def find_logs(begin, end, indexer, first, known):
    """Find where the logs of a view's indexers begin, and how long they are.

    Args:
        begin: First node of the view.
        end: One behind its last.
        indexer: int32[nodes].
        first: int64[indexers], filled with the first node of each that has any.
        known: int64[indexers], filled.
    """
    first[:] = -1
    known[:] = 0
    for x in range(begin, end):
        k = indexer[x]
        if k >= 0:
            if known[k] == 0:
                first[k] = x
            known[k] += 1
