"""Bases as graphs: previous nodes, depths, and vector clocks over the indexers.

The nodes of a base are neighbours and ascend by writer and length. Within a base, nodes and indexers count from 0, and
lengths of logs count from the length that was settled before, whose nodes are not in the base.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.graph.orders import positions
from dbt_tangles.algorithms.graph.topological_generations import children, generations
from dbt_tangles.kernel_runtime.compiled import compiled

#: A length that no log reaches.
NEVER = np.int32(2**31 - 1)


class Graphs(NamedTuple):
    """The nodes of many bases."""

    base_start: np.ndarray  # int64[bases + 1], into the nodes
    start: np.ndarray  # int64[nodes + 1], into the edges
    previous: np.ndarray  # int32[edges], numbers over all bases: the heads of each node and its writer's node before
    writer: np.ndarray  # int32[nodes], the rank of the writer's key
    batch: np.ndarray  # int32[nodes], the number of nodes left in the batch, this one included
    indexer: np.ndarray  # int32[nodes], the writer's number among the base's indexers, or -1
    is_relayed: np.ndarray  # bool[nodes]; never true for an indexer's node
    indexer_start: np.ndarray  # int64[bases + 1], into the indexers of all bases


class Bases(NamedTuple):
    """Many bases with clocks; `start`, `child_start` and `indexer_start` begin with those of the first base."""

    base_start: np.ndarray  # int64[bases + 1], into the nodes
    start: np.ndarray  # int64[nodes + 1], into the edges
    previous: np.ndarray  # int32[edges], nodes of the base
    child_start: np.ndarray  # int64[nodes + 1], into `child`
    child: np.ndarray  # int32[edges], nodes of the base
    writer: np.ndarray  # int32[nodes]
    batch: np.ndarray  # int32[nodes]
    indexer: np.ndarray  # int32[nodes]
    is_relayed: np.ndarray  # bool[nodes]
    indexer_start: np.ndarray  # int64[bases + 1]
    place: np.ndarray  # int32[nodes], the place of each node of a base by depth, then number
    causal: np.ndarray  # int32[nodes], the node at each place
    clock_start: np.ndarray  # int64[bases + 1], into `clock`
    clock: np.ndarray  # int32[...], for each node of a base and each indexer


class Base(NamedTuple):
    """One base, as `base_of` gives it; arrays as in `Bases`."""

    start: np.ndarray
    previous: np.ndarray
    child_start: np.ndarray
    child: np.ndarray
    writer: np.ndarray
    batch: np.ndarray
    indexer: np.ndarray
    is_relayed: np.ndarray
    place: np.ndarray
    causal: np.ndarray
    first: np.ndarray  # int32[indexers], the first node of each log
    known: np.ndarray  # int32[indexers], the length of each log
    clock: np.ndarray  # int32[nodes, indexers], the length of each log that a node sees, itself included


def index_graphs(graphs: Graphs) -> Bases:
    """Order the nodes of each base by depth, and number them within the base; clocks are left out.

    Raises:
        ValueError: The edges close a cycle.
    """
    base_start, start, previous = graphs.base_start, graphs.start, graphs.previous
    reverse = children(start, previous)
    depth = generations(base_start, start, reverse)
    if (depth < 0).any():
        raise ValueError("edges close a cycle within a base; leave out the nodes on it")
    place = positions(base_start, depth)
    first = np.repeat(base_start[:-1], np.diff(base_start)).astype(np.int32)
    causal = np.empty(len(place), np.int32)
    causal[first + place] = np.arange(len(place), dtype=np.int32) - first
    return Bases(
        base_start,
        start,
        previous - np.repeat(first, np.diff(start)),
        reverse.start,
        reverse.child - np.repeat(first, np.diff(reverse.start)),
        *graphs[3:],
        place,
        causal,
        np.zeros(1, np.int64),
        np.zeros(0, np.int32),
    )


def with_clocks(bases: Bases, begin: int, end: int) -> Bases:
    """Take the bases from one to another, with clocks; takes memory in proportion to nodes times indexers."""
    low, high = bases.base_start[begin], bases.base_start[end]
    nodes = {name: getattr(bases, name)[low:high] for name in ("writer", "batch", "indexer", "is_relayed", "place")}
    chosen = bases._replace(
        base_start=bases.base_start[begin : end + 1] - low,
        start=bases.start[low : high + 1],
        child_start=bases.child_start[low : high + 1],
        indexer_start=bases.indexer_start[begin : end + 1],
        causal=bases.causal[low:high],
        **nodes,
    )
    entries = np.diff(chosen.base_start) * np.diff(chosen.indexer_start)
    clock_start = np.concatenate([np.zeros(1, np.int64), np.cumsum(entries, dtype=np.int64)])
    chosen = chosen._replace(clock_start=clock_start, clock=np.zeros(clock_start[-1], np.int32))
    _fill_clocks(chosen)
    return chosen


def first_followers(bases: Bases) -> np.ndarray:
    """Find, for each node and indexer, the first node of the indexer that is the node or its descendant.

    Returns:
        int32[...], laid out as the clocks: the length of the indexer's log with that node, or `NEVER`.
    """
    follower = np.full(len(bases.clock), NEVER)
    _fill_followers(bases, follower)
    return follower


@compiled
def base_of(bases, b):
    """Return base number `b` of some `Bases`."""
    low, high = bases.base_start[b], bases.base_start[b + 1]
    n = bases.indexer_start[b + 1] - bases.indexer_start[b]
    indexer = bases.indexer[low:high]
    first, known = np.zeros(n, np.int32), np.zeros(n, np.int32)
    for x in range(high - low):
        if indexer[x] >= 0:
            if known[indexer[x]] == 0:
                first[indexer[x]] = x
            known[indexer[x]] += 1
    return Base(
        bases.start[low : high + 1],
        bases.previous,
        bases.child_start[low : high + 1],
        bases.child,
        bases.writer[low:high],
        bases.batch[low:high],
        indexer,
        bases.is_relayed[low:high],
        bases.place[low:high],
        bases.causal[low:high],
        first,
        known,
        bases.clock[bases.clock_start[b] : bases.clock_start[b + 1]].reshape(high - low, n),
    )


@compiled
def _fill_clocks(bases):
    for b in range(len(bases.base_start) - 1):
        base = base_of(bases, b)
        n = len(base.known)
        for x in base.causal:
            for e in range(base.start[x], base.start[x + 1]):
                p = base.previous[e]
                for k in range(n):
                    base.clock[x, k] = max(base.clock[x, k], base.clock[p, k])
            if base.indexer[x] >= 0:
                base.clock[x, base.indexer[x]] = x - base.first[base.indexer[x]] + 1


@compiled
def _fill_followers(bases, follower):
    for b in range(len(bases.base_start) - 1):
        base = base_of(bases, b)
        rows = follower[bases.clock_start[b] : bases.clock_start[b + 1]].reshape(base.clock.shape)
        for x in base.causal[::-1]:
            if base.indexer[x] >= 0:
                rows[x, base.indexer[x]] = x - base.first[base.indexer[x]] + 1
            for e in range(base.start[x], base.start[x + 1]):
                p = base.previous[e]
                for k in range(len(base.known)):
                    rows[p, k] = min(rows[p, k], rows[x, k])
