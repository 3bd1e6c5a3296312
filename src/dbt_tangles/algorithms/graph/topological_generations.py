"""Topological generations: membership and depth of nodes, and the reason why a node is set aside.

All arrays are per node, and the nodes of a graph are contiguous (`graph_start` int64[graphs + 1]). Edges are compressed
rows (`start` int64[nodes + 1] into `previous` int32[edges]), distinct, and stay within a graph. The kernels are
iterative and linear in nodes and edges.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.algorithms.structures.components import strong_components
from dbt_tangles.algorithms.structures.kahn import walk_by_depth
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

#: Argument of `levels` if no depths are known.
NOTHING_KNOWN = np.empty(0, np.int32)


@compiled
def children(start, previous):
    """Reverse the edges.

    Args:
        start: int64[nodes + 1].
        previous: int32[edges].

    Returns:
        `child_start` int64[nodes + 1] and `child` int32[edges]; the children of a node ascend.
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
    return child_start, child


@compiled
def levels(
    graph_start,
    start,
    child_start,
    child,
    candidate,
    root,
    some_missing,
    known,
    missing_previous_excludes,
):
    """Compute membership and depth in one pass over all graphs, each node after its last previous (Kahn).

    A root is a member at depth 0. Another candidate is a member if its list is not empty and all listed nodes are
    members; its depth is the longest path from a root. Without `missing_previous_excludes`, listed ids that are missing
    are ignored, and a candidate without any listed node is a member at depth 0, with or without a root.

    Args:
        graph_start: int64[graphs + 1].
        start: int64[nodes + 1], the edges to previous.
        child_start: int64[nodes + 1], the reversed edges.
        child: int32[edges].
        candidate: bool[nodes].
        root: bool[nodes], all candidates. Every root of a graph is a member.
        some_missing: bool[nodes].
        known: int32[nodes], depths of members computed earlier, -1 for the rest, or `NOTHING_KNOWN`. The pass starts
            from these depths; `first_wrong_level` checks them.
        missing_previous_excludes: Whether a missing previous keeps a candidate out.

    Returns:
        int32[nodes], the depth of members and -1 for the rest.
    """
    n = len(candidate)
    depth = np.full(n, np.int32(-1))
    deepest = np.zeros(n, np.int32)
    waiting = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    for g in range(len(graph_start) - 1):
        head = graph_start[g]
        tail = head
        for node in range(graph_start[g], graph_start[g + 1]):
            waiting[node] = start[node + 1] - start[node]
            if not candidate[node]:
                waiting[node] = -1
            elif len(known) > 0 and known[node] >= 0:
                depth[node] = known[node]
                waiting[node] = -1
                queue[tail] = node
                tail += 1
            elif root[node] or (waiting[node] == 0 and not missing_previous_excludes):
                depth[node] = 0
                queue[tail] = node
                tail += 1
            elif missing_previous_excludes and some_missing[node]:
                waiting[node] = -1
        walk_by_depth(child_start, child, waiting, depth, deepest, queue, head, tail)
    return depth


@compiled
def first_wrong_level(start, previous, candidate, root, none_listed, some_missing, depth, missing_previous_excludes):
    """Check depths computed elsewhere against the definition.

    Each node is compared with its own previous. Depths of members grow by at least one along an edge, so a chain of
    wrong depths cannot confirm itself, and depths that pass are those of `levels`.

    Args:
        start: int64[nodes + 1].
        previous: int32[edges].
        candidate: bool[nodes].
        root: bool[nodes].
        none_listed: bool[nodes].
        some_missing: bool[nodes].
        depth: int32[nodes], negative for nodes set aside.
        missing_previous_excludes: As in `levels`.

    Returns:
        The first node whose depth contradicts its previous, or -1.
    """
    for node in range(len(candidate)):
        expected = 0
        if not candidate[node]:
            expected = -1
        elif not root[node]:
            if missing_previous_excludes and (none_listed[node] or some_missing[node]):
                expected = -1
            else:
                for e in range(start[node], start[node + 1]):
                    below = depth[previous[e]]
                    if below < 0:
                        expected = -1
                        break
                    expected = max(expected, below + 1)
        if max(depth[node], -1) != expected:
            return node
    return -1


@compiled
def set_aside_codes(
    graph_start,
    start,
    previous,
    candidate,
    root,
    none_listed,
    some_missing,
    depth,
    missing_previous_excludes,
):
    """Find the reason why each node that is not a member is set aside.

    Args:
        graph_start: int64[graphs + 1].
        start: int64[nodes + 1].
        previous: int32[edges].
        candidate: bool[nodes].
        root: bool[nodes].
        none_listed: bool[nodes].
        some_missing: bool[nodes].
        depth: int32[nodes], negative for nodes set aside.
        missing_previous_excludes: As in `levels`; if false, a missing root, an empty list and a missing previous are
            allowed.

    Returns:
        int8[nodes], indices into `REASONS`: the first that applies, in that order. A node is on a cycle if a path
        through nodes set aside leads from it back to itself.
    """
    n = len(candidate)
    codes = np.zeros(n, np.int8)
    left_over = 0
    for g in range(len(graph_start) - 1):
        has_root = not missing_previous_excludes
        for node in range(graph_start[g], graph_start[g + 1]):
            has_root |= root[node]
        for node in range(graph_start[g], graph_start[g + 1]):
            if not candidate[node]:
                codes[node] = CLAIM_ERROR
            elif depth[node] < 0:
                if not has_root:
                    codes[node] = MISSING_ROOT
                elif missing_previous_excludes and none_listed[node]:
                    codes[node] = EMPTY_PREVIOUS
                elif missing_previous_excludes and some_missing[node]:
                    codes[node] = MISSING_PREVIOUS
                    left_over += 1
                else:
                    codes[node] = PREVIOUS_SET_ASIDE
                    left_over += 1
    if left_over == 0:
        return codes
    # A cycle may pass through nodes with an earlier reason, so the search includes these.
    component, size = strong_components(start, previous, codes >= MISSING_PREVIOUS)
    for node in range(n):
        if codes[node] == PREVIOUS_SET_ASIDE:
            is_in_cycle = size[component[node]] > 1
            for e in range(start[node], start[node + 1]):
                is_in_cycle |= previous[e] == node
            if is_in_cycle:
                codes[node] = CYCLE
    return codes


@compiled
def child_counts(start, previous, depth):
    """Count the members that list each node.

    Args:
        start: int64[nodes + 1].
        previous: int32[edges].
        depth: int32[nodes], negative for nodes set aside.

    Returns:
        int32[nodes].
    """
    counts = np.zeros(len(depth), np.int32)
    for node in range(len(depth)):
        if depth[node] >= 0:
            for e in range(start[node], start[node + 1]):
                counts[previous[e]] += 1
    return counts
