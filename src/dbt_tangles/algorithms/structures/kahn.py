"""Nodes after what they follow (A. B. Kahn, Topological sorting of large networks, 1962).

Edges are compressed rows, turned round: `child_start` int64[nodes + 1] into `child` int32[edges], what follows a node
directly.
"""

from __future__ import annotations

from dbt_tangles.algorithms.structures.heap import drop_first, push
from dbt_tangles.kernel_runtime.compiled import inner


@inner
def walk_by_depth(child_start, child, waiting, depth, deepest, queue, head, tail):
    """Walk on from nodes that are ready, first in, first out, and find how deep each is.

    Args:
        child_start: int64[nodes + 1].
        child: int32[edges].
        waiting: int32[nodes], for how many nodes each waits; 0 or less for those that are ready or left out. Used up.
        depth: int32[nodes], of those that are ready; filled for those that become ready.
        deepest: int32[nodes], zeros: the depth of the deepest that a node need not wait for any more. Used up.
        queue: int32[...], those that are ready, from `head` to `tail`; filled further.
        head: Where the queue begins.
        tail: Where it ends.

    Returns:
        Where the queue ends now.
    """
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


@inner
def place_first_ready(nodes, child_start, child, chosen, hidden, waiting, key, heap, order, placed):
    """Put nodes in order, of those that are ready always the first.

    Args:
        nodes: Some of the chosen, all of those that are ready among them.
        child_start: int64[nodes + 1].
        child: int32[edges].
        chosen: bool[nodes]; what is to be placed, or has been.
        hidden: bool[nodes], what takes no place, and lets go at once of what waits for it; None if that is nothing.
        waiting: int32[nodes]; for how many nodes that are not placed each waits. Kept up to date.
        key: What nodes are compared by, as in `heap.is_before`.
        heap: int32[nodes that are placed, or more], scratch.
        order: int32[...], filled from `placed` on.
        placed: Where the order ends.

    Returns:
        Where the order ends now.
    """
    size = 0
    # Hidden nodes that are ready are stacked at the other end of the heap.
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
