"""How a writer's view of a base changed from one of its own nodes to the next.

At each of its nodes a writer knows that node and all it follows. `follow_writers` goes through a writer's log once; how what it
knows is kept is said in `writer_view`. Nothing is asked about without need (`due_count`): if neither a merge that waited nor a
tail is settled, nothing is.

Source: autobase 7.28.1; the rule is that of `consensus`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.confirmation import count_possible_acks, is_merge
from dbt_tangles.algorithms.autobase.confirmation_schedule import AwaitedNodes, await_again, confirm_any
from dbt_tangles.algorithms.autobase.consensus import allocate_scratch, find_group
from dbt_tangles.algorithms.autobase.merges import WaitLists, allocate_merges, wake
from dbt_tangles.algorithms.autobase.settling import settle_group
from dbt_tangles.algorithms.autobase.tails import list_tails, update_tails
from dbt_tangles.algorithms.autobase.views import Graph, View, find_logs
from dbt_tangles.algorithms.autobase.writer_views import (
    BaseGraph,
    allocate_writer_view,
    collect_new_nodes,
    insert_new_nodes,
    remove_settled,
    reset_writer_view,
)
from dbt_tangles.algorithms.structures.kahn import place_first_ready
from dbt_tangles.algorithms.structures.ranked_list import length
from dbt_tangles.algorithms.structures.space import with_space
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: Steps that a writer's log may take, for each node of its base and besides: questions about merges, nodes looked
#: through for them, nodes put in again. Beyond that the rest of the log is left out.
STEPS_PER_NODE, MORE_STEPS = 64, 10_000


class LogChanges(NamedTuple):
    """The nodes at which something was undone or settled, by writer, then length.

    Attributes:
        node: int32[changes]; the node at which it was.
        old_length: int32[changes], nodes in the view before.
        kept: int32[changes], so many of them begin the view as before.
        length: int32[changes], nodes in the view now.
        settled_start: int64[changes + 1], into `settled`.
        settled: int32[...]; what is settled now and was not before, in order.
        left_out: int32[writers]; of each log how many nodes were not followed, its last ones.
    """

    node: np.ndarray
    old_length: np.ndarray
    kept: np.ndarray
    length: np.ndarray
    settled_start: np.ndarray
    settled: np.ndarray
    left_out: np.ndarray


@inner
def _list_unsettled(view, causal_place, window):
    """List the unsettled nodes of indexers by their places in the causal order; how many there are."""
    count = 0
    for k in range(len(view.known)):
        for place in range(view.removed[k], view.known[k]):
            window[count] = causal_place[view.first[k] + place]
            count += 1
    window[:count].sort()
    return count


@inner
def _confirm_unsettled(window, graph, view, base_graph, writer_view, hidden, waiting, merges, scratch, at):
    """Settle what can be settled of what is known now, as in `consensus`, on top of what was settled before.

    Args:
        window: int32[...], of `_list_unsettled`.
        graph: A `views.Graph`; batches as far as they are known now.
        view: A `views.View`, of what is known now.
        base_graph: A `BaseGraph`.
        writer_view: A `WriterView`; `order` is filled from `at` on.
        hidden: bool[nodes], all False.
        waiting: A `merges.WaitLists`, scratch.
        merges: A `merges.Merges`, scratch.
        scratch: A `consensus.Scratch`.
        at: How many nodes were settled.

    Returns:
        How many nodes are settled.
    """
    causal, merging, settled = base_graph.causal, base_graph.merging, writer_view.settled
    n = len(view.known)
    begin = view.begin
    majority = n // 2 + 1
    count = 0
    for i in range(len(window)):
        x = np.int64(causal[window[i]])
        waiting.head[x] = -1
        waiting.failed[x] = False
        waiting.failed_below[x] = -1
        merges.place[x] = -1
        for k in range(n):
            waiting.link[(x - begin) * n + k] = -2
        if merging[x] and count_possible_acks(x, np.int64(graph.indexer[x]), view) >= majority:
            merges.node[count] = x
            merges.place[x] = count
            merges.beyond[count] = count
            count += 1
    merges.beyond[count] = count
    merges.wakes[0] = 0
    levels = 1
    merges.level_node[0] = -1
    merges.level_at[0] = 0
    merges.level_woken[0] = 0
    tail_count = list_tails(view, scratch.tails)
    while True:
        size, levels = find_group(
            scratch.tails.node[:tail_count], levels, count, graph.indexer, settled, view, waiting, merges, scratch
        )
        if size == 0:
            return at
        size = settle_group(scratch.group, size, graph, view, settled)
        tail_count = update_tails(scratch.group[:size], tail_count, graph.indexer, view, scratch.tails)
        wake(scratch.group[:size], levels, graph.indexer, settled, view, waiting, merges)
        at = place_first_ready(
            scratch.group[:size],
            graph.child_start,
            graph.child,
            settled,
            hidden,
            writer_view.unplaced,
            None,
            scratch.heap,
            writer_view.order,
            at,
        )
        while levels > 1 and settled[merges.level_node[levels - 1]]:
            levels -= 1


@compiled
def follow_writers(
    view_start,
    graph,
    is_relayed,
    floor_start,
    causal,
    clock_start,
    clocks,
    log_view,
    log_first,
    log_end,
    steps_per_node,
    more_steps,
):
    """Follow writers through their logs.

    Takes O(log(nodes)) for each node that a writer comes to know, and as many steps as are allowed; memory in
    proportion to nodes times indexers, and to what is settled.

    Args:
        view_start: int64[bases + 1], into the nodes; arrays as in `views`, a view being all there is of a base.
        graph: A `views.Graph`.
        is_relayed: bool[nodes].
        floor_start: int64[bases + 1].
        causal: int32[nodes], of `clocks.causal_order`.
        clock_start: int64[bases + 1], of `clocks.clocks`.
        clocks: int32[...], of the same.
        log_view: int64[writers]; the base of each, ascending.
        log_first: int64[writers], the first node of its log.
        log_end: int64[writers], one behind its last.
        steps_per_node: As `STEPS_PER_NODE`.
        more_steps: As `MORE_STEPS`.

    Returns:
        A `LogChanges`.
    """
    nodes = len(graph.indexer)
    rooms = np.int64(0)
    most, widest, entries = np.int64(0), np.int64(0), np.int64(0)
    for i in range(len(log_view)):
        v = log_view[i]
        rooms += log_end[i] - log_first[i]
        count = view_start[v + 1] - view_start[v]
        n = floor_start[v + 1] - floor_start[v]
        most, widest, entries = max(most, count), max(widest, n), max(entries, count * n)
    node = np.empty(rooms, np.int32)
    old_length = np.empty(rooms, np.int32)
    kept = np.empty(rooms, np.int32)
    new_length = np.empty(rooms, np.int32)
    settled_start = np.zeros(rooms + 1, np.int64)
    left_out = np.zeros(len(log_view), np.int32)
    found = np.empty(1_000, np.int32)
    changes = 0
    # By node of all bases.
    causal_place = np.empty(nodes, np.int32)
    for i in range(nodes):
        causal_place[causal[i]] = i
    merging = np.zeros(nodes, np.bool_)
    base_graph = BaseGraph(graph, is_relayed, causal, causal_place, merging)
    writer_view = allocate_writer_view(is_relayed, most)
    items, order = writer_view.items, writer_view.order
    hidden = np.zeros(nodes, np.bool_)
    failed = np.zeros(nodes, np.bool_)
    failed_below = np.full(nodes, np.int32(-1))
    head = np.full(nodes, np.int64(-1))
    known_graph = Graph(
        graph.start, graph.previous, graph.child_start, graph.child, graph.writer, writer_view.batch, graph.indexer
    )
    arrivals_head = np.full(nodes, np.int64(-1))
    is_due = np.zeros(nodes, np.bool_)
    merges = allocate_merges(most, nodes)
    # For one base.
    link_room = np.empty(entries, np.int64)
    arrival_room = np.empty(entries, np.int64)
    log_room = np.empty((4, widest), np.int64)
    new = np.empty(most, np.int32)
    window = np.empty(most, np.int32)
    moved = np.empty(most, np.int32)
    due = np.empty(most, np.int32)
    room_of_group = np.empty(most, np.int32)
    heap = np.empty(most, np.int32)
    at_view = np.int64(-1)
    for log in range(len(log_view)):
        v = log_view[log]
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        clock = clocks[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        view = View(begin, end, log_room[0, :n], log_room[1, :n], log_room[2, :n], clock)
        base_known = log_room[3, :n]
        scratch = allocate_scratch(n, room_of_group, heap)
        waiting = WaitLists(head, link_room[: (end - begin) * n], failed, failed_below)
        awaited = AwaitedNodes(arrivals_head, arrival_room[: (end - begin) * n], due, is_due)
        if v != at_view:
            at_view = v
            find_logs(begin, end, graph.indexer, view.first, base_known)
            for x in range(begin, end):
                merging[x] = graph.indexer[x] >= 0 and is_merge(x, graph.start, graph.previous, graph.indexer, view)
        reset_writer_view(begin, end, graph, writer_view, awaited)
        view.removed[:] = 0
        at = np.int64(0)
        steps = np.int64(0)
        for w in range(log_first[log], log_end[log]):
            if steps > steps_per_node * (end - begin) + more_steps:
                left_out[log] = log_end[log] - w
                break
            size = collect_new_nodes(w, base_graph, writer_view, new)
            view.known[:] = clock[w - begin]
            before, old_at = length(items), at
            same, due_count = insert_new_nodes(w, new[:size], base_graph, writer_view, view, awaited)
            is_found, asked_count = confirm_any(due_count, graph.indexer, view, base_known, awaited, scratch)
            steps += asked_count
            if is_found:
                open_count = _list_unsettled(view, causal_place, window)
                at = _confirm_unsettled(
                    window[:open_count],
                    known_graph,
                    view,
                    base_graph,
                    writer_view,
                    hidden,
                    waiting,
                    merges,
                    scratch,
                    at,
                )
                same, repaired = remove_settled(w, new[:size], before, old_at, at, base_graph, writer_view, moved)
                steps += repaired + open_count
                steps += await_again(
                    window[:open_count], base_graph, writer_view.settled, view, base_known, awaited, scratch
                )
            if same < before or at > old_at:
                node[changes] = w
                old_length[changes] = old_at + before
                kept[changes] = old_at + same
                new_length[changes] = at + length(items)
                first_found = settled_start[changes]
                found = with_space(found, first_found, at - old_at)
                found[first_found : first_found + at - old_at] = order[old_at:at]
                changes += 1
                settled_start[changes] = first_found + at - old_at
    return LogChanges(
        node[:changes].copy(),
        old_length[:changes].copy(),
        kept[:changes].copy(),
        new_length[:changes].copy(),
        settled_start[: changes + 1].copy(),
        found[: settled_start[changes]].copy(),
        left_out,
    )
