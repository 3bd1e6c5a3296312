"""Orders of the members of each graph: by depth and id, and causal with the earliest timestamp first.

Arrays are as in `topological_generations`: the nodes of a graph are contiguous and ascend by id; members have a depth
of 0 or more, and all nodes that a member lists are members.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.kahn import Unplaced, place_first_ready
from dbt_tangles.columns.arrays import runs, starts, sums
from dbt_tangles.kernel_runtime.compiled import compiled


class Dag(NamedTuple):
    """The members of many graphs numbered by graph and position, so that every edge leads to a lower number."""

    graph_start: np.ndarray  # int64[graphs + 1], offsets into the members
    node: np.ndarray  # int32[members], the node of each member
    start: np.ndarray  # int64[members + 1]
    previous: np.ndarray  # int32[edges], numbers of members


def positions(graph_start: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Order the members of each graph by depth, then id.

    Args:
        graph_start: int64[graphs + 1].
        depth: int32[nodes], negative for nodes set aside; less than the number of nodes of the graph.

    Returns:
        int32[nodes], positions from 0; -1 for nodes set aside.

    Raises:
        ValueError: A depth exceeds the longest possible path of its graph.
    """
    sizes = np.diff(graph_start)
    if (depth >= np.repeat(sizes, sizes)).any():
        raise ValueError("a depth exceeds the longest possible path of its graph; compute the depths with generations")
    start, nodes = in_order(graph_start, depth, depth >= 0)
    position = np.full(len(depth), np.int32(-1))
    position[nodes] = np.arange(len(nodes)) - np.repeat(start[:-1], np.diff(start))
    return position


def in_order(graph_start: np.ndarray, number: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort nodes of each graph by a number, then by node.

    Args:
        graph_start: int64[graphs + 1].
        number: int[nodes].
        chosen: bool[nodes]; other nodes are skipped.

    Returns:
        int64[graphs + 1], offsets; int32[chosen], the nodes.
    """
    nodes = np.flatnonzero(chosen)
    graph = np.repeat(np.arange(len(graph_start) - 1), np.diff(graph_start))[nodes]
    order = np.lexsort((number[nodes], graph))
    return starts(sums(chosen, graph_start)), nodes[order].astype(np.int32)


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
    nodes = np.flatnonzero(position >= 0)
    member_start = starts(position >= 0)[graph_start]
    first = np.repeat(member_start[:-1], np.diff(graph_start))
    number = first + position
    node = np.empty(len(nodes), np.int32)
    node[number[nodes]] = nodes
    new_start, edge = runs(start, node)
    listed = previous[edge]
    owner = np.repeat(node, np.diff(new_start))
    if ((position[listed] < 0) | (position[listed] >= position[owner])).any():
        raise ValueError("an edge does not lead to an earlier position of its graph; pass a topological order")
    return Dag(member_start, node, new_start, number[listed].astype(np.int32))
