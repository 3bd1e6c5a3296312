"""Schedules confirmation tests of merges: a merge is tested again after a node arrived that may confirm it.

An unconfirmed merge waits for these nodes: of each indexer the first node that it does not see, and the next node as
long as the last one sees no unsettled node beside the merge.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.confirmation import count_possible_acks, is_confirmed
from dbt_tangles.algorithms.autobase.tails import list_tails
from dbt_tangles.kernel_runtime.compiled import inner


class AwaitedNodes(NamedTuple):
    """The merges that wait for nodes to arrive: linked lists as in `merges.WaitLists`."""

    head: np.ndarray  # int64[nodes]
    link: np.ndarray  # int64[nodes of the base * indexers]
    due: np.ndarray  # int32[nodes of the base], the merges to test
    is_due: np.ndarray  # bool[nodes], whether a merge is in `due`


@inner
def await_nodes(x, indexer, view, base_known, scratch, awaited):
    """Let an unconfirmed merge wait for the nodes that could confirm it."""
    begin, first, known, removed, clock = view.begin, view.first, view.known, view.removed, view.clock
    n = len(known)
    a = np.int64(indexer[x])
    row = clock[x - begin]
    possible = count_possible_acks(x, a, view)
    missing = 0
    for k in range(n):
        if k != a and known[k] <= row[k]:
            missing += 1
    if possible + missing < n // 2 + 1:
        return
    for k in range(n):
        is_open = k != a and known[k] <= row[k]
        if not is_open and possible >= n // 2 + 1:
            at = np.int64(row[k]) if k == a else max(np.int64(row[k]), removed[k])
            is_open = known[k] <= at
            if not is_open:
                last = clock[first[k] + known[k] - 1 - begin]
                j = 0
                while j < n and last[j] <= scratch.limit[j]:
                    j += 1
                is_open = j == n and last[a] >= row[a]
        entry = (x - begin) * n + k
        if is_open and known[k] < base_known[k] and awaited.link[entry] == -2:
            m = first[k] + known[k]
            awaited.link[entry] = awaited.head[m]
            awaited.head[m] = entry


@inner
def confirm_any(due_count, indexer, view, base_known, awaited, scratch):
    """Test whether a tail or a due merge is confirmed; unconfirmed merges wait again."""
    is_found = False
    if len(view.known) == 0:
        return is_found, 0
    tail_count = list_tails(view, scratch.tails)
    for i in range(tail_count):
        if not is_found:
            t = np.int64(scratch.tails.node[i])
            is_found = is_confirmed(t, np.int64(-1), tail_count == 1, indexer, view, scratch)
    due = 0
    for i in range(due_count):
        z = np.int64(awaited.due[i])
        awaited.is_due[z] = False
        if not is_found:
            due += 1
            is_found = is_confirmed(z, np.int64(-1), False, indexer, view, scratch)
            if not is_found:
                await_nodes(z, indexer, view, base_known, scratch, awaited)
    return is_found, due


@inner
def await_again(window, base_graph, settled, view, base_known, awaited, scratch):
    """Let the merges that are still unconfirmed wait."""
    count = 0
    for place in window:
        z = np.int64(base_graph.causal[place])
        if base_graph.merging[z] and not settled[z]:
            count += 1
            is_confirmed(z, np.int64(-1), False, base_graph.graph.indexer, view, scratch)
            await_nodes(z, base_graph.graph.indexer, view, base_known, scratch, awaited)
    return count
