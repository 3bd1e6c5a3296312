"""The view of one writer, updated from one of its nodes to the next.

Settled nodes keep their order. The unsettled nodes are a ranked list into which each new node is inserted: behind its
previous nodes, before the first larger node (`structures.ranked_list`). This is the order that `place_first_ready`
gives, since a new node has no descendant yet. Settled nodes are removed from the front of the list; a settled node
elsewhere is removed together with its descendants, which are inserted again.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.views import Graph
from dbt_tangles.algorithms.structures.ranked_list import (
    RankedList,
    first_shown,
    length,
    next_shown,
    place_of,
    put_before_larger,
    ranked_list,
    unlist,
)
from dbt_tangles.kernel_runtime.compiled import compiled, inner


class BaseGraph(NamedTuple):
    """The nodes of all bases; constant while a log is followed."""

    graph: Graph  # A `views.Graph`
    is_relayed: np.ndarray  # bool[nodes]
    causal: np.ndarray  # int32[nodes], of `clocks.causal_order`
    causal_place: np.ndarray  # int32[nodes], the place of each node there
    merging: np.ndarray  # bool[nodes], whether a node is a merge


class WriterView(NamedTuple):
    """The view of one writer, by node of all bases."""

    is_known: np.ndarray  # bool[nodes]
    known_since: np.ndarray  # int32[nodes], the writer's node with which it got to know each node, or -1
    settled: np.ndarray  # bool[nodes]
    unplaced: np.ndarray  # int32[nodes], the number of previous nodes of each that are not settled
    batch: np.ndarray  # int32[nodes], the known part of each batch
    is_moved: np.ndarray  # bool[nodes], scratch, all False
    moved: np.ndarray  # int32[nodes of the base], scratch
    items: RankedList  # The unsettled nodes in order, a `structures.ranked_list`
    order: np.ndarray  # int32[nodes of the base], the settled nodes in order


@compiled
def allocate_writer_view(is_relayed, most):
    """Allocate a `WriterView` for any one base.

    Args:
        is_relayed: bool[nodes of all bases].
        most: The number of nodes of the largest base.

    Returns:
        A `WriterView`.
    """
    nodes = len(is_relayed)
    items = ranked_list(nodes)
    items.is_hidden[:] = is_relayed
    return WriterView(
        np.zeros(nodes, np.bool_),
        np.full(nodes, np.int32(-1)),
        np.zeros(nodes, np.bool_),
        np.empty(nodes, np.int32),
        np.ones(nodes, np.int32),
        np.zeros(nodes, np.bool_),
        np.empty(most, np.int32),
        items,
        np.empty(most, np.int32),
    )


@inner
def reset_writer_view(begin, end, graph, writer_view, awaited):
    """Empty the view of a base."""
    for x in range(begin, end):
        writer_view.is_known[x] = False
        writer_view.known_since[x] = -1
        writer_view.settled[x] = False
        writer_view.batch[x] = 1
        writer_view.unplaced[x] = graph.start[x + 1] - graph.start[x]
        awaited.is_due[x] = False
        awaited.head[x] = -1
    awaited.link[:] = -2
    writer_view.items.root[0] = -1


@inner
def collect_new_nodes(w, base_graph, writer_view, new):
    """Collect the nodes that a writer gets to know with one of its nodes."""
    graph, causal, causal_place = base_graph.graph, base_graph.causal, base_graph.causal_place
    size = 1
    new[0] = causal_place[w]
    writer_view.is_known[w] = True
    done = 0
    while done < size:
        x = causal[new[done]]
        done += 1
        for e in range(graph.start[x], graph.start[x + 1]):
            p = graph.previous[e]
            if not writer_view.is_known[p]:
                writer_view.is_known[p] = True
                new[size] = causal_place[p]
                size += 1
    new[:size].sort()
    return size


@inner
def _insert(x, graph, writer_view):
    """Insert a node whose previous nodes are in the list or settled; the number of shown nodes before it."""
    items = writer_view.items
    after = np.int64(-1)
    place = np.int64(-1)
    for e in range(graph.start[x], graph.start[x + 1]):
        p = np.int64(graph.previous[e])
        if writer_view.is_known[p] and not writer_view.settled[p]:
            count, _ = place_of(items, p)
            if count > place:
                after = p
                place = count
    put_before_larger(items, x, after)
    _, shown = place_of(items, x)
    return shown


@inner
def insert_new_nodes(w, new, base_graph, writer_view, view, awaited):
    """Insert the new nodes, and collect the merges to test: new ones, and those that waited for a new node."""
    graph, merging, begin, end = base_graph.graph, base_graph.merging, view.begin, view.end
    is_known, batch = writer_view.is_known, writer_view.batch
    same = length(writer_view.items)
    due_count = 0
    for i in range(len(new)):
        x = np.int64(base_graph.causal[new[i]])
        writer_view.known_since[x] = w
        if x > begin and is_known[x - 1] and graph.writer[x - 1] == graph.writer[x]:
            batch[x - 1] = graph.batch[x - 1]
        if x + 1 < end and is_known[x + 1] and graph.writer[x + 1] == graph.writer[x]:
            batch[x] = graph.batch[x]
        shown = _insert(x, graph, writer_view)
        if not base_graph.is_relayed[x]:
            same = min(same, shown)
        if merging[x]:
            awaited.is_due[x] = True
            awaited.due[due_count] = x
            due_count += 1
        entry = awaited.head[x]
        awaited.head[x] = -1
        while entry >= 0:
            z = begin + entry // len(view.known)
            following = awaited.link[entry]
            awaited.link[entry] = -2
            entry = following
            if not writer_view.settled[z] and not awaited.is_due[z]:
                awaited.is_due[z] = True
                awaited.due[due_count] = z
                due_count += 1
    return same, due_count


@inner
def remove_settled(w, new, before, old_at, at, base_graph, writer_view):
    """Remove newly settled nodes from the list."""
    items, order = writer_view.items, writer_view.order
    # The number of shared nodes, new nodes not counted.
    same = 0
    x = first_shown(items)
    while x >= 0 and old_at + same < at and (writer_view.known_since[x] == w or x == order[old_at + same]):
        same += writer_view.known_since[x] != w
        x = next_shown(items, x)
    is_as_before = old_at + same == at
    front = old_at
    while front < at and first_shown(items) == order[front]:
        unlist(items, np.int64(order[front]))
        front += 1
    repaired = 0
    if front < at:
        repaired = _reinsert_descendants(order[front:at], base_graph, writer_view)
    if is_as_before:
        same = before
        for i in range(len(new)):
            x = np.int64(base_graph.causal[new[i]])
            if not base_graph.is_relayed[x]:
                _, shown = place_of(items, x)
                same = min(same, at - old_at + shown)
    return same, repaired


@inner
def _reinsert_descendants(replaced, base_graph, writer_view):
    """Remove settled nodes from the list, and insert their descendants again; the number of these."""
    moved = writer_view.moved
    count = 0
    for x in replaced:
        unlist(writer_view.items, x)
    for x in replaced:
        count = _collect_children(x, count, base_graph, writer_view)
    done = 0
    while done < count:
        x = base_graph.causal[moved[done]]
        done += 1
        unlist(writer_view.items, x)
        count = _collect_children(x, count, base_graph, writer_view)
    moved[:count].sort()
    for i in range(count):
        x = np.int64(base_graph.causal[moved[i]])
        writer_view.is_moved[x] = False
        _insert(x, base_graph.graph, writer_view)
    return count


@inner
def _collect_children(x, count, base_graph, writer_view):
    """Add the listed children of a node to those that move; the number of these."""
    graph = base_graph.graph
    for e in range(graph.child_start[x], graph.child_start[x + 1]):
        c = graph.child[e]
        if writer_view.is_known[c] and not writer_view.settled[c] and not writer_view.is_moved[c]:
            writer_view.is_moved[c] = True
            writer_view.moved[count] = base_graph.causal_place[c]
            count += 1
    return count
