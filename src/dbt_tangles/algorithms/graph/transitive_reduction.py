"""Exact transitive reduction: the edges that a longer path implies.

An edge from m to p is redundant if p is an ancestor of another node q that m lists. Such a q is deeper than p, so a
comparison of depths clears most edges. The targets of the remaining (doubtful) edges are taken 64 at a time, as bits of
a word. One sweep in topological order, from the first target to the last node with a doubtful edge to any of them,
computes for each node the targets among its ancestors. Histories mostly cite recent nodes, so sweeps are short; the few
targets with distant children are swept apart from the many with near ones.

Time is O(nodes + edges) plus the sweeps: at most edges * targets / 64, and near linear for typical histories. Memory is
O(nodes).
"""

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner


def redundant_edges(start: np.ndarray, previous: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Mark the edges that a longer path implies.

    Args:
        start: int64[members + 1], of members numbered as in `orders.Dag`.
        previous: int32[edges], each lower than the member that lists it.
        depth: int32[members].

    Returns:
        bool[edges].
    """
    last = _last_doubts(start, previous, depth)
    target = np.flatnonzero(last)
    # Spans of up to 64 members come first, then those of each power of four.
    size_class = np.frexp((last[target] - target) >> 6)[1] // 2
    return _mark_redundant(start, previous, target[np.argsort(size_class, kind="stable")], last)


@compiled
def _last_doubts(start, previous, depth):
    """Find the last member with a doubtful edge to each member: int32[members], or 0."""
    last = np.zeros(len(depth), np.int32)
    for m in range(len(depth)):
        deepest = 0
        for e in range(start[m], start[m + 1]):
            deepest = max(deepest, depth[previous[e]])
        for e in range(start[m], start[m + 1]):
            if depth[previous[e]] < deepest:
                last[previous[e]] = m
    return last


@compiled
def _mark_redundant(start, previous, target, last):
    """Sweep the targets, 64 at a time."""
    redundant = np.zeros(len(previous), np.bool_)
    above = np.zeros(len(last), np.uint64)
    own_bit = np.zeros(len(last), np.uint64)
    for begin in range(0, len(target), 64):
        some = target[begin : begin + 64]
        lo, hi = some[0], some[0]
        for i in range(len(some)):
            own_bit[some[i]] = np.uint64(1) << np.uint64(i)
            lo, hi = min(lo, some[i]), max(hi, last[some[i]])
        _sweep(lo, hi, start, previous, own_bit, above, redundant)
        for p in some:
            own_bit[p] = np.uint64(0)
    return redundant


@inner
def _sweep(lo, hi, start, previous, own_bit, above, redundant):
    """Mark the redundant edges to up to 64 targets, in one pass over the members from the first target."""
    for m in range(lo, hi + 1):
        further = np.uint64(0)
        listed = np.uint64(0)
        for e in range(start[m], start[m + 1]):
            q = previous[e]
            if q >= lo:
                further |= above[q]
                listed |= own_bit[q]
        if further & listed != 0:
            for e in range(start[m], start[m + 1]):
                q = previous[e]
                if q >= lo and own_bit[q] & further != 0:
                    redundant[e] = True
        above[m] = further | listed
