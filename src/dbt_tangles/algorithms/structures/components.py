"""Strongly connected components by Tarjan's algorithm (Depth-first search, 1972), without recursion."""

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner


@compiled
def strong_components(start, target, chosen):
    """Find the strongly connected components of a graph.

    Args:
        start: int64[nodes + 1], offsets into the edges.
        target: int32[edges], the target of each edge; repeated edges are allowed.
        chosen: bool[nodes]; other nodes, and edges to them, are ignored.

    Returns:
        int32[nodes], the component of each node, -1 for ignored nodes; int32[components], the number of nodes of each.
        Linear in nodes and edges.
    """
    n = len(start) - 1
    nodes = np.count_nonzero(chosen)
    component = np.full(n, np.int32(-1))
    visited_as = np.zeros(n, np.int32)
    low = np.empty(n, np.int32)
    edge = np.empty(n, np.int64)
    unassigned = np.empty(nodes, np.int32)
    path = np.empty(nodes, np.int32)
    size = np.empty(nodes, np.int32)
    waiting = visited = count = 0
    for origin in range(n):
        if not chosen[origin] or visited_as[origin] > 0:
            continue
        path[0] = origin
        length = 1
        while length > 0:
            node = path[length - 1]
            if visited_as[node] == 0:
                visited += 1
                visited_as[node] = low[node] = visited
                edge[node] = start[node]
                unassigned[waiting] = node
                waiting += 1
            descended = False
            while edge[node] < start[node + 1] and not descended:
                t = target[edge[node]]
                if not chosen[t]:
                    edge[node] += 1
                elif visited_as[t] == 0:
                    # On the way back the edge is examined again, to update the low link.
                    path[length] = t
                    length += 1
                    descended = True
                else:
                    if component[t] < 0:
                        low[node] = min(low[node], low[t])
                    edge[node] += 1
            if descended:
                continue
            length -= 1
            if low[node] == visited_as[node]:
                below = _close_component(node, count, component, unassigned, waiting)
                size[count] = waiting - below
                waiting = below
                count += 1
    return component, size[:count].copy()


@inner
def _close_component(node, number, component, unassigned, waiting):
    """Pop the unassigned nodes down to the root of a component, and number them; return the new height of the stack."""
    while component[node] < 0:
        waiting -= 1
        component[unassigned[waiting]] = number
    return waiting


def on_cycles(start: np.ndarray, target: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Mark the nodes from which a path of chosen nodes leads back to the node: bool[nodes].

    Args:
        start: As for `strong_components`.
        target: As for `strong_components`.
        chosen: As for `strong_components`.
    """
    component, size = strong_components(start, target, chosen)
    owner = np.repeat(np.arange(len(chosen)), np.diff(start))
    found = chosen.copy()
    found[chosen] = size[component[chosen]] > 1
    loops = owner[owner == target]
    found[loops] = chosen[loops]
    return found
