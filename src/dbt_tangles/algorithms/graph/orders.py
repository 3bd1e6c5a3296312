"""Orders of the members of each graph: by depth and id, and causal with the earliest timestamp first.

Arrays are as in `topological_generations`: the nodes of a graph are contiguous and ascend by id; members have a depth
of 0 or more, and all nodes that a member lists are members.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.kahn import Unplaced, place_first_ready
from dbt_tangles.kernel_runtime.compiled import compiled


class Dag(NamedTuple):
    """The members of many graphs numbered by graph and position, so that every edge leads to a lower number."""

    graph_start: np.ndarray  # int64[graphs + 1], offsets into the members
    node: np.ndarray  # int32[members], the node of each member
    start: np.ndarray  # int64[members + 1]
    previous: np.ndarray  # int32[edges], numbers of members


@compiled
def positions(graph_start, depth):
    """Order the members of each graph by depth, then id: a counting sort.

    Args:
        graph_start: int64[graphs + 1].
        depth: int32[nodes], negative for nodes set aside; less than the number of nodes of the graph.

    Returns:
        int32[nodes], positions from 0; -1 for nodes set aside.

    Raises:
        ValueError: A depth exceeds the longest possible path of its graph.
    """
    n = len(depth)
    position = np.full(n, np.int32(-1))
    begin = np.zeros(n + 1, np.int32)
    for g in range(len(graph_start) - 1):
        first, end = graph_start[g], graph_start[g + 1]
        begin[: end - first + 1] = 0
        for node in range(first, end):
            if depth[node] >= end - first:
                raise ValueError(
                    "a depth exceeds the longest possible path of its graph; compute the depths with generations"
                )
            if depth[node] >= 0:
                begin[depth[node] + 1] += 1
        for d in range(end - first):
            begin[d + 1] += begin[d]
        for node in range(first, end):
            if depth[node] >= 0:
                position[node] = begin[depth[node]]
                begin[depth[node]] += 1
    return position


def in_order(graph_start: np.ndarray, number: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort nodes of each graph by a number, then by node.

    Args:
        graph_start: int64[graphs + 1].
        number: int64[nodes].
        chosen: bool[nodes]; other nodes are skipped.

    Returns:
        int64[graphs + 1], offsets; int32[chosen], the nodes.
    """
    return _in_order(graph_start, np.argsort(number, kind="stable"), chosen)


@compiled
def _in_order(graph_start, by_number, chosen):
    graphs = len(graph_start) - 1
    graph = np.empty(len(chosen), np.int32)
    start = np.zeros(graphs + 1, np.int64)
    for g in range(graphs):
        start[g + 1] = start[g]
        for node in range(graph_start[g], graph_start[g + 1]):
            graph[node] = g
            if chosen[node]:
                start[g + 1] += 1
    fill = start[:-1].copy()
    nodes = np.empty(start[-1], np.int32)
    for node in by_number:
        if chosen[node]:
            nodes[fill[graph[node]]] = node
            fill[graph[node]] += 1
    return start, nodes


def time_keys(asserted: np.ndarray, received: np.ndarray) -> np.ndarray:
    """Encode the earlier of two timestamps as an integer of the same order.

    Args:
        asserted: float64[rows]; NaN if absent.
        received: float64[rows]; NaN if absent.

    Returns:
        uint64[rows]; the maximum where both are absent.
    """
    earliest = np.fmin(asserted, received) + 0.0  # Minus zero becomes zero.
    bits = earliest.view(np.uint64)
    sign = np.uint64(1 << 63)
    keys = np.where(bits & sign, ~bits, bits | sign)
    keys[np.isnan(earliest)] = np.iinfo(np.uint64).max
    return keys


@compiled
def thread_positions(graph_start, start, child_start, child, depth, time):
    """Order the members of each graph topologically, the earliest ready member first.

    Args:
        graph_start: int64[graphs + 1].
        start: int64[nodes + 1], the edges to previous.
        child_start: int64[nodes + 1], the reversed edges.
        child: int32[edges].
        depth: int32[nodes], negative for nodes set aside.
        time: uint64[nodes]; ties are broken by node, that is by id.

    Returns:
        int32[nodes], positions from 0; -1 for nodes set aside.
    """
    n = len(depth)
    position = np.full(n, np.int32(-1))
    is_member = depth >= 0
    waiting = np.empty(n, np.int32)
    for node in range(n):
        waiting[node] = start[node + 1] - start[node]
    unplaced = Unplaced(child_start, child, is_member, waiting, np.empty(n, np.int32))
    order = np.empty(n, np.int32)
    for g in range(len(graph_start) - 1):
        nodes = range(graph_start[g], graph_start[g + 1])
        count = place_first_ready(nodes, unplaced, None, time, order, 0)
        for i in range(count):
            position[order[i]] = i
    return position


def renumber(graph_start: np.ndarray, start: np.ndarray, previous: np.ndarray, position: np.ndarray) -> Dag:
    """Number the members of all graphs by graph, then position.

    Args:
        graph_start: int64[graphs + 1].
        start: int64[nodes + 1].
        previous: int32[edges].
        position: int32[nodes]; -1 for nodes set aside.

    Returns:
        The members; each keeps the order of its edges.

    Raises:
        ValueError: An edge does not lead to an earlier position.
    """
    return Dag(*_renumber(graph_start, start, previous, position))


@compiled
def _renumber(graph_start, start, previous, position):
    graphs = len(graph_start) - 1
    members = np.zeros(graphs + 1, np.int64)
    edges = 0
    for g in range(graphs):
        members[g + 1] = members[g]
        for n in range(graph_start[g], graph_start[g + 1]):
            if position[n] >= 0:
                members[g + 1] += 1
                edges += start[n + 1] - start[n]
    node = np.empty(members[graphs], np.int32)
    for g in range(graphs):
        for n in range(graph_start[g], graph_start[g + 1]):
            if position[n] >= 0:
                node[members[g] + position[n]] = n
    new_start = np.zeros(len(node) + 1, np.int64)
    new_previous = np.empty(edges, np.int32)
    count = 0
    for g in range(graphs):
        for k in range(members[g], members[g + 1]):
            n = node[k]
            for e in range(start[n], start[n + 1]):
                p = position[previous[e]]
                if p < 0 or p >= position[n]:
                    raise ValueError(
                        "an edge does not lead to an earlier position of its graph; pass a topological order"
                    )
                new_previous[count] = members[g] + p
                count += 1
            new_start[k + 1] = count
    return members, node, new_start, new_previous
