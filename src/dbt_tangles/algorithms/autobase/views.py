"""Views of bases as arrays: a view is a base as one observer knows it.

The nodes of a view are neighbours (`view_start` int64[views + 1]) and ascend by writer and length. Edges are compressed
rows (`start` int64[nodes + 1] into `previous` int32[edges]) to the previous nodes: the heads that the writer knew, and
the writer's own previous node. The indexers of a view are numbered from 0. Lengths of their logs count from the floor,
the length confirmed before, whose nodes are not in the view.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner


class ViewArrays(NamedTuple):
    """Many views, as the rules take them.

    Attributes:
        view_start: int64[views + 1], into the nodes.
        start: int64[nodes + 1], into the edges.
        previous: int32[edges], nodes of the same view, distinct, without a cycle.
        writer: int32[nodes], the rank of the writer's key within the view. Nodes ascend by it, then by length.
        length: int64[nodes], the position in the writer's log, from 1. An indexer's ascend from its floor + 1 by 1.
        batch: int32[nodes], the number of nodes left in the batch, this one included.
        indexer: int32[nodes], the number of the writer among the view's indexers, or -1.
        is_relayed: bool[nodes]; never true for an indexer's node.
        floor_start: int64[views + 1], into the floors, one for each indexer of a view.
        floor: int64[...], the length of each indexer's log that was confirmed before.
    """

    view_start: np.ndarray
    start: np.ndarray
    previous: np.ndarray
    writer: np.ndarray
    length: np.ndarray
    batch: np.ndarray
    indexer: np.ndarray
    is_relayed: np.ndarray
    floor_start: np.ndarray
    floor: np.ndarray


class Graph(NamedTuple):
    """The nodes of all views."""

    start: np.ndarray  # int64[nodes + 1]
    previous: np.ndarray  # int32[edges]
    child_start: np.ndarray  # int64[nodes + 1], into `child`
    child: np.ndarray  # int32[edges], the reversed edges
    writer: np.ndarray  # int32[nodes]
    batch: np.ndarray  # int32[nodes], the number of nodes left in the batch, this one included
    indexer: np.ndarray  # int32[nodes], or -1


class IndexedViews(NamedTuple):
    """Many views with their graph, causal order and clocks."""

    view_start: np.ndarray  # int64[views + 1], into the nodes
    graph: Graph  # The nodes
    is_relayed: np.ndarray  # bool[nodes]
    floor_start: np.ndarray  # int64[views + 1]
    causal: np.ndarray  # int32[nodes], of `clocks.causal_order`
    clock_start: np.ndarray  # int64[views + 1], of `clocks.clocks`
    clock: np.ndarray  # int32[...], of the same


class View(NamedTuple):
    """One view."""

    begin: int  # Its first node
    end: int  # The end of its nodes
    first: np.ndarray  # int64[indexers], the first node of each log that is not empty
    known: np.ndarray  # int64[indexers], the length of each log
    removed: np.ndarray  # int64[indexers], the confirmed length of each log
    clock: np.ndarray  # int32[nodes of the view, indexers], the length of each log that a node sees, itself included


@compiled
def check_views(views):
    """Check `ViewArrays` for `consensus.order_views`.

    Raises:
        ValueError: Edges leave a view, nodes do not ascend, or an indexer's log is inconsistent.
    """
    view_start, start, previous, writer, length, _, indexer, is_relayed, floor_start, floor = views
    log_of = np.full(len(floor), -1, np.int64)
    for v in range(len(view_start) - 1):
        begin, end = view_start[v], view_start[v + 1]
        for x in range(begin, end):
            follows_own = False
            for e in range(start[x], start[x + 1]):
                if previous[e] < begin or previous[e] >= end:
                    raise ValueError("an edge of a view leaves it; number the nodes within each view")
                follows_own |= previous[e] == x - 1
            is_first = x == begin or writer[x - 1] != writer[x]
            if x > begin and (writer[x] < writer[x - 1] or (not is_first and length[x] <= length[x - 1])):
                raise ValueError("nodes of a view do not ascend by writer and length; sort them")
            k = indexer[x]
            if not is_first and indexer[x - 1] != k:
                raise ValueError("a writer of a view has several indexer numbers; give all its nodes the same")
            if k < 0:
                continue
            if is_relayed[x]:
                raise ValueError("an indexer's node is relayed; give a writer of a view one role")
            if k >= floor_start[v + 1] - floor_start[v]:
                raise ValueError("an indexer of a view has no floor; pass one floor per indexer")
            f = floor_start[v] + k
            if is_first:
                if log_of[f] >= 0:
                    raise ValueError("an indexer of a view has two logs; give each writer a number of its own")
                log_of[f] = writer[x]
            if length[x] != (floor[f] if is_first else length[x - 1]) + 1:
                raise ValueError(
                    "an indexer's log in a view has a hole, or is not above its floor; pass all nodes above the floor"
                )
            if not is_first and not follows_own:
                raise ValueError("an indexer's node in a view does not follow its previous node; add that edge")


@inner
def find_logs(begin, end, indexer, first, known):
    """Find the first node and the length of each indexer's log in a view."""
    first[:] = -1
    known[:] = 0
    for x in range(begin, end):
        k = indexer[x]
        if k >= 0:
            if known[k] == 0:
                first[k] = x
            known[k] += 1
