"""Concurrent members: how many members of a graph a member neither follows nor precedes, by rows of bits.

In a graph of n members, a member with a ancestors and d descendants has n - 1 - a - d concurrent members. Descendants
are ancestors in the reversed graph, so one kernel counts both. The ancestors of a member are its previous and the
ancestors of these: a row of bits for each member has them, for a block of 512 possible ancestors at a time.
"""

import numpy as np

from dbt_tangles.algorithms.graph.topological_generations import children
from dbt_tangles.algorithms.structures.bits import popcount
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: Maximum number of words that the rows of a graph combine, in each direction (less than a second). The number depends
#: on the graph alone, so that all replicas leave out the same counts.
MOST_STEPS = 250_000_000
#: The words of a row.
WORDS = 8


def concurrent_counts(
    graph_start: np.ndarray, start: np.ndarray, previous: np.ndarray, most_steps: int = MOST_STEPS
) -> np.ndarray:
    """Count the members of its graph that each member neither follows nor precedes.

    Args:
        graph_start: int64[graphs + 1], of members numbered as in `orders.Dag`.
        start: int64[members + 1].
        previous: int32[edges], each lower than the member that lists it.
        most_steps: Graphs whose rows combine more words than this have no counts.

    Returns:
        int32[members]; -1 for all members of a graph above `most_steps`.
    """
    n = len(start) - 1
    before = _count_ancestors(np.ascontiguousarray(graph_start), np.ascontiguousarray(start), previous, most_steps)
    # Member k becomes member n - 1 - k, so that the reversed edges lead to lower numbers as well.
    child_start, child = children(start, previous)
    reverse = n - graph_start[::-1], len(child) - child_start[::-1], (n - 1 - child[::-1]).astype(np.int32)
    after = _count_ancestors(*map(np.ascontiguousarray, reverse), most_steps)[::-1]
    sizes = np.diff(graph_start)
    others = np.repeat((sizes - 1).astype(np.int32), sizes)
    return np.where((before < 0) | (after < 0), np.int32(-1), others - before - after)


@compiled
def _count_ancestors(graph_start, start, previous, most_steps):
    """Count the ancestors of each member: int32[members]; -1 for all members of a graph above `most_steps`."""
    largest = 0
    for g in range(len(graph_start) - 1):
        largest = max(largest, graph_start[g + 1] - graph_start[g])
    rows = np.empty((largest, WORDS), np.uint64)
    counts = np.zeros(len(start) - 1, np.int32)
    for g in range(len(graph_start) - 1):
        first, end = graph_start[g], graph_start[g + 1]
        if _is_chain(start, previous, first, end):
            for m in range(first, end):
                counts[m] = m - first
        elif (end - first) * (start[end] - start[first]) // 128 > most_steps:
            counts[first:end] = -1
        else:
            for block in range(first, end, 64 * WORDS):
                _count_in_block(start, previous, block, end, rows, counts)
    return counts


@inner
def _is_chain(start, previous, first, end):
    """Whether each member of a graph but the first lists the member before it alone, as in a feed."""
    is_chain = True
    for m in range(first + 1, end):
        is_chain = is_chain and start[m + 1] - start[m] == 1 and previous[start[m]] == m - 1
    return is_chain


@inner
def _count_in_block(start, previous, block, end, rows, counts):
    """Add to the counts of a graph the ancestors that are among the 512 members from `block` on."""
    behind = min(block + 64 * WORDS, end)
    words = (behind - block + 63) >> 6
    for m in range(block, end):
        for w in range(words):
            rows[m - block, w] = np.uint64(0)
        for e in range(start[m], start[m + 1]):
            place = previous[e] - block
            if place >= 0:
                for w in range(words):
                    rows[m - block, w] |= rows[place, w]
                if place < behind - block:
                    rows[m - block, place >> 6] |= np.uint64(1) << np.uint64(place & 63)
        for w in range(words):
            counts[m] += popcount(rows[m - block, w])
