"""Topological generations: membership and depth of nodes, and the reason why a node is set aside.

All arrays are per node, and the nodes of a graph are contiguous (`graph_start` int64[graphs + 1]). Edges are compressed
rows (`start` int64[nodes + 1] into `previous` int32[edges]), distinct, and stay within a graph. The kernels are
iterative and linear in nodes and edges.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.components import on_cycles
from dbt_tangles.algorithms.structures.kahn import extend_depths
from dbt_tangles.columns.arrays import sums
from dbt_tangles.columns.links import Links
from dbt_tangles.kernel_runtime.compiled import compiled

MEMBER, CLAIM_ERROR, MISSING_ROOT, EMPTY_PREVIOUS, MISSING_PREVIOUS, CYCLE, PREVIOUS_SET_ASIDE = range(7)
REASONS = (
    None,
    "claim_error",
    "missing_root",
    "empty_previous",
    "missing_previous",
    "cycle",
    "previous_set_aside",
)


class Children(NamedTuple):
    """The reversed edges of many graphs."""

    start: np.ndarray  # int64[nodes + 1], offsets into `child`
    child: np.ndarray  # int32[edges]; the children of a node ascend


class Candidates(NamedTuple):
    """The nodes of many graphs and their claims."""

    graph_start: np.ndarray  # int64[graphs + 1]
    is_candidate: np.ndarray  # bool[nodes]; other nodes have a claim error
    is_root: np.ndarray  # bool[nodes], all candidates. Every root of a graph is a member
    links: Links  # The edges


@compiled
def children(start, previous):
    """Reverse the edges.

    Args:
        start: int64[nodes + 1].
        previous: int32[edges].

    Returns:
        The children of each node.
    """
    n = len(start) - 1
    child_start = np.zeros(n + 1, np.int64)
    for e in range(len(previous)):
        child_start[previous[e] + 1] += 1
    for node in range(n):
        child_start[node + 1] += child_start[node]
    fill = child_start[:-1].copy()
    child = np.empty(len(previous), np.int32)
    for node in range(n):
        for e in range(start[node], start[node + 1]):
            p = previous[e]
            child[fill[p]] = node
            fill[p] += 1
    return Children(child_start, child)


def generations(graph_start: np.ndarray, start: np.ndarray, children: Children) -> np.ndarray:
    """Compute the topological generation of each node: the longest path from a node without previous.

    Args:
        graph_start: int64[graphs + 1].
        start: int64[nodes + 1], the edges to previous.
        children: The reversed edges.

    Returns:
        int32[nodes]; -1 for nodes on a cycle and their descendants.
    """
    every = np.ones(len(start) - 1, np.bool_)
    links = Links(start, children.child, ~every, ~every)  # only the number of edges of a node counts here
    return member_depths(Candidates(graph_start, every, ~every, links), children, False)


@compiled
def member_depths(candidates, children, missing_previous_excludes):
    """Compute membership and depth in one pass over all graphs, each node after its last previous (Kahn).

    A root is a member at depth 0. Another candidate is a member if its list is not empty and all listed nodes are
    members; its depth is the longest path from a root. Without `missing_previous_excludes`, listed ids that are missing
    are ignored, and a candidate without any listed node is a member at depth 0, with or without a root.

    Args:
        candidates: The nodes and their edges.
        children: The reversed edges.
        missing_previous_excludes: Whether a missing previous keeps a candidate out.

    Returns:
        int32[nodes], the depth of members and -1 for the rest.
    """
    graph_start, is_candidate, is_root = candidates.graph_start, candidates.is_candidate, candidates.is_root
    start, some_missing = candidates.links.start, candidates.links.some_missing
    n = len(is_candidate)
    depth = np.full(n, np.int32(-1))
    deepest = np.zeros(n, np.int32)
    waiting = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    for g in range(len(graph_start) - 1):
        head = graph_start[g]
        tail = head
        for node in range(graph_start[g], graph_start[g + 1]):
            waiting[node] = start[node + 1] - start[node]
            if not is_candidate[node]:
                waiting[node] = -1
            elif is_root[node] or (waiting[node] == 0 and not missing_previous_excludes):
                depth[node] = 0
                queue[tail] = node
                tail += 1
            elif missing_previous_excludes and some_missing[node]:
                waiting[node] = -1
        extend_depths(children, waiting, depth, deepest, queue, head, tail)
    return depth


def set_aside_codes(candidates: Candidates, depth: np.ndarray, missing_previous_excludes: bool) -> np.ndarray:
    """Find the reason why each node that is not a member is set aside.

    Args:
        candidates: The nodes and their edges.
        depth: int32[nodes], negative for nodes set aside.
        missing_previous_excludes: As in `member_depths`; if false, a missing root, an empty list and a missing previous
            are allowed.

    Returns:
        int8[nodes], indices into `REASONS`: the first that applies, in that order. A node is on a cycle if a path
        through nodes set aside leads from it back to itself; nodes with an earlier reason keep theirs.
    """
    links, sizes = candidates.links, np.diff(candidates.graph_start)
    has_root = np.repeat(sums(candidates.is_root, candidates.graph_start) > 0, sizes)
    is_aside = candidates.is_candidate & (depth < 0)
    codes = np.where(is_aside, PREVIOUS_SET_ASIDE, np.where(candidates.is_candidate, MEMBER, CLAIM_ERROR))
    if missing_previous_excludes:
        codes[is_aside & links.some_missing] = MISSING_PREVIOUS
        codes[is_aside & links.none_listed] = EMPTY_PREVIOUS
        codes[is_aside & ~has_root] = MISSING_ROOT
    if (codes >= MISSING_PREVIOUS).any():
        is_cyclic = on_cycles(links.start, links.previous, codes >= MISSING_PREVIOUS)
        codes[is_cyclic & (codes == PREVIOUS_SET_ASIDE)] = CYCLE
    return codes.astype(np.int8)


def child_counts(start: np.ndarray, previous: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Count the members that list each node.

    Args:
        start: int64[nodes + 1].
        previous: int32[edges].
        depth: int32[nodes], negative for nodes set aside.

    Returns:
        int32[nodes].
    """
    is_of_member = np.repeat(depth >= 0, np.diff(start))
    return np.bincount(previous[is_of_member], minlength=len(depth)).astype(np.int32)
