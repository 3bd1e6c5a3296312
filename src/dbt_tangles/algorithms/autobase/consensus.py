"""The linearizer of Autobase: orders many views, and finds the confirmed part of each order.

All questions of the rule are clock comparisons:

* the indexer nodes between the clock of a node and the confirmed length lie beside the node, so one clock entry says
  whether another node sees any of them;
* the nodes of an indexer that are newer than a target are a run that begins with its first candidate, so galloping
  search finds the last of them.

`confirmation` tests a node, and `merges` saves tests. Memory is linear in nodes times indexers.

If several merges are confirmed, the choice among them rarely matters. Here the first by depth, writer and length is
chosen, and the search continues below it until it is settled itself.

Source: autobase 7.28.1.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import Edges, causal_order, clocks, depths, fill_clocks
from dbt_tangles.algorithms.autobase.confirmation import is_confirmed
from dbt_tangles.algorithms.autobase.merges import (
    Merges,
    WaitLists,
    allocate_merges,
    find_merge,
    list_merges,
    wait,
    wake,
)
from dbt_tangles.algorithms.autobase.settling import settle_group
from dbt_tangles.algorithms.autobase.tails import Tails, list_tails, update_tails
from dbt_tangles.algorithms.autobase.views import Graph, View, ViewArrays, check_views, find_logs
from dbt_tangles.algorithms.graph.topological_generations import children
from dbt_tangles.algorithms.structures.kahn import Unplaced, place_first_ready
from dbt_tangles.kernel_runtime.compiled import compiled, inner

__all__ = ["clocks", "order_views"]


def order_views(views: ViewArrays) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Order the nodes of many views.

    The confirmed part comes first, in the groups that were confirmed together. Each group, and the unconfirmed rest, is
    in topological order; of the ready nodes the first by writer and length comes next. A node is confirmed together
    with all its ancestors and with the known part of its batch. A relayed node is in the order only if it is confirmed;
    other nodes still come after their ancestors through it.

    Source: autobase 7.28.1. Relayed writers: the design document, Writer Roles.

    Returns:
        `order` int32[nodes], the nodes of each view from its start, and -1 behind them; int64[views], the ordered nodes
        of each view; int64[views], the confirmed ones of these.

    Raises:
        ValueError: Arrays do not fit together; edges leave a view or close a cycle; an indexer has a second log, or a
            log with a gap, or one that does not begin above its floor or whose nodes do not follow each other; or an
            indexer's nodes are relayed.
    """
    nodes, view_start, start, previous = len(views.writer), views.view_start, views.start, views.previous
    if view_start[0] != 0 or view_start[-1] != nodes or len(start) != nodes + 1 or start[-1] != len(previous):
        raise ValueError(
            "views, nodes and edges do not fit together; view_start and start must end at the number of nodes and edges"
        )
    if any(len(column) != nodes for column in (views.length, views.batch, views.indexer, views.is_relayed)):
        raise ValueError("columns of the views differ in length; pass one value per node in each")
    if len(views.floor_start) != len(view_start) or views.floor_start[-1] != len(views.floor):
        raise ValueError("the floors are not those of the views; pass one floor per view and indexer")
    check_views(views)
    graph = Graph(start, previous, *children(start, previous), views.writer, views.batch, views.indexer)
    causal = causal_order(view_start, depths(view_start, start, previous))
    return _order_views(view_start, graph, views.is_relayed, views.floor_start, causal)


class Scratch(NamedTuple):
    """Scratch arrays for one view."""

    limit: np.ndarray  # int32[indexers], of `confirmation`, like the next two
    limited: np.ndarray  # int32[indexers]
    ack: np.ndarray  # int32[indexers]
    tails: Tails  # `tails.Tails`
    group: np.ndarray  # int32[nodes of the view]
    heap: np.ndarray  # int32[nodes of the view]


@compiled
def allocate_scratch(indexers, group, heap):
    """Make a `Scratch`.

    Args:
        indexers: The number of indexers of the view.
        group: int32[nodes of the view].
        heap: int32[nodes of the view].
    """
    rows = np.empty((7, indexers), np.int32)
    return Scratch(rows[0], rows[1], rows[2], Tails(rows[3], rows[4], rows[5], rows[6]), group, heap)


class Search(NamedTuple):
    """The search for the next nodes to confirm in a view."""

    indexer: np.ndarray  # int32[nodes]
    settled: np.ndarray  # bool[nodes], the confirmed nodes
    view: View  # A `views.View`
    waiting: WaitLists  # `merges.WaitLists`
    merges: Merges  # `merges.Merges`
    scratch: Scratch  # A `Scratch`


class Placement(NamedTuple):
    """The order of confirmed nodes, as `structures.kahn.place_first_ready` fills it."""

    hidden: np.ndarray  # bool[nodes], the nodes without a place in the order
    unplaced: np.ndarray  # int32[nodes], how many of the previous nodes of each are not placed
    order: np.ndarray  # int32[...]


@inner
def _place_settled(nodes, graph, settled, placement, scratch, at):
    """Place settled nodes from `at` on, each time the first ready one; return the end of the order."""
    unplaced = Unplaced(graph.child_start, graph.child, settled, placement.unplaced, scratch.heap)
    return place_first_ready(nodes, unplaced, placement.hidden, None, placement.order, at)


@inner
def _find_tail(tails, search):
    """Find the first confirmed tail, or -1."""
    indexer, _, view, waiting, _, scratch = search
    for t in tails:
        if waiting.failed[t]:
            continue
        if is_confirmed(np.int64(t), np.int64(-1), len(tails) == 1, indexer, view, scratch):
            return np.int64(t)
        waiting.failed[t] = True
        wait(np.int64(t), indexer, view, waiting)
    return np.int64(-1)


@inner
def _find_tail_below(p, tails, search):
    """Find the first tail that is the merge p or confirmed under it, or -1."""
    indexer, _, view, waiting, _, scratch = search
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
def _find_group(tails, levels, merge_count, search):
    """Find the next group to confirm: a tail; else a tail below a merge; else all tails below the last merge."""
    indexer, _, view, _, merges, scratch = search
    group = scratch.group
    t = _find_tail(tails, search)
    level = 1
    while t < 0:
        if level == levels:
            z = find_merge(level - 1, merge_count, search)
            if z < 0:
                break
            merges.level_node[levels] = z
            merges.level_at[levels] = 0
            merges.level_woken[levels] = merges.wakes[0]
            levels += 1
        t = _find_tail_below(np.int64(merges.level_node[level]), tails, search)
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
def confirm_groups(merge_count, graph, search, placement, at):
    """Confirm and place one group of nodes after another until none is left."""
    _, settled, view, _, merges, scratch = search
    group = scratch.group
    merges.wakes[0] = 0
    levels = 1
    merges.level_node[0] = -1
    merges.level_at[0] = 0
    merges.level_woken[0] = 0
    tail_count = list_tails(view, scratch.tails)
    while True:
        size, levels = _find_group(scratch.tails.node[:tail_count], levels, merge_count, search)
        if size == 0:
            return at
        size = settle_group(group, size, graph, view, settled)
        tail_count = update_tails(group[:size], tail_count, graph.indexer, view, scratch.tails)
        wake(group[:size], levels, search)
        at = _place_settled(group[:size], graph, settled, placement, scratch, at)
        while levels > 1 and settled[merges.level_node[levels - 1]]:
            levels -= 1


@compiled
def _order_views(view_start, graph, is_relayed, floor_start, causal):
    indexer = graph.indexer
    views = len(view_start) - 1
    nodes = len(indexer)
    order = np.full(nodes, np.int32(-1))
    placed = np.zeros(views, np.int64)
    confirmed = np.zeros(views, np.int64)
    settled = np.zeros(nodes, np.bool_)
    unplaced = np.empty(nodes, np.int32)
    for x in range(nodes):
        unplaced[x] = graph.start[x + 1] - graph.start[x]
    placement = Placement(np.zeros(nodes, np.bool_), unplaced, order)
    lists = WaitLists(
        np.full(nodes, np.int64(-1)),
        np.empty(0, np.int64),
        np.zeros(nodes, np.bool_),
        np.full(nodes, np.int32(-1)),
    )
    most, widest, entries = largest_view(view_start, floor_start)
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
        waiting = WaitLists(lists.head, link_room[: (end - begin) * n], lists.failed, lists.failed_below)
        waiting.link[:] = -2
        scratch = allocate_scratch(n, group, heap)
        if n > 0:
            find_logs(begin, end, indexer, view.first, view.known)
            view.removed[:] = 0
            fill_clocks(begin, end, Edges(graph.start, graph.previous), indexer, causal, view.first, clock)
            search = Search(indexer, settled, view, waiting, merges, scratch)
            merge_count = list_merges(graph, view, causal, merges)
            confirmed[v] = confirm_groups(merge_count, graph, search, placement, begin) - begin
        placed[v] = _place_rest(view, graph, is_relayed, settled, placement, begin + confirmed[v], scratch) - begin
    return order, placed, confirmed


@compiled
def largest_view(view_start, floor_start):
    """Find the most nodes of a view, the most indexers, and the most clock entries."""
    most = np.int64(0)
    widest = np.int64(0)
    entries = np.int64(0)
    for v in range(len(view_start) - 1):
        count = view_start[v + 1] - view_start[v]
        n = floor_start[v + 1] - floor_start[v]
        most = max(most, count)
        widest = max(widest, n)
        entries = max(entries, count * n)
    return most, widest, entries


@inner
def _place_rest(view, graph, is_relayed, settled, placement, at, scratch):
    """Place the unconfirmed nodes of a view, relayed ones left out; the end of the order."""
    size = 0
    for x in range(view.begin, view.end):
        if not settled[x]:
            settled[x] = True
            placement.hidden[x] = is_relayed[x]
            scratch.group[size] = x
            size += 1
    return _place_settled(scratch.group[:size], graph, settled, placement, scratch, at)
