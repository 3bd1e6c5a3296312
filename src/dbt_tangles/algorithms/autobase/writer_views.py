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


class Ground(NamedTuple):
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


class Learnt(NamedTuple):
    """What a writer has come to know, by node of all bases.

    Attributes:
        is_in: bool[nodes].
        new_at: int32[nodes], the node with which it came to know each, or -1.
        settled: bool[nodes].
        unplaced: int32[nodes], how many of the nodes that each follows are not settled.
        batch: int32[nodes], batches as far as they are known.
        is_moved: bool[nodes], scratch, all False.
        items: The rest, a list of `ranked_list`.
        order: int32[nodes of the base], what is settled.
    """

    is_in: np.ndarray
    new_at: np.ndarray
    settled: np.ndarray
    unplaced: np.ndarray
    batch: np.ndarray
    is_moved: np.ndarray
    items: RankedList
    order: np.ndarray


@compiled
def room_for_learnt(is_relayed, most):
    """Make room for what a writer knows of any one base.

    Args:
        is_relayed: bool[nodes of all bases].
        most: How many nodes the largest base has.

    Returns:
        A `Learnt`.
    """
    nodes = len(is_relayed)
    items = ranked_list(nodes)
    items.is_hidden[:] = is_relayed
    return Learnt(
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
def forget(begin, end, graph, learnt, arrivals):
    """Know nothing of a base.

    Args:
        begin: Its first node.
        end: Behind its last.
        graph: A `views.Graph`.
        learnt: A `Learnt`.
        arrivals: An `asking.Arrivals`.
    """
    for x in range(begin, end):
        learnt.is_in[x] = False
        learnt.new_at[x] = -1
        learnt.settled[x] = False
        learnt.batch[x] = 1
        learnt.unplaced[x] = graph.start[x + 1] - graph.start[x]
        arrivals.is_asked[x] = False
        arrivals.head[x] = -1
    arrivals.link[:] = -2
    learnt.items.root[0] = -1


@inner
def learn(w, ground, learnt, new):
    """Collect what a writer comes to know with a node.

    Args:
        w: The node, one of its own.
        ground: A `Ground`.
        learnt: A `Learnt`; `is_in` is kept up to date.
        new: int32[nodes of the base], to be filled: the places of those nodes in the causal order, ascending.

    Returns:
        How many nodes those are.
    """
    graph, causal, causal_place = ground.graph, ground.causal, ground.causal_place
    size = 1
    new[0] = causal_place[w]
    learnt.is_in[w] = True
    done = 0
    while done < size:
        x = causal[new[done]]
        done += 1
        for e in range(graph.start[x], graph.start[x + 1]):
            p = graph.previous[e]
            if not learnt.is_in[p]:
                learnt.is_in[p] = True
                new[size] = causal_place[p]
                size += 1
    new[:size].sort()
    return size


@inner
def _insert(x, graph, learnt):
    """Put a node of the rest where it belongs, all that it follows being there; how many shown ones are before it."""
    items = learnt.items
    after = np.int64(-1)
    place = np.int64(-1)
    for e in range(graph.start[x], graph.start[x + 1]):
        p = np.int64(graph.previous[e])
        if learnt.is_in[p] and not learnt.settled[p]:
            count, _ = place_of(items, p)
            if count > place:
                after = p
                place = count
    put_before_larger(items, x, after)
    _, shown = place_of(items, x)
    return shown


@inner
def put_in(w, new, ground, learnt, view, arrivals):
    """Put what is new into the list, and note the merges to ask about: new ones, and those that waited for it.

    Args:
        w: The node with which it came to be known.
        new: int32[...], of `learn`.
        ground: A `Ground`.
        learnt: A `Learnt`, kept up to date.
        view: A `views.View`.
        arrivals: An `asking.Arrivals`; `asked` is filled.

    Returns:
        How many of the list's nodes are before all that is new, and how many merges there are to ask about.
    """
    graph, merging, begin, end = ground.graph, ground.merging, view.begin, view.end
    is_in, batch = learnt.is_in, learnt.batch
    same = length(learnt.items)
    asking = 0
    for i in range(len(new)):
        x = np.int64(ground.causal[new[i]])
        learnt.new_at[x] = w
        if x > begin and is_in[x - 1] and graph.writer[x - 1] == graph.writer[x]:
            batch[x - 1] = graph.batch[x - 1]
        if x + 1 < end and is_in[x + 1] and graph.writer[x + 1] == graph.writer[x]:
            batch[x] = graph.batch[x]
        shown = _insert(x, graph, learnt)
        if not ground.is_relayed[x]:
            same = min(same, shown)
        if merging[x]:
            arrivals.is_asked[x] = True
            arrivals.asked[asking] = x
            asking += 1
        entry = arrivals.head[x]
        arrivals.head[x] = -1
        while entry >= 0:
            z = begin + entry // len(view.known)
            following = arrivals.link[entry]
            arrivals.link[entry] = -2
            entry = following
            if not learnt.settled[z] and not arrivals.is_asked[z]:
                arrivals.is_asked[z] = True
                arrivals.asked[asking] = z
                asking += 1
    return same, asking


@inner
def take_off(w, new, before, old_at, at, ground, learnt, moved):
    """Take what is settled now off the list.

    Args:
        w: The node with which it came to be settled.
        new: int32[...], of `learn`.
        before: How many nodes the list had before that.
        old_at: How many nodes were settled before.
        at: How many are now.
        ground: A `Ground`.
        learnt: A `Learnt`, kept up to date.
        moved: int32[nodes of the base], scratch.

    Returns:
        How many nodes begin the list before and the view now, behind `old_at`, and how many were put in again.
    """
    items, order = learnt.items, learnt.order
    # So many of them began the rest before, nodes that are new now not counted.
    same = 0
    x = first_shown(items)
    while x >= 0 and old_at + same < at and (learnt.new_at[x] == w or x == order[old_at + same]):
        same += learnt.new_at[x] != w
        x = next_shown(items, x)
    is_as_before = old_at + same == at
    front = old_at
    while front < at and first_shown(items) == order[front]:
        unlist(items, np.int64(order[front]))
        front += 1
    repaired = 0
    if front < at:
        repaired = _repair(order[front:at], ground, learnt, moved)
    if is_as_before:
        same = before
        for i in range(len(new)):
            x = np.int64(ground.causal[new[i]])
            if not ground.is_relayed[x]:
                _, shown = place_of(items, x)
                same = min(same, at - old_at + shown)
    return same, repaired


@inner
def _repair(replaced, ground, learnt, moved):
    """Take what was settled out of the list, and put in again what follows it; how many those are."""
    count = 0
    for x in replaced:
        unlist(learnt.items, x)
    for x in replaced:
        count = _collect_following(x, count, ground, learnt, moved)
    done = 0
    while done < count:
        x = ground.causal[moved[done]]
        done += 1
        unlist(learnt.items, x)
        count = _collect_following(x, count, ground, learnt, moved)
    moved[:count].sort()
    for i in range(count):
        x = np.int64(ground.causal[moved[i]])
        learnt.is_moved[x] = False
        _insert(x, ground.graph, learnt)
    return count


@inner
def _collect_following(x, count, ground, learnt, moved):
    """Add the nodes of the rest that follow a node to those that move; how many these are now."""
    graph = ground.graph
    for e in range(graph.child_start[x], graph.child_start[x + 1]):
        c = graph.child[e]
        if learnt.is_in[c] and not learnt.settled[c] and not learnt.is_moved[c]:
            learnt.is_moved[c] = True
            moved[count] = ground.causal_place[c]
            count += 1
    return count
