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
    """Continue a breadth-first Kahn pass from ready nodes and compute the depth of each node reached.

    Args:
        children: The direct successors, a `topological_generations.Children`.
        waiting: int32[nodes], unprocessed predecessors of each node; 0 or less for ready and excluded nodes.
            Overwritten.
        depth: int32[nodes], set for the ready nodes; written for the nodes reached.
        deepest: int32[nodes], zeros: the greatest depth among the processed predecessors. Overwritten.
        queue: int32[...], the ready nodes from `head` to `tail`; extended.
        head: Start of the queue.
        tail: End of the queue.

    Returns:
        The new end of the queue.
    """
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
    """The nodes to place in an order.

    Attributes:
        child_start: int64[nodes + 1].
        child: int32[edges].
        chosen: bool[nodes], the nodes to place or already placed.
        waiting: int32[nodes], unplaced predecessors of each node. Updated.
        heap: int32[number of placed nodes, or more], scratch.
    """

    child_start: np.ndarray
    child: np.ndarray
    chosen: np.ndarray
    waiting: np.ndarray
    heap: np.ndarray


@inner
def place_first_ready(nodes, unplaced, hidden, key, order, placed):
    """Append nodes to a topological order, the first ready node by key each time.

    Args:
        nodes: Chosen nodes, including all ready ones.
        unplaced: The nodes to place, an `Unplaced`.
        hidden: bool[nodes], nodes that are skipped in the order and release their successors at once; None if all are
            shown.
        key: The sort key, as in `heap.is_before`.
        order: int32[...], written from `placed` on.
        placed: Length of the order before the call.

    Returns:
        The new length of the order.
    """
    child_start, child, chosen, waiting, heap = unplaced
    size = 0
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
