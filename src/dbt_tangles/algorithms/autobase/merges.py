"""The search for the first confirmed merge, with wait lists that avoid repeated tests.

A node that is confirmed, alone or under a merge, stays so when more is settled. A node that is not confirmed stays so
until an unsettled node beside it is settled. So a failed node waits at the first unsettled node beside it of each
indexer, and is tested again after one of those is settled.

Merges are searched on levels: on level 0 all of them, on each further level those below the merge found on the level
before. Settled merges are skipped by path halving (R. Tarjan and J. van Leeuwen, Worst-case analysis of set union
algorithms, 1984).

Source: autobase 7.28.1, merges of the linearizer.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.confirmation import count_possible_acks, is_confirmed, is_merge
from dbt_tangles.kernel_runtime.compiled import compiled, inner


class WaitLists(NamedTuple):
    """The nodes that wait for a node to be settled: linked lists with one entry per node and indexer.

    Attributes:
        head: int64[nodes], the first entry, or -1. An entry is a node's place in the view times the indexers, plus an
            indexer.
        link: int64[nodes of the view * indexers], the next entry, or -1; -2 for an entry that does not wait.
        failed: bool[nodes], whether the node was found unconfirmed and waits.
        failed_below: int32[nodes], the merge under which the node was found unconfirmed, or -1.
    """

    head: np.ndarray
    link: np.ndarray
    failed: np.ndarray
    failed_below: np.ndarray


class Merges(NamedTuple):
    """The merges of a view, and the state of the search."""

    node: np.ndarray  # int32[merges], by depth, then node; some of them settled
    place: np.ndarray  # int32[nodes], the place of each among the merges, or -1
    beyond: np.ndarray  # int32[merges + 1], see `_next_unsettled`
    woken: np.ndarray  # int32[...], the merges beside which a node was settled since they failed
    is_kept: np.ndarray  # bool[merges], all False; scratch
    level_node: np.ndarray  # int32[levels], the merge below which a level searches; -1 on level 0
    level_at: np.ndarray  # int64[levels], the place among the merges up to which a level has tested them
    level_woken: np.ndarray  # int64[levels], how many of `woken` a level has tested
    wakes: np.ndarray  # int64[1], the length of `woken`


@compiled
def allocate_merges(most, nodes):
    """Allocate empty `Merges`.

    Args:
        most: The number of nodes of the largest view.
        nodes: The number of nodes of all views.
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
    """List the merges that can be confirmed."""
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
    """Let an unconfirmed node wait at the first unsettled node beside it of each indexer."""
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
def wake(group, levels, search):
    """Wake the nodes that wait at settled nodes."""
    indexer, settled, view, waiting, merges, _ = search
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
def find_merge(level, count, search):
    """Find the first confirmed merge, by all known nodes or under the merge of a level."""
    indexer, settled, view, waiting, merges, scratch = search
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
        # Confirmed merges stay in the list. Their order does not matter to higher levels, which have tested fewer of
        # them.
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
    """Find the first place from some place on whose merge is unsettled, and halve the path to it."""
    while beyond[at] != at:
        beyond[at] = beyond[beyond[at]]
        at = beyond[at]
    return at


@inner
def _compact_woken(woken, wakes, place, levels, level_woken, is_kept):
    """Keep only the last occurrence of each woken merge."""
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
