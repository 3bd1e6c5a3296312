"""Follows writers through their logs, and lists the changes of their views from node to node.

A writer's view at one of its nodes is the node and its ancestors. `follow_writers` visits each log once; `writer_views`
keeps the view. `confirmation_schedule` avoids tests: the view is confirmed further only after a due merge or a tail is
confirmed.

Source: autobase 7.28.1; the rule is that of `consensus`.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.confirmation import count_possible_acks, is_merge
from dbt_tangles.algorithms.autobase.confirmation_schedule import AwaitedNodes, await_again, confirm_any
from dbt_tangles.algorithms.autobase.consensus import Placement, Search, allocate_scratch, confirm_groups, largest_view
from dbt_tangles.algorithms.autobase.merges import Merges, WaitLists, allocate_merges
from dbt_tangles.algorithms.autobase.views import Graph, View, find_logs
from dbt_tangles.algorithms.autobase.writer_views import (
    BaseGraph,
    WriterView,
    allocate_writer_view,
    collect_new_nodes,
    insert_new_nodes,
    remove_settled,
    reset_writer_view,
)
from dbt_tangles.algorithms.structures.ranked_list import length
from dbt_tangles.algorithms.structures.space import with_space
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: The most steps of a writer's log, for each node of its base and in addition: tests of merges, nodes searched for
#: merges, nodes inserted again. The rest of a longer log is left out.
STEPS_PER_NODE, MORE_STEPS = 64, 10_000


class LogChanges(NamedTuple):
    """The nodes at which part of a view was undone or settled, by writer, then length."""

    node: np.ndarray  # int32[changes], the writer's node
    old_length: np.ndarray  # int32[changes], the nodes of the view before
    kept: np.ndarray  # int32[changes], how many of them begin the new view in the same order
    length: np.ndarray  # int32[changes], the nodes of the new view
    settled_start: np.ndarray  # int64[changes + 1], into `settled`
    settled: np.ndarray  # int32[...], the newly settled nodes, in order
    left_out: np.ndarray  # int32[writers], the number of nodes at the end of each log that were not followed


@inner
def _list_unsettled(view, causal_place, window):
    """List the unsettled indexer nodes by their places in the causal order; their number."""
    count = 0
    for k in range(len(view.known)):
        for place in range(view.removed[k], view.known[k]):
            window[count] = causal_place[view.first[k] + place]
            count += 1
    window[:count].sort()
    return count


@inner
def _confirm_unsettled(window, graph, base_graph, search, placement, at):
    """Confirm further nodes of a writer's view, as `consensus` does, on top of those confirmed before."""
    indexer, _, view, waiting, merges, _ = search
    n = len(view.known)
    majority = n // 2 + 1
    count = 0
    for i in range(len(window)):
        x = np.int64(base_graph.causal[window[i]])
        waiting.head[x] = -1
        waiting.failed[x] = False
        waiting.failed_below[x] = -1
        merges.place[x] = -1
        for k in range(n):
            waiting.link[(x - view.begin) * n + k] = -2
        if base_graph.merging[x] and count_possible_acks(x, np.int64(indexer[x]), view) >= majority:
            merges.node[count] = x
            merges.place[x] = count
            merges.beyond[count] = count
            count += 1
    merges.beyond[count] = count
    return confirm_groups(count, graph, search, placement, at)


class Logs(NamedTuple):
    """The logs to follow."""

    base: np.ndarray  # int64[writers], the base of each, ascending
    first: np.ndarray  # int64[writers], the first node of its log
    end: np.ndarray  # int64[writers], the end of its nodes


class _Writer(NamedTuple):
    """One writer's view of its base.

    Attributes:
        search: The search for the next nodes to confirm.
        base_known: int64[indexers], the length of each indexer's log in the base.
        awaited: The merges that wait for nodes to arrive.
        view: What the writer knows, by node of all bases.
        base_graph: The base.
        known_graph: The same with the known part of each batch.
        placement: The order of the confirmed nodes.
        new: int32[nodes of the base], scratch.
        window: int32[nodes of the base], scratch.
    """

    search: Search
    base_known: np.ndarray
    awaited: AwaitedNodes
    known: WriterView
    base_graph: BaseGraph
    known_graph: Graph
    placement: Placement
    new: np.ndarray
    window: np.ndarray


@compiled
def follow_writers(bases, logs, steps_per_node, more_steps):
    """Follow writers through their logs, and list the changes of their views.

    Takes O(log(nodes)) for each node that a writer gets to know, plus the allowed steps; memory in proportion to nodes
    times indexers, and to the confirmed nodes.

    Args:
        bases: A `views.IndexedViews`; each view is a whole base.
        logs: `Logs`.
        steps_per_node: See `STEPS_PER_NODE`.
        more_steps: See `STEPS_PER_NODE`.

    Returns:
        `LogChanges`.
    """
    view_start, graph, floor_start = bases.view_start, bases.graph, bases.floor_start
    changes = _allocate_changes(logs)
    found = np.empty(1_000, np.int32)
    count = 0
    space = _allocate_space(bases)
    at_base = np.int64(-1)
    for log in range(len(logs.base)):
        v = logs.base[log]
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        clock = bases.clock[bases.clock_start[v] : bases.clock_start[v + 1]].reshape(end - begin, n)
        writer = _open_base(
            View(begin, end, space.logs[0, :n], space.logs[1, :n], space.logs[2, :n], clock), bases, space
        )
        if v != at_base:
            at_base = v
            _find_merges(writer)
        reset_writer_view(begin, end, graph, writer.known, writer.awaited)
        space.logs[2, :n] = 0
        at = np.int64(0)
        steps = np.int64(0)
        for w in range(logs.first[log], logs.end[log]):
            if steps > steps_per_node * (end - begin) + more_steps:
                changes.left_out[log] = logs.end[log] - w
                break
            before, old_at = length(writer.known.items), at
            same, at, taken = _follow_node(w, at, writer)
            steps += taken
            if same < before or at > old_at:
                changes.node[count] = w
                changes.old_length[count] = old_at + before
                changes.kept[count] = old_at + same
                changes.length[count] = at + length(writer.known.items)
                first = changes.settled_start[count]
                found = with_space(found, first, at - old_at)
                found[first : first + at - old_at] = writer.known.order[old_at:at]
                count += 1
                changes.settled_start[count] = first + at - old_at
    return _trim_changes(changes, found, count)


@compiled
def _trim_changes(changes, found, count):
    """Return the first `count` changes."""
    return LogChanges(
        changes.node[:count].copy(),
        changes.old_length[:count].copy(),
        changes.kept[:count].copy(),
        changes.length[:count].copy(),
        changes.settled_start[: count + 1].copy(),
        found[: changes.settled_start[count]].copy(),
        changes.left_out,
    )


@inner
def _follow_node(w, at, writer):
    """Add a writer's next node to its view, and confirm further nodes."""
    search, base_known, awaited, known, base_graph, known_graph, placement, new, window = writer
    indexer, settled, view, _, _, scratch = search
    size = collect_new_nodes(w, base_graph, known, new)
    view.known[:] = view.clock[w - view.begin]
    before, old_at = length(known.items), at
    same, due_count = insert_new_nodes(w, new[:size], base_graph, known, view, awaited)
    is_found, steps = confirm_any(due_count, indexer, view, base_known, awaited, scratch)
    if is_found:
        count = _list_unsettled(view, base_graph.causal_place, window)
        at = _confirm_unsettled(window[:count], known_graph, base_graph, search, placement, at)
        same, moved = remove_settled(w, new[:size], before, old_at, at, base_graph, known)
        steps += moved + count
        steps += await_again(window[:count], base_graph, settled, view, base_known, awaited, scratch)
    return same, at, steps


@inner
def _find_merges(writer):
    """Find the logs of a base's indexers, and the merges of the base."""
    indexer, _, view, _, _, _ = writer.search
    graph = writer.base_graph.graph
    find_logs(view.begin, view.end, indexer, view.first, writer.base_known)
    for x in range(view.begin, view.end):
        writer.base_graph.merging[x] = indexer[x] >= 0 and is_merge(x, graph.start, graph.previous, indexer, view)


@compiled
def _allocate_changes(logs):
    """Make `LogChanges` with room for a change at every node; `settled` is left empty."""
    rooms = np.int64(0)
    for log in range(len(logs.base)):
        rooms += logs.end[log] - logs.first[log]
    return LogChanges(
        np.empty(rooms, np.int32),
        np.empty(rooms, np.int32),
        np.empty(rooms, np.int32),
        np.empty(rooms, np.int32),
        np.zeros(rooms + 1, np.int64),
        np.empty(0, np.int32),
        np.zeros(len(logs.base), np.int32),
    )


class _Space(NamedTuple):
    """The arrays that all writers share: by node of all bases, or of the size of the largest base."""

    known: WriterView  # A `writer_views.WriterView`
    base_graph: BaseGraph  # A `writer_views.BaseGraph`
    merges: Merges  # `merges.Merges`
    hidden: np.ndarray  # bool[nodes], all False
    failed: np.ndarray  # bool[nodes]
    failed_below: np.ndarray  # int32[nodes]
    heads: np.ndarray  # int64[2, nodes], the heads of wait lists and of awaited nodes
    is_due: np.ndarray  # bool[nodes]
    links: np.ndarray  # int64[2, entries], their links
    logs: np.ndarray  # int64[4, indexers]
    rows: np.ndarray  # int32[5, nodes of the largest base]


@compiled
def _allocate_space(bases):
    """Make a `_Space` for some bases."""
    graph, causal = bases.graph, bases.causal
    nodes = len(graph.indexer)
    most, widest, entries = largest_view(bases.view_start, bases.floor_start)
    causal_place = np.empty(nodes, np.int32)
    for i in range(nodes):
        causal_place[causal[i]] = i
    return _Space(
        allocate_writer_view(bases.is_relayed, most),
        BaseGraph(graph, bases.is_relayed, causal, causal_place, np.zeros(nodes, np.bool_)),
        allocate_merges(most, nodes),
        np.zeros(nodes, np.bool_),
        np.zeros(nodes, np.bool_),
        np.full(nodes, np.int32(-1)),
        np.full((2, nodes), np.int64(-1)),
        np.zeros(nodes, np.bool_),
        np.empty((2, entries), np.int64),
        np.empty((4, widest), np.int64),
        np.empty((5, most), np.int32),
    )


@compiled
def _open_base(view, bases, space):
    """Make the `_Writer` of any log of a base, in the arrays of a `_Space`."""
    graph, known = bases.graph, space.known
    entries, n = view.clock.size, len(view.known)
    waiting = WaitLists(space.heads[0], space.links[0, :entries], space.failed, space.failed_below)
    awaited = AwaitedNodes(space.heads[1], space.links[1, :entries], space.rows[0], space.is_due)
    scratch = allocate_scratch(n, space.rows[1], space.rows[2])
    search = Search(graph.indexer, known.settled, view, waiting, space.merges, scratch)
    known_graph = Graph(
        graph.start, graph.previous, graph.child_start, graph.child, graph.writer, known.batch, graph.indexer
    )
    placement = Placement(space.hidden, known.unplaced, known.order)
    rows = space.rows
    base_known = space.logs[3, :n]
    return _Writer(search, base_known, awaited, known, space.base_graph, known_graph, placement, rows[3], rows[4])
