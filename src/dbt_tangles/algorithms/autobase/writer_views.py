"""What a writer of a base has come to know, from one of its nodes to the next.

What is settled stays so, in its order. The rest is a list in which each new node has one place: it is the last of what
is there, so the order of the others stays as it is (`place_first_ready` puts it behind what it follows, before the
first larger one). What is settled is taken off the front of that list; only where it was not the front, what follows it
is taken out and put in again.
"""

from __future__ import annotations

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
    """What stays as it is while a writer's log is followed, by node of all bases.

    Attributes:
        graph: A `views.Graph`.
        is_relayed: bool[nodes].
        causal: int32[nodes], of `clocks.causal_order`.
        causal_place: int32[nodes], the place of each node there.
        merging: bool[nodes], which nodes are merges.
    """

    graph: Graph
    is_relayed: np.ndarray
    causal: np.ndarray
    causal_place: np.ndarray
    merging: np.ndarray


class WriterView(NamedTuple):
    """What a writer has come to know, by node of all bases.

    Attributes:
        is_known: bool[nodes].
        known_since: int32[nodes], the node with which it came to know each, or -1.
        settled: bool[nodes].
        unplaced: int32[nodes], how many of the nodes that each follows are not settled.
        batch: int32[nodes], batches as far as they are known.
        is_moved: bool[nodes], scratch, all False.
        items: The rest, a list of `ranked_list`.
        order: int32[nodes of the base], what is settled.
    """

    is_known: np.ndarray
    known_since: np.ndarray
    settled: np.ndarray
    unplaced: np.ndarray
    batch: np.ndarray
    is_moved: np.ndarray
    items: RankedList
    order: np.ndarray


@compiled
def allocate_writer_view(is_relayed, most):
    """Make room for what a writer knows of any one base.

    Args:
        is_relayed: bool[nodes of all bases].
        most: How many nodes the largest base has.

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
        items,
        np.empty(most, np.int32),
    )


@inner
def reset_writer_view(begin, end, graph, writer_view, awaited):
    """Know nothing of a base.

    Args:
        begin: Its first node.
        end: Behind its last.
        graph: A `views.Graph`.
        writer_view: A `WriterView`.
        awaited: An `due_count.AwaitedNodes`.
    """
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
    """Collect what a writer comes to know with a node.

    Args:
        w: The node, one of its own.
        base_graph: A `BaseGraph`.
        writer_view: A `WriterView`; `is_known` is kept up to date.
        new: int32[nodes of the base], to be filled: the places of those nodes in the causal order, ascending.

    Returns:
        How many nodes those are.
    """
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
    """Put a node of the rest where it belongs, all that it follows being there; how many shown ones are before it."""
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
    """Put what is new into the list, and note the merges to ask about: new ones, and those that waited for it.

    Args:
        w: The node with which it came to be known.
        new: int32[...], of `collect_new_nodes`.
        base_graph: A `BaseGraph`.
        writer_view: A `WriterView`, kept up to date.
        view: A `views.View`.
        awaited: An `due_count.AwaitedNodes`; `due` is filled.

    Returns:
        How many of the list's nodes are before all that is new, and how many merges there are to ask about.
    """
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
def remove_settled(w, new, before, old_at, at, base_graph, writer_view, moved):
    """Take what is settled now off the list.

    Args:
        w: The node with which it came to be settled.
        new: int32[...], of `collect_new_nodes`.
        before: How many nodes the list had before that.
        old_at: How many nodes were settled before.
        at: How many are now.
        base_graph: A `BaseGraph`.
        writer_view: A `WriterView`, kept up to date.
        moved: int32[nodes of the base], scratch.

    Returns:
        How many nodes begin the list before and the view now, behind `old_at`, and how many were put in again.
    """
    items, order = writer_view.items, writer_view.order
    # So many of them began the rest before, nodes that are new now not counted.
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
        repaired = _reinsert_descendants(order[front:at], base_graph, writer_view, moved)
    if is_as_before:
        same = before
        for i in range(len(new)):
            x = np.int64(base_graph.causal[new[i]])
            if not base_graph.is_relayed[x]:
                _, shown = place_of(items, x)
                same = min(same, at - old_at + shown)
    return same, repaired


@inner
def _reinsert_descendants(replaced, base_graph, writer_view, moved):
    """Take what was settled out of the list, and put in again what follows it; how many those are."""
    count = 0
    for x in replaced:
        unlist(writer_view.items, x)
    for x in replaced:
        count = _collect_children(x, count, base_graph, writer_view, moved)
    done = 0
    while done < count:
        x = base_graph.causal[moved[done]]
        done += 1
        unlist(writer_view.items, x)
        count = _collect_children(x, count, base_graph, writer_view, moved)
    moved[:count].sort()
    for i in range(count):
        x = np.int64(base_graph.causal[moved[i]])
        writer_view.is_moved[x] = False
        _insert(x, base_graph.graph, writer_view)
    return count


@inner
def _collect_children(x, count, base_graph, writer_view, moved):
    """Add the nodes of the rest that follow a node to those that move; how many these are now."""
    graph = base_graph.graph
    for e in range(graph.child_start[x], graph.child_start[x + 1]):
        c = graph.child[e]
        if writer_view.is_known[c] and not writer_view.settled[c] and not writer_view.is_moved[c]:
            writer_view.is_moved[c] = True
            moved[count] = base_graph.causal_place[c]
            count += 1
    return count
