"""The search for the first merge that is settled, which asks about no node twice without need.

A node once found to be settled, alone or below a merge, is found so again however much more is settled. A node found
not to be is found so again until something beside it is settled. So a node that fails waits at the first unsettled
node beside it of each indexer, and is not asked about again before one of those is settled.

Merges are searched on levels: on level 0 all of them, on each further level those below the merge that the level
before found. Settled merges are skipped by a forest whose paths are halved (R. Tarjan and J. van Leeuwen, Worst-case
analysis of set union algorithms, 1984).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.confirmation import count_possible_acks, is_confirmed, is_merge
from dbt_tangles.kernel_runtime.compiled import compiled, inner


class WaitLists(NamedTuple):
    """Who waits for a node to be settled: lists, linked through entries, of which each node has one an indexer.

    Attributes:
        head: int64[nodes], -1 or who waits there: a node's place in the view times the indexers, plus an indexer.
        link: int64[nodes of the view * indexers], who else waits there, or -1; -2 for who does not wait.
        failed: bool[nodes]; what was found not to be settled, and waits.
        failed_below: int32[nodes]; the merge below which that was found, or -1.
    """

    head: np.ndarray
    link: np.ndarray
    failed: np.ndarray
    failed_below: np.ndarray


class Merges(NamedTuple):
    """The merges of a view, and how far the search is.

    Attributes:
        node: int32[merges], by depth, then node, some of them settled.
        place: int32[nodes], where each stands among them, -1 for others.
        beyond: int32[merges + 1], see `_next_unsettled`.
        woken: int32[...], merges beside which something was settled since they failed.
        is_kept: bool[merges], all False; scratch.
        level_node: int32[levels], the merge below which is searched; -1 on level 0.
        level_at: int64[levels], the place among the merges up to which they have been asked about.
        level_woken: int64[levels], how many of `woken` need not be asked about again.
        wakes: int64[1], how many are in `woken`.
    """

    node: np.ndarray
    place: np.ndarray
    beyond: np.ndarray
    woken: np.ndarray
    is_kept: np.ndarray
    level_node: np.ndarray
    level_at: np.ndarray
    level_woken: np.ndarray
    wakes: np.ndarray


@compiled
def allocate_merges(most, nodes):
    """Make the arrays of a `Merges`, of which none is listed yet.

    Args:
        most: How many nodes a view has at most.
        nodes: How many nodes all views have.
    """
    return Merges(
        np.empty(most, np.int32),
        np.full(nodes, np.int32(-1)),
        np.empty(most + 1, np.int32),
        np.empty(2 * most, np.int32),
        np.zeros(most, np.bool_),
        np.empty(most + 2, np.int32),
        np.empty(most + 2, np.int64),
        np.empty(most + 2, np.int64),
        np.zeros(1, np.int64),
    )


@inner
def list_merges(graph, view, causal, merges):
    """List the merges that may ever be settled.

    Args:
        graph: A `views.Graph`.
        view: A `views.View`.
        causal: int32[nodes], of `clocks.causal_order`.
        merges: `node`, `place` and `beyond` are filled.

    Returns:
        How many they are.
    """
    majority = len(view.known) // 2 + 1
    count = 0
    for i in range(view.begin, view.end):
        x = np.int64(causal[i])
        a = graph.indexer[x]
        if (
            a >= 0
            and is_merge(x, graph.start, graph.previous, graph.indexer, view)
            and count_possible_acks(x, a, view) >= majority
        ):
            merges.node[count] = x
            merges.place[x] = count
            merges.beyond[count] = count
            count += 1
    merges.beyond[count] = count
    return count


@inner
def wait(x, indexer, view, waiting):
    """Let a node that was found not to be settled wait at the first unsettled node beside it of each indexer.

    Args:
        x: The node.
        indexer: int32[nodes].
        view: A `views.View`.
        waiting: A `WaitLists`.
    """
    first, known, removed, clock = view.first, view.known, view.removed, view.clock
    head, link = waiting.head, waiting.link
    n = len(known)
    a = indexer[x]
    row = clock[x - view.begin]
    for k in range(n):
        beyond = max(np.int64(row[k]), removed[k])
        if beyond < known[k]:
            m = first[k] + beyond
            entry = (x - view.begin) * n + k
            if clock[m - view.begin, a] < row[a] and link[entry] == -2:
                link[entry] = head[m]
                head[m] = entry


@inner
def wake(group, levels, indexer, settled, view, waiting, merges):
    """Wake those that wait at nodes that were settled.

    Args:
        group: int32[...], the nodes.
        levels: How many levels there are.
        indexer: int32[nodes].
        settled: bool[nodes].
        view: A `views.View`.
        waiting: A `WaitLists`.
        merges: A `Merges`.
    """
    head, link, place = waiting.head, waiting.link, merges.place
    n = len(view.known)
    wakes = merges.wakes[0]
    for i in range(len(group)):
        x = group[i]
        if indexer[x] < 0:
            continue
        if place[x] >= 0:
            merges.beyond[place[x]] = place[x] + 1
        entry = head[x]
        head[x] = -1
        while entry >= 0:
            z = view.begin + entry // n
            waiting.failed[z] = False
            waiting.failed_below[z] = -1
            if place[z] >= 0 and not settled[z]:
                if wakes == len(merges.woken):
                    wakes = _compact_woken(merges.woken, wakes, place, levels, merges.level_woken, merges.is_kept)
                merges.woken[wakes] = z
                wakes += 1
            following = link[entry]
            link[entry] = -2
            entry = following
    merges.wakes[0] = wakes


@inner
def find_merge(level, count, indexer, settled, view, waiting, merges, scratch):
    """Find the first merge that is settled, as far as is known or below the merge of a level.

    Args:
        level: The level.
        count: How many merges there are.
        indexer: int32[nodes].
        settled: bool[nodes].
        view: A `views.View`.
        waiting: A `WaitLists`.
        merges: A `Merges`.
        scratch: A `consensus.Scratch`, scratch.

    Returns:
        The merge, or -1.
    """
    begin, clock = view.begin, view.clock
    place, woken, level_at, level_woken = merges.place, merges.woken, merges.level_at, merges.level_woken
    p = merges.level_node[level]
    best = np.int64(-1)
    for i in range(level_woken[level], merges.wakes[0]):
        z = np.int64(woken[i])
        a = indexer[z]
        if (
            not settled[z]
            and place[z] < level_at[level]
            and (p < 0 or (z != p and clock[p - begin, a] >= clock[z - begin, a]))
        ):
            if is_confirmed(z, p, False, indexer, view, scratch):
                if best < 0 or place[z] < place[best]:
                    best = z
                continue
            wait(z, indexer, view, waiting)
        # Those that are found stay behind. For levels above, which have done with less, the order is no matter.
        woken[i] = woken[level_woken[level]]
        woken[level_woken[level]] = z
        level_woken[level] += 1
    if best >= 0:
        return best
    end = count if p < 0 else np.int64(place[p])
    while True:
        at = _next_unsettled(level_at[level], merges.beyond)
        if at >= end:
            level_at[level] = at
            return np.int64(-1)
        level_at[level] = at + 1
        z = np.int64(merges.node[at])
        a = indexer[z]
        if p >= 0 and clock[p - begin, a] < clock[z - begin, a]:
            continue
        if is_confirmed(z, p, False, indexer, view, scratch):
            return z
        wait(z, indexer, view, waiting)


@inner
def _next_unsettled(at, beyond):
    """Find the first place from some place on whose merge is not settled, and shorten the way there."""
    while beyond[at] != at:
        beyond[at] = beyond[beyond[at]]
        at = beyond[at]
    return at


@inner
def _compact_woken(woken, wakes, place, levels, level_woken, is_kept):
    """Forget that merges were woken before they were woken again.

    Args:
        woken: int32[...]; those merges whose place is the same are the same.
        wakes: How many they are.
        place: int32[nodes], where each stands among the merges.
        levels: How many levels there are.
        level_woken: int64[levels], how many of `woken` each has done with, ascending; changed.
        is_kept: bool[merges], all False; scratch.

    Returns:
        How many are left.
    """
    at = len(woken)
    level = levels - 1
    for i in range(wakes - 1, -1, -1):
        while level >= 0 and level_woken[level] > i:
            level_woken[level] = at
            level -= 1
        z = woken[i]
        if not is_kept[place[z]]:
            is_kept[place[z]] = True
            at -= 1
            woken[at] = z
    while level >= 0:
        level_woken[level] = at
        level -= 1
    kept = len(woken) - at
    for i in range(kept):
        woken[i] = woken[at + i]
        is_kept[place[woken[i]]] = False
    for level in range(levels):
        level_woken[level] -= at
    return kept
