"""The order of a base, as each of many observers knows it, and how much of that order is settled.

A view is a base as one observer knows it, see `views`. What a node knows of each indexer is its clock. All questions of
the rule are about clocks:

* an indexer's nodes between what a node has seen and what is settled are known to lie beside it, so one clock entry
  says whether another node has seen any of those;
* the nodes of an indexer that speak for a target (they see it, and nothing unsettled beside it) follow each other
  without a gap and begin with the first one that could, so the last of them is found by leaps.

Which of them are settled `confirmation` says, and `merges` saves asking it. Memory is linear in nodes times indexers.

Which of several merges is looked below is no matter nearly always, but not quite always. Here it is the first by depth,
writer and length; and below it is gone on until it is settled itself, whatever else could be looked below meanwhile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import causal_order, clocks, depths, fill_clocks
from dbt_tangles.algorithms.autobase.confirmation import is_confirmed
from dbt_tangles.algorithms.autobase.merges import WaitLists, allocate_merges, find_merge, list_merges, wait, wake
from dbt_tangles.algorithms.autobase.settling import settle_group
from dbt_tangles.algorithms.autobase.tails import Tails, list_tails, update_tails
from dbt_tangles.algorithms.autobase.views import Graph, View, check_views, find_logs
from dbt_tangles.algorithms.graph.topological_generations import children
from dbt_tangles.algorithms.structures.kahn import place_first_ready
from dbt_tangles.kernel_runtime.compiled import compiled, inner

__all__ = ["clocks", "order_views"]


def order_views(
    view_start: np.ndarray,
    start: np.ndarray,
    previous: np.ndarray,
    writer: np.ndarray,
    length: np.ndarray,
    batch: np.ndarray,
    indexer: np.ndarray,
    is_relayed: np.ndarray,
    floor_start: np.ndarray,
    floor: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Order the nodes of many views.

    A settled part comes first, in groups as they were settled; each group, and what is not settled, is ordered
    causally, of the nodes that are ready always the first by writer and length. What is settled is so together with
    all it follows and with its batch, as far as that is known. A relayed node is in the order only if it is settled;
    others still come after what they follow through it.

    Source: autobase 7.28.1. Relayed writers: the design document, Writer Roles.

    Args:
        view_start: int64[views + 1], into the nodes.
        start: int64[nodes + 1], into the edges.
        previous: int32[edges], nodes of the same view, distinct, without a cycle.
        writer: int32[nodes], the rank of the writer's key within the view. Nodes ascend by it, then by length.
        length: int64[nodes]; the place in the writer's log, from 1. An indexer's ascend from its floor + 1 by 1.
        batch: int32[nodes]; how many nodes of the batch are left, this one included.
        indexer: int32[nodes]; the number of the writer among the view's indexers, or -1.
        is_relayed: bool[nodes]; none of them an indexer's.
        floor_start: int64[views + 1], into the floors; as many as a view has indexers.
        floor: int64[...]; the length of each indexer's log that was settled before.

    Returns:
        `order` int32[nodes], those of each view from its start, and -1 behind them; how many those are, int64[views];
        and how many of them are settled, int64[views].

    Raises:
        ValueError: Arrays do not fit together; edges leave a view or close a cycle; an indexer has a second log, one
            with a hole, one that is not above its floor, or one whose nodes do not follow each other; or an indexer's
            nodes are relayed.
    """
    nodes = len(writer)
    if view_start[0] != 0 or view_start[-1] != nodes or len(start) != nodes + 1 or start[-1] != len(previous):
        raise ValueError("views, nodes and edges do not fit together")
    if any(len(column) != nodes for column in (length, batch, indexer, is_relayed)):
        raise ValueError("columns are not of the same nodes")
    if len(floor_start) != len(view_start) or floor_start[-1] != len(floor):
        raise ValueError("the floors are not those of the views")
    check_views(view_start, start, previous, writer, length, indexer, is_relayed, floor_start, floor)
    graph = Graph(start, previous, *children(start, previous), writer, batch, indexer)
    causal = causal_order(view_start, depths(view_start, start, previous))
    return _order_views(view_start, graph, is_relayed, floor_start, causal)


class Scratch(NamedTuple):
    """Room for what one view needs.

    Attributes:
        limit: int32[indexers], of `confirmation`, like the next two.
        limited: int32[indexers].
        ack: int32[indexers].
        tails: A `tails.Tails`.
        group: int32[nodes of the view].
        heap: int32[nodes of the view].
    """

    limit: np.ndarray
    limited: np.ndarray
    ack: np.ndarray
    tails: Tails
    group: np.ndarray
    heap: np.ndarray


@compiled
def allocate_scratch(indexers, group, heap):
    """Make a `Scratch`.

    Args:
        indexers: How many the view has.
        group: int32[nodes of the view].
        heap: int32[nodes of the view].
    """
    rows = np.empty((7, indexers), np.int32)
    return Scratch(rows[0], rows[1], rows[2], Tails(rows[3], rows[4], rows[5], rows[6]), group, heap)


@inner
def _find_tail(tails, indexer, view, waiting, scratch):
    """Find the first tail that is settled as far as is known, or -1."""
    for t in tails:
        if waiting.failed[t]:
            continue
        if is_confirmed(np.int64(t), np.int64(-1), len(tails) == 1, indexer, view, scratch):
            return np.int64(t)
        waiting.failed[t] = True
        wait(np.int64(t), indexer, view, waiting)
    return np.int64(-1)


@inner
def _find_tail_below(p, tails, indexer, view, waiting, scratch):
    """Find the first tail that is a merge, or is settled below it, or -1."""
    begin, clock = view.begin, view.clock
    for t in tails:
        if t == p:
            return np.int64(t)
        a = indexer[t]
        if clock[p - begin, a] < clock[t - begin, a] or waiting.failed_below[t] == p:
            continue
        if is_confirmed(np.int64(t), p, len(tails) == 1, indexer, view, scratch):
            return np.int64(t)
        waiting.failed_below[t] = p
        wait(np.int64(t), indexer, view, waiting)
    return np.int64(-1)


@inner
def find_group(tails, levels, merge_count, indexer, settled, view, waiting, merges, scratch):
    """Find what is settled next: a tail; else a tail below a merge; else all tails below the last merge.

    Args:
        tails: int32[tails].
        levels: How many levels of the search there are.
        merge_count: How many merges there are.
        indexer: int32[nodes].
        settled: bool[nodes].
        view: A `views.View`.
        waiting: A `merges.WaitLists`.
        merges: A `merges.Merges`.
        scratch: A `Scratch`, scratch; `group` is filled.

    Returns:
        How many are in the group, and how many levels there are now.
    """
    group = scratch.group
    t = _find_tail(tails, indexer, view, waiting, scratch)
    level = 1
    while t < 0:
        if level == levels:
            z = find_merge(level - 1, merge_count, indexer, settled, view, waiting, merges, scratch)
            if z < 0:
                break
            merges.level_node[levels] = z
            merges.level_at[levels] = 0
            merges.level_woken[levels] = merges.wakes[0]
            levels += 1
        t = _find_tail_below(np.int64(merges.level_node[level]), tails, indexer, view, waiting, scratch)
        level += 1
    if t >= 0:
        group[0] = t
        return 1, levels
    size = 0
    if levels > 1:
        p = np.int64(merges.level_node[levels - 1])
        for t in tails:
            a = indexer[t]
            if view.clock[p - view.begin, a] >= view.clock[t - view.begin, a]:
                group[size] = t
                size += 1
    return size, levels


@inner
def _settle_view(graph, view, causal, settled, hidden, unplaced, waiting, merges, scratch, order):
    """Settle what can be settled of a view.

    Args:
        graph: A `views.Graph`.
        view: A `views.View` with indexers.
        causal: int32[nodes], of `clocks.causal_order`.
        settled: bool[nodes], kept up to date.
        hidden: bool[nodes], all False.
        unplaced: int32[nodes], how many of what each node follows are not placed. Kept up to date.
        waiting: A `merges.WaitLists` in which nobody waits.
        merges: A `merges.Merges`, scratch.
        scratch: A `Scratch`.
        order: int32[nodes], filled from the view's first node on.

    Returns:
        How many nodes are settled.
    """
    group = scratch.group
    merge_count = list_merges(graph, view, causal, merges)
    merges.wakes[0] = 0
    levels = 1
    merges.level_node[0] = -1
    merges.level_at[0] = 0
    merges.level_woken[0] = 0
    at = view.begin
    tail_count = list_tails(view, scratch.tails)
    while True:
        size, levels = find_group(
            scratch.tails.node[:tail_count], levels, merge_count, graph.indexer, settled, view, waiting, merges, scratch
        )
        if size == 0:
            return at - view.begin
        size = settle_group(group, size, graph, view, settled)
        tail_count = update_tails(group[:size], tail_count, graph.indexer, view, scratch.tails)
        wake(group[:size], levels, graph.indexer, settled, view, waiting, merges)
        at = place_first_ready(
            group[:size], graph.child_start, graph.child, settled, hidden, unplaced, None, scratch.heap, order, at
        )
        while levels > 1 and settled[merges.level_node[levels - 1]]:
            levels -= 1


@compiled
def _order_views(view_start, graph, is_relayed, floor_start, causal):
    start, previous, child_start, child = graph.start, graph.previous, graph.child_start, graph.child
    indexer = graph.indexer
    views = len(view_start) - 1
    nodes = len(indexer)
    most = np.int64(0)
    widest = np.int64(0)
    entries = np.int64(0)
    for v in range(views):
        count = view_start[v + 1] - view_start[v]
        n = floor_start[v + 1] - floor_start[v]
        most = max(most, count)
        widest = max(widest, n)
        entries = max(entries, count * n)
    order = np.full(nodes, np.int32(-1))
    placed = np.zeros(views, np.int64)
    confirmed = np.zeros(views, np.int64)
    # By node of all views.
    settled = np.zeros(nodes, np.bool_)
    hidden = np.zeros(nodes, np.bool_)
    head = np.full(nodes, np.int64(-1))
    failed = np.zeros(nodes, np.bool_)
    failed_below = np.full(nodes, np.int32(-1))
    unplaced = np.empty(nodes, np.int32)  # How many of what each node follows are not placed.
    for x in range(nodes):
        unplaced[x] = start[x + 1] - start[x]
    # For one view.
    clock_room = np.empty(entries, np.int32)
    link_room = np.empty(entries, np.int64)
    log_room = np.empty((3, widest), np.int64)
    heap = np.empty(most, np.int32)
    group = np.empty(most, np.int32)
    merges = allocate_merges(most, nodes)
    for v in range(views):
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        clock = clock_room[: (end - begin) * n].reshape(end - begin, n)
        view = View(begin, end, log_room[0, :n], log_room[1, :n], log_room[2, :n], clock)
        waiting = WaitLists(head, link_room[: (end - begin) * n], failed, failed_below)
        waiting.link[:] = -2
        scratch = allocate_scratch(n, group, heap)
        if n > 0:
            find_logs(begin, end, indexer, view.first, view.known)
            view.removed[:] = 0
            fill_clocks(begin, end, start, previous, indexer, causal, view.first, clock)
            confirmed[v] = _settle_view(graph, view, causal, settled, hidden, unplaced, waiting, merges, scratch, order)
        at = begin + confirmed[v]
        size = 0
        for x in range(begin, end):
            if not settled[x]:
                settled[x] = True
                hidden[x] = is_relayed[x]
                group[size] = x
                size += 1
        at = place_first_ready(group[:size], child_start, child, settled, hidden, unplaced, None, heap, order, at)
        placed[v] = at - begin
    return order, placed, confirmed
