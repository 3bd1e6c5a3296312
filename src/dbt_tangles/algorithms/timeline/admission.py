"""Ranks the events of timelines, and breaks cycles: an arrival that closes one is refused, or links are left out.

Source: ScuttleSort 2022-05-09, section 2.2. There a cycle is found while ranks are being raised, and some ranks remain
raised; here the verdicts come first.

Lines of an event log are refused. Messages are admitted, and links that close a cycle are left out: links by hash
cannot form a cycle, but the order of an author's own messages rests on sequence numbers alone, and a low sequence that
its author signs late contradicts the hashes. Where signatures are not verified, ids can be false as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.graph.topological_generations import Candidates, children, member_depths
from dbt_tangles.algorithms.structures.components import strong_components
from dbt_tangles.columns.arrays import keep_entries
from dbt_tangles.columns.links import Links
from dbt_tangles.kernel_runtime.compiled import compiled, inner

# The events that are judged together, a bit for each.
_BLOCK = 64


class Graph(NamedTuple):
    """The nodes of many timelines; those of a timeline are neighbours."""

    timeline_start: np.ndarray  # int64[timelines + 1], into the nodes
    is_event: np.ndarray  # bool[nodes]; the other nodes have no causes, and are no causes
    start: np.ndarray  # int64[nodes + 1], into the causes
    cause: np.ndarray  # int32[causes], distinct, without the node itself


def break_cycles(
    graph: Graph, rank: np.ndarray, arrived: np.ndarray, is_message: np.ndarray, is_weak: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rank the events after breaking the cycles.

    An event of an event log closes a cycle if one of its causes is, or follows, an admitted event that follows it;
    links count as soon as their causes are admitted, also where a cause was listed before it arrived. A refused event
    has no effect.

    Of messages, all weak links on cycles are left out at once; where cycles remain, all links on them are left out too.
    The result depends on the links alone, not on the arrivals, and every link outside of cycles stays.

    Source: ScuttleSort 2022-05-09, section 2.2.

    Args:
        graph: The events with their causes.
        rank: Their ranks, from `ranks`.
        arrived: int32[events]; the nodes of the events, those of a timeline in order of arrival.
        is_message: bool[nodes].
        is_weak: bool[causes]; the links between messages to leave out first.

    Returns:
        The new ranks, -1 for refused events; and the links between messages that are left out, bool[causes].
    """
    # The events on a cycle, and those that follow one.
    is_left = graph.is_event & (rank < 0)
    owner = np.repeat(np.arange(len(rank)), np.diff(graph.start))
    is_cyclic = np.zeros(len(owner), np.bool_)
    for may_go in (is_weak, np.ones(len(owner), np.bool_)):
        component, size = strong_components(*keep_entries(graph.start, graph.cause, ~is_cyclic), is_left)
        is_on_cycle = is_left[owner] & (component[owner] == component[graph.cause])
        is_cyclic |= is_on_cycle & may_go & is_message[owner]
    is_knotted = is_left & ~is_message
    is_knotted[is_left] &= size[component[is_left]] > 1
    is_event = graph.is_event.copy()
    arrived = arrived[is_knotted[arrived]]
    arrived = arrived[np.argsort(component[arrived], kind="stable")]
    is_event[_closers(graph, children(graph.start, graph.cause), component, arrived)] = False
    kept = keep_entries(graph.start, graph.cause, is_event[owner] & is_event[graph.cause] & ~is_cyclic)
    return ranks(Graph(graph.timeline_start, is_event, *kept)), is_cyclic


def ranks(graph: Graph) -> np.ndarray:
    """Return the longest path over causes to each event: int32[nodes]; -1 for nodes behind a cycle and other nodes."""
    no_node = np.zeros(len(graph.is_event), np.bool_)
    links = Links(graph.start, graph.cause, no_node, no_node)
    return member_depths(
        Candidates(graph.timeline_start, graph.is_event, no_node, links), children(graph.start, graph.cause), False
    )


@compiled
def _closers(graph, effects, component, arrived):
    """List the events that close a cycle with events that arrived before them.

    `arrived` has the events of a component one after another, in order of arrival. They are judged in blocks: a bit for
    each event of a block is carried along the causes of the admitted events, which takes one pass for a block.
    """
    nodes = len(component)
    is_in, follows, waiting = np.zeros(nodes, np.bool_), np.zeros(nodes, np.uint64), np.zeros(nodes, np.int32)
    admitted, queue = np.empty(len(arrived), np.int32), np.empty(len(arrived), np.int32)
    closers, count = np.empty(len(arrived), np.int32), 0
    begin, inside = 0, 0
    while begin < len(arrived):
        end = begin
        while end < min(begin + _BLOCK, len(arrived)) and component[arrived[end]] == component[arrived[begin]]:
            follows[arrived[end]] = np.uint64(1) << np.uint64(end - begin)
            end += 1
        _carry(admitted[:inside], graph, effects, component, is_in, follows, (waiting, queue))
        closes = _judge(arrived[begin:end], graph, component, follows)
        for i in range(begin, end):
            x = arrived[i]
            follows[x] = 0
            if closes & (np.uint64(1) << np.uint64(i - begin)):
                closers[count] = x
                count += 1
            else:
                is_in[x] = True
                admitted[inside] = x
                inside += 1
        if end < len(arrived) and component[arrived[end]] != component[arrived[begin]]:
            inside = 0
        begin = end
    return closers[:count].copy()


@inner
def _carry(admitted, graph, effects, component, is_in, follows, scratch):
    """Find the events of a block that each admitted event follows, in topological order."""
    waiting, queue = scratch
    tail = 0
    for x in admitted:
        waiting[x] = 0
        for e in range(graph.start[x], graph.start[x + 1]):
            waiting[x] += is_in[graph.cause[e]] and component[graph.cause[e]] == component[x]
        if waiting[x] == 0:
            queue[tail] = x
            tail += 1
    for head in range(len(admitted)):
        x = queue[head]
        follows[x] = 0
        for e in range(graph.start[x], graph.start[x + 1]):
            if component[graph.cause[e]] == component[x]:
                follows[x] |= follows[graph.cause[e]]
        for k in range(effects.start[x], effects.start[x + 1]):
            y = effects.child[k]
            if is_in[y] and component[y] == component[x]:
                waiting[y] -= 1
                if waiting[y] == 0:
                    queue[tail] = y
                    tail += 1


@inner
def _judge(block, graph, component, follows):
    """Return the bits of the events of a block that follow themselves through admitted events, each in its turn."""
    before = np.zeros(_BLOCK, np.uint64)  # The events of the block that each event would follow
    closes = np.uint64(0)
    for i in range(len(block)):
        x = block[i]
        for e in range(graph.start[x], graph.start[x + 1]):
            if component[graph.cause[e]] == component[x]:
                before[i] |= follows[graph.cause[e]]
        found = np.uint64(0)
        while found != before[i]:
            found = before[i]
            for j in range(i):
                bit = np.uint64(1) << np.uint64(j)
                if found & bit and not closes & bit:
                    before[i] |= before[j]
        closes |= before[i] & (np.uint64(1) << np.uint64(i))
    return closes
