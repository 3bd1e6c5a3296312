"""The order of a timeline with at most two causes an event, in arrays of fixed width: three links an event.

Source: ScuttleSort 2022-05-09, section 2.2.1 (three slots for the effects of an event), section 2.2 (the forward wave)
and section 6 (at most two predecessors).

An event has up to two causes, its backlink and its tip reference. The effects of an event form a linked list, which
passes through the effects themselves. The slots of an event are: the first of its effects (the document's slot b); the
next event with the same backlink; and the next event with the same tip reference (slot c). In the document slot a of an
event holds the one successor in its feed. Here the successor itself holds the next one, so a forked feed fits as well.

A cause that has not arrived has slots too: its list holds the events that wait for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.heap import drop_first, push
from dbt_tangles.kernel_runtime.compiled import compiled, inner

VISITED, RAISED, MOVED = range(3)
FIRST, BACKLINK = range(2)
EVENT = 0xFFFFFFFF


class Order(NamedTuple):
    """The events that have arrived."""

    key: np.ndarray  # int64[arrivals]; the rank times 2^32 plus the event, ascending
    rank: np.ndarray  # int32[events]; -1 for events that have not arrived
    fresh: np.ndarray  # int32[events]; the new rank of an event while a wave raises it, otherwise -1


class Slots(NamedTuple):
    """The links of a timeline's events, and scratch for one wave; see the module."""

    cause: np.ndarray  # int32[events, 2]; backlink and tip reference, or -1
    slot: (
        np.ndarray
    )  # int32[events, 3]; the first effect, the next event with the same backlink and tip reference, or -1
    heap: np.ndarray  # int64[events]; the raised events that are not yet visited, by their old ranks
    raised: np.ndarray  # int64[events]; the keys of raised events in the old order, ascending


class Stream(NamedTuple):
    """The order after all arrivals, and the work for each.

    Attributes:
        order: int32[arrivals]; the events by rank, then number.
        rank: int32[events]; the longest path over causes that arrived; -1 for events that did not arrive.
        work: int32[arrivals, 3]; VISITED: effects that the wave looked at, and the event itself. RAISED: events whose
            rank grew. MOVED: raised events that passed another event. A replica needs one `ins` and that many `mov`.
    """

    order: np.ndarray
    rank: np.ndarray
    work: np.ndarray


def order_stream(cause: np.ndarray, arrived: np.ndarray) -> Stream:
    """Order events one by one as they arrive.

    The order after each arrival is the converged order of the events so far: by rank, then number.

    Args:
        cause: int32[events, 2]; distinct causes of each event or -1, as `keep_two_causes` returns them. The numbers of
            events ascend by name. The links have no cycle.
        arrived: int32[arrivals]; distinct events.

    Returns:
        The order and the work.

    Raises:
        ValueError: An event arrives again, or the links have a cycle.
    """
    cause = np.ascontiguousarray(cause, np.int32)
    return Stream(*_order_stream(cause, np.ascontiguousarray(arrived, np.int32)))


@compiled
def keep_two_causes(cause_start, cause):
    """Keep the first listed cause of each event, its backlink, and the least of all others.

    Args:
        cause_start: int64[events + 1], into the causes.
        cause: int32[...], distinct events within a list.

    Returns:
        int32[events, 2], with -1 for an absent cause, and the number of causes that are left out.
    """
    events = len(cause_start) - 1
    kept = np.full((events, 2), np.int32(-1))
    left_out = 0
    for x in range(events):
        start, end = cause_start[x], cause_start[x + 1]
        left_out += max(end - start - 2, 0)
        if start < end:
            kept[x, 0] = cause[start]
        for k in range(start + 1, end):
            if kept[x, 1] < 0 or cause[k] < kept[x, 1]:
                kept[x, 1] = cause[k]
    return kept, left_out


@inner
def _add_effect(slots, x):
    """Put an event at the front of the lists of its causes."""
    for k in range(2):
        c = slots.cause[x, k]
        if c >= 0:
            slots.slot[x, BACKLINK + k] = slots.slot[c, FIRST]
            slots.slot[c, FIRST] = x


@inner
def _next_effect(slots, c, z):
    """Return the effect of `c` that follows `z` in its list, or -1."""
    return slots.slot[z, BACKLINK if slots.cause[z, 0] == c else BACKLINK + 1]


@inner
def _raise_effects(order, slots, x):
    """Raise all descendants of an event to their new ranks.

    The wave takes raised events in the order of their old ranks, then numbers. Ranks grow along links, so each event is
    visited once, and the visited keys ascend.

    Returns:
        The number of looks at effects, and the number of raised events: `slots.raised` holds their old keys, and
        `order.fresh` their new ranks.
    """
    fresh, heap = order.fresh, slots.heap
    visited, raised, size = 1, 0, 0
    current, target = np.int64(x), np.int64(order.rank[x]) + 1
    while True:
        z = np.int64(slots.slot[current, FIRST])
        while z >= 0:
            visited += 1
            if z == x:
                raise ValueError("an event is its own cause: the links of a timeline close a cycle")
            if max(order.rank[z], fresh[z]) < target:
                if fresh[z] < 0:
                    size = push(heap, size, (np.int64(order.rank[z]) << 32) | z, None)
                fresh[z] = target
            z = np.int64(_next_effect(slots, current, z))
        if size == 0:
            return visited, raised
        slots.raised[raised] = heap[0]
        raised += 1
        current = heap[0] & EVENT
        size = drop_first(heap, size, None)
        target = np.int64(fresh[current]) + 1


@inner
def _move_raised(order, slots, size, raised):
    """Move the raised events to their new places, the last first; return how many passed another event."""
    key, moved = order.key, 0
    for i in range(raised - 1, -1, -1):
        z = slots.raised[i] & EVENT
        at = first = np.searchsorted(key[:size], slots.raised[i])
        order.rank[z] = order.fresh[z]
        order.fresh[z] = -1
        new_key = (np.int64(order.rank[z]) << 32) | z
        while at + 1 < size and key[at + 1] < new_key:
            key[at] = key[at + 1]
            at += 1
        key[at] = new_key
        moved += at > first
    return moved


@inner
def _arrive(order, slots, size, x):
    """Insert an event and raise its descendants; return the numbers of visited, raised and moved events."""
    rank = np.int64(0)
    for k in range(2):
        c = slots.cause[x, k]
        if c >= 0:
            rank = max(rank, np.int64(order.rank[c]) + 1)
    order.rank[x] = rank
    _add_effect(slots, x)
    visited, raised = _raise_effects(order, slots, x)
    moved = _move_raised(order, slots, size, raised)
    key = (rank << 32) | x
    at = size
    while at > 0 and order.key[at - 1] > key:
        order.key[at] = order.key[at - 1]
        at -= 1
    order.key[at] = key
    return visited, raised, moved


@compiled
def _order_stream(cause, arrived):
    events = len(cause)
    order = Order(np.empty(len(arrived), np.int64), np.full(events, np.int32(-1)), np.full(events, np.int32(-1)))
    slots = Slots(cause, np.full((events, 3), np.int32(-1)), np.empty(events, np.int64), np.empty(events, np.int64))
    work = np.empty((len(arrived), 3), np.int32)
    for i in range(len(arrived)):
        x = np.int64(arrived[i])
        if order.rank[x] >= 0:
            raise ValueError("an event arrives twice; pass each event of a stream once")
        work[i, VISITED], work[i, RAISED], work[i, MOVED] = _arrive(order, slots, i, x)
    return (order.key & EVENT).astype(np.int32), order.rank, work
