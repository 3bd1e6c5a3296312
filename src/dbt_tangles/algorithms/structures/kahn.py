"""Topological sorting by Kahn's algorithm (A. B. Kahn, Topological sorting of large networks, 1962).

Edges are compressed rows in the direction of the order: `child_start` int64[nodes + 1] into `child` int32[edges], the
direct successors of each node.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.heap import drop_first, push
from dbt_tangles.kernel_runtime.compiled import inner


@inner
def extend_depths(children, waiting, depth, deepest, queue, head, tail):
    """Continue a breadth-first Kahn pass from ready nodes and compute the depth of each node reached."""
    child_start, child = children.start, children.child
    while head < tail:
        node = queue[head]
        head += 1
        for e in range(child_start[node], child_start[node + 1]):
            c = child[e]
            if waiting[c] > 0:
                waiting[c] -= 1
                deepest[c] = max(deepest[c], depth[node])
                if waiting[c] == 0:
                    depth[c] = deepest[c] + 1
                    queue[tail] = c
                    tail += 1
    return tail


class Unplaced(NamedTuple):
    """The nodes to place in an order."""

    child_start: np.ndarray  # int64[nodes + 1]
    child: np.ndarray  # int32[edges]
    chosen: np.ndarray  # bool[nodes], the nodes to place or already placed
    waiting: np.ndarray  # int32[nodes], unplaced predecessors of each node. Updated
    heap: np.ndarray  # int32[number of placed nodes, or more], scratch


@inner
def place_first_ready(nodes, unplaced, hidden, key, order, placed):
    """Append nodes to a topological order, the first ready node by key each time."""
    child_start, child, chosen, waiting, heap = unplaced
    size = np.int64(0)
    # The free end of the heap array holds a stack of ready hidden nodes.
    stacked = len(heap)
    for x in nodes:
        if waiting[x] == 0 and chosen[x]:
            if hidden is not None and hidden[x]:
                stacked -= 1
                heap[stacked] = x
            else:
                size = push(heap, size, x, key)
    while size > 0 or stacked < len(heap):
        if stacked < len(heap):
            node = heap[stacked]
            stacked += 1
        else:
            node = heap[0]
            size = drop_first(heap, size, key)
            order[placed] = node
            placed += 1
        for e in range(child_start[node], child_start[node + 1]):
            c = child[e]
            waiting[c] -= 1
            if waiting[c] == 0 and chosen[c]:
                if hidden is not None and hidden[c]:
                    stacked -= 1
                    heap[stacked] = c
                else:
                    size = push(heap, size, c, key)
    return placed
