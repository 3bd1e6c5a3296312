"""Membership, depth, and why the rest is set aside.

All arrays are per node, nodes of a graph being neighbours (`graph_start` int64[graphs + 1]); edges are compressed
rows (`start` int64[nodes + 1] into `previous` int32[edges]), distinct, and never leave their graph. Nothing here
recurses, and everything is linear in nodes and edges.
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

#: For `levels`, where no depth is known.
NOTHING_KNOWN = np.empty(0, np.int32)


@compiled
def children(start, previous):
    """Turn the edges round.

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
    """Compute who is in and how deep: one sequential pass over all graphs, each node after its last previous.

    A root is in, at depth 0. Another candidate is in when it lists something and all of that is in; its depth is the
    longest path from a root. Without `missing_previous_excludes`, what a candidate lists and is not there does not
    count, and a candidate that then has nothing to wait for is in at depth 0, with or without a root.

    Args:
        graph_start: int64[graphs + 1].
        start: int64[nodes + 1], the edges to previous.
        child_start: int64[nodes + 1], the edges turned round.
        child: int32[edges].
        candidate: bool[nodes].
        root: bool[nodes], candidates all. Several roots in a graph are all in.
        some_missing: bool[nodes].
        known: int32[nodes], the depth of nodes that were found to be members elsewhere, -1 for the rest, or
            `NOTHING_KNOWN`. They are taken as they are (`first_wrong_level` checks them), and the pass goes on from
            there.
        missing_previous_excludes: Whether a missing previous keeps a candidate out.

    Returns:
        int32[nodes], the depth of the members and -1 for the rest.
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
    """Check depths that were computed elsewhere against the definition.

    Each node's own previous are all that is looked at. As depths of members grow by at least one along an edge,
    nothing can support itself, so depths that pass are the ones that `levels` finds.

    Args:
        start: int64[nodes + 1].
        previous: int32[edges].
        candidate: bool[nodes].
        root: bool[nodes].
        none_listed: bool[nodes].
        some_missing: bool[nodes].
        depth: int32[nodes], negative for those set aside.
        missing_previous_excludes: As in `levels`.

    Returns:
        The first node whose depth is not what its previous make it, or -1.
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
    """Say why each node that is not a member is not.

    Args:
        graph_start: int64[graphs + 1].
        start: int64[nodes + 1].
        previous: int32[edges].
        candidate: bool[nodes].
        root: bool[nodes].
        none_listed: bool[nodes].
        some_missing: bool[nodes].
        depth: int32[nodes], negative for those set aside.
        missing_previous_excludes: As in `levels`; without it a missing root, an empty list and a missing previous are
            no reasons.

    Returns:
        int8[nodes], indices into `REASONS`: the first that applies, in that order. A node is in a cycle when a path
        leads from it back to itself, over those left over only.
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
    # A cycle may lead through nodes that have an earlier reason, so they are walked as well.
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
        depth: int32[nodes], negative for those set aside.

    Returns:
        int32[nodes].
    """
    counts = np.zeros(len(depth), np.int32)
    for node in range(len(depth)):
        if depth[node] >= 0:
            for e in range(start[node], start[node + 1]):
                counts[previous[e]] += 1
    return counts
