"""Vector clocks over the indexers of a view, and the first descendants of each node in each indexer's log.

Arrays are as in `views`.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.views import Graph, IndexedViews, ViewArrays, find_logs
from dbt_tangles.algorithms.graph.orders import positions
from dbt_tangles.algorithms.graph.topological_generations import children, generations
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: The vote of an indexer that never votes.
NEVER = np.int32(2**31 - 1)


class Edges(NamedTuple):
    """Compressed rows: `start` int64[nodes + 1] into `previous` int32[edges]."""

    start: np.ndarray
    previous: np.ndarray


def index_views(views: ViewArrays) -> tuple[IndexedViews, np.ndarray]:
    """Link the nodes of many views, and compute their causal order and clocks.

    Returns:
        The indexed views, and the depth of each node, int32[nodes].

    Raises:
        ValueError: The edges close a cycle.
    """
    view_start, start, previous = views.view_start, views.start, views.previous
    depth = depths(view_start, start, previous)
    graph = Graph(start, previous, *children(start, previous), views.writer, views.batch, views.indexer)
    clock_start, clock = clocks(view_start, start, previous, views.indexer, views.floor_start)
    causal = causal_order(view_start, depth)
    return IndexedViews(view_start, graph, views.is_relayed, views.floor_start, causal, clock_start, clock), depth


def depths(view_start: np.ndarray, start: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """Find the longest path down from each node.

    Args:
        view_start: int64[views + 1].
        start: int64[nodes + 1].
        previous: int32[edges].

    Returns:
        int32[nodes], 0 for a node without previous nodes.

    Raises:
        ValueError: The edges close a cycle.
    """
    depth = generations(view_start, start, children(start, previous))
    if (depth < 0).any():
        raise ValueError("edges close a cycle within a view; leave out the nodes on it")
    return depth


def causal_order(view_start: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Order the nodes of each view by depth, then number.

    Args:
        view_start: int64[views + 1].
        depth: int32[nodes], of `depths`.

    Returns:
        int32[nodes], those of each view from its start.
    """
    causal = np.empty(len(depth), np.int32)
    first = np.repeat(view_start[:-1], np.diff(view_start))
    causal[first + positions(view_start, depth)] = np.arange(len(depth), dtype=np.int32)
    return causal


def clocks(
    view_start: np.ndarray,
    start: np.ndarray,
    previous: np.ndarray,
    indexer: np.ndarray,
    floor_start: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the clock of each node: the length of each indexer's log that it sees, itself included.

    Args:
        view_start: int64[views + 1].
        start: int64[nodes + 1].
        previous: int32[edges].
        indexer: int32[nodes].
        floor_start: int64[views + 1].

    Returns:
        `clock_start` int64[views + 1] and `clock` int32[...]. In a view with k indexers, the entries of its i-th node
        begin at `clock_start` + i * k. They count from the floor.

    Raises:
        ValueError: The edges close a cycle.
    """
    causal = causal_order(view_start, depths(view_start, start, previous))
    return _clocks(view_start, start, previous, indexer, floor_start, causal)


def first_followers(
    view_start: np.ndarray,
    start: np.ndarray,
    previous: np.ndarray,
    indexer: np.ndarray,
    floor_start: np.ndarray,
    depth: np.ndarray,
) -> np.ndarray:
    """Find, for each node and indexer, the first node of the indexer that is the node or its descendant.

    Args:
        view_start: int64[views + 1].
        start: int64[nodes + 1].
        previous: int32[edges].
        indexer: int32[nodes].
        floor_start: int64[views + 1].
        depth: int32[nodes].

    Returns:
        int32[...], laid out as the clocks: the length of the indexer's log with that node, from its floor, or `NEVER`.
    """
    return _first_followers(view_start, start, previous, indexer, floor_start, causal_order(view_start, depth))


@inner
def fill_clocks(begin, end, edges, indexer, causal, first, clock):
    """Compute the clocks of one view."""
    start, previous = edges
    n = clock.shape[1]
    for i in range(begin, end):
        x = causal[i]
        own = clock[x - begin]
        own[:] = 0
        for e in range(start[x], start[x + 1]):
            other = clock[previous[e] - begin]
            for k in range(n):
                own[k] = max(own[k], other[k])
        if indexer[x] >= 0:
            own[indexer[x]] = x - first[indexer[x]] + 1


@compiled
def _clocks(view_start, start, previous, indexer, floor_start, causal):
    views = len(view_start) - 1
    clock_start = np.zeros(views + 1, np.int64)
    widest = np.int64(0)
    for v in range(views):
        n = floor_start[v + 1] - floor_start[v]
        widest = max(widest, n)
        clock_start[v + 1] = clock_start[v] + n * (view_start[v + 1] - view_start[v])
    clock = np.empty(clock_start[views], np.int32)
    first = np.empty(widest, np.int64)
    known = np.empty(widest, np.int64)
    for v in range(views):
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        rows = clock[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        find_logs(begin, end, indexer, first[:n], known[:n])
        fill_clocks(begin, end, Edges(start, previous), indexer, causal, first, rows)
    return clock_start, clock


@compiled
def _first_followers(view_start, start, previous, indexer, floor_start, causal):
    views = len(view_start) - 1
    room = np.int64(0)
    for v in range(views):
        room += (view_start[v + 1] - view_start[v]) * (floor_start[v + 1] - floor_start[v])
    follower = np.full(room, NEVER)
    at = np.int64(0)
    for v in range(views):
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        rows = follower[at : at + (end - begin) * n].reshape(end - begin, n)
        at += (end - begin) * n
        length = np.zeros(n, np.int32)
        for x in range(begin, end):
            if indexer[x] >= 0:
                length[indexer[x]] += 1
                rows[x - begin, indexer[x]] = length[indexer[x]]
        # From late to early, each node passes the minimum of itself and its descendants on to its previous nodes.
        for i in range(end - 1, begin - 1, -1):
            x = causal[i]
            own = rows[x - begin]
            for e in range(start[x], start[x + 1]):
                other = rows[previous[e] - begin]
                for k in range(n):
                    other[k] = min(other[k], own[k])
    return follower
