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


@compiled
def redundant_edges(graph_start, start, previous, depth):
    """Mark the edges that a longer path implies.

    Args:
        graph_start: int64[graphs + 1], of members numbered as in `orders.Dag`.
        start: int64[members + 1].
        previous: int32[edges], each lower than the member that lists it.
        depth: int32[members].

    Returns:
        bool[edges].
    """
    n = len(depth)
    redundant = np.zeros(len(previous), np.bool_)
    last_doubt = np.zeros(n, np.int32)
    above = np.zeros(n, np.uint64)
    own_bit = np.zeros(n, np.uint64)
    targets = np.empty(64, np.int32)
    by_span = np.empty(32, np.int64)
    for g in range(len(graph_start) - 1):
        first, end = graph_start[g], graph_start[g + 1]
        _find_doubtful(first, end, start, previous, depth, last_doubt)
        by_span[:] = 0
        for p in range(first, end):
            if last_doubt[p] > 0:
                by_span[_size_class(last_doubt[p] - p)] += 1
        for span in range(32):
            left = by_span[span]
            p = first
            while left > 0:
                count = 0
                hi = 0
                while count < 64 and left > 0:
                    if last_doubt[p] > 0 and _size_class(last_doubt[p] - p) == span:
                        own_bit[p] = np.uint64(1) << np.uint64(count)
                        targets[count] = p
                        hi = max(hi, last_doubt[p])
                        count += 1
                        left -= 1
                    p += 1
                _sweep(targets[0], hi, start, previous, own_bit, above, redundant)
                for i in range(count):
                    own_bit[targets[i]] = 0
    return redundant


@inner
def _find_doubtful(first, end, start, previous, depth, last_doubt):
    """Write, for each target of doubtful edges, the last member with such an edge to it."""
    for m in range(first, end):
        if start[m + 1] - start[m] < 2:
            continue
        deepest = 0
        for e in range(start[m], start[m + 1]):
            deepest = max(deepest, depth[previous[e]])
        for e in range(start[m], start[m + 1]):
            if depth[previous[e]] < deepest:
                last_doubt[previous[e]] = m


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


@inner
def _size_class(span):
    """Classify spans by size: up to 64, then by powers of four."""
    size = 0
    span >>= 6
    while span > 0:
        size += 1
        span >>= 2
    return size
