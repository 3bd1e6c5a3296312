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
    is_event[_closers(graph, children(graph.start, graph.cause), component, arrived[is_knotted[arrived]])] = False
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
    """List the events that close a cycle with events that arrived before them."""
    nodes = len(component)
    is_in = np.zeros(nodes, np.bool_)
    seen = np.full(nodes, np.int32(-1))
    queues = np.empty((2, nodes), np.int32)
    closers = np.empty(len(arrived), np.int32)
    count = 0
    for i in range(len(arrived)):
        x = arrived[i]
        if _closes(x, np.int32(2 * i), graph, effects, component, is_in, (seen, queues)):
            closers[count] = x
            count += 1
        else:
            is_in[x] = True
    return closers[:count].copy()


@inner
def _closes(x, mark, graph, effects, component, is_in, scratch):
    """Whether a path of admitted events leads from an effect of an event to a cause of it.

    Two searches in turns, from the effects and from the causes; the one that follows fewer links decides the cost.
    """
    seen, queues = scratch
    queues[0, 0] = queues[1, 0] = x
    head, tail, steps = np.zeros(2, np.int64), np.ones(2, np.int64), np.zeros(2, np.int64)
    while head[0] < tail[0] and head[1] < tail[1]:
        side = 0 if head[1] > 0 and (head[0] == 0 or steps[0] <= steps[1]) else 1
        y = queues[side, head[side]]
        head[side] += 1
        start, found = (effects.start, effects.child) if side == 0 else (graph.start, graph.cause)
        steps[side] += 1 + start[y + 1] - start[y]
        for k in range(start[y], start[y + 1]):
            z = found[k]
            if is_in[z] and component[z] == component[x]:
                if seen[z] == mark + 1 - side:
                    return True
                if seen[z] != mark + side:
                    seen[z] = mark + side
                    queues[side, tail[side]] = z
                    tail[side] += 1
    return False
