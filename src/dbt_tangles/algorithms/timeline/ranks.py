"""Dynamic longest paths: the events whose ranks change when a batch of events arrives, and their new ranks.

Source: ScuttleSort 2022-05-09, section 2.1. Compare D. J. Pearce and P. H. J. Kelly, A dynamic topological sort
algorithm for directed acyclic graphs, 2006.

The rank of an event is the length, in links, of the longest path over causes that have arrived. An arrival can raise
earlier events. Two methods search the changed events in turn, under limits that grow together, so that the cheaper
method of each case decides the cost.

A method either fills `changed` with the old events of a new rank and writes all new ranks, or gives up at its limit and
restores the state before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.heap import drop_first, push
from dbt_tangles.algorithms.timeline.blocks import BLOCK, COUNT, FRESH, LIFT, OWN_CAUSE, RANK, SEEN, find, rank_of
from dbt_tangles.kernel_runtime.compiled import compiled, inner

NO_LIMIT = 1 << 62
FIRST_LIMIT = 128  # Steps of the first attempt at a batch, beside those that its size makes natural.


class Links(NamedTuple):
    """Causes of all events, and effects of the events that have arrived."""

    cause_start: np.ndarray  # int64[events + 1].
    cause: np.ndarray  # int32[links].
    span: np.ndarray  # int64[events, 2]; the start of its effects, and the end of the effects that have arrived.
    effect: np.ndarray  # int32[links].


@compiled
def new_links(events, cause_start, cause):
    """Make room for the effects of each event; no event has arrived."""
    span = np.zeros((events + 1, 2), np.int64)
    for c in cause:
        span[c + 1, 0] += 1
    for event in range(events):
        span[event + 1, 0] += span[event, 0]
        span[event, 1] = span[event, 0]
    return Links(cause_start, cause, span, np.empty(len(cause), np.int32))


@inner
def link(links, event):
    """Add an event to the effects of its causes."""
    span = links.span
    for e in range(links.cause_start[event], links.cause_start[event + 1]):
        c = links.cause[e]
        links.effect[span[c, 1]] = event
        span[c, 1] += 1


@inner
def unlink(links, event):
    """Undo the last `link`."""
    for e in range(links.cause_start[event], links.cause_start[event + 1]):
        links.span[links.cause[e], 1] -= 1


class Work(NamedTuple):
    """Scratch arrays of the search, sized for the events of all timelines or of the largest."""

    attempts: np.ndarray  # int64[1]; number of attempts in this timeline.
    few: np.ndarray  # int64[1]; number of small batches so far.
    queue: np.ndarray  # int32[largest].
    ready: np.ndarray  # int32[largest].
    heap: np.ndarray  # int64[largest].
    base: np.ndarray  # int32[largest]; the lift of each level.
    changed: np.ndarray  # int32[largest]; old events of a new rank.
    index: np.ndarray  # int32[events]; the number of a changed event in the old order.
    old_key: np.ndarray  # int64[largest].
    new_key: np.ndarray  # int64[largest]; of changed and new events.
    line: np.ndarray  # int64[largest]; keys of a part of the new order.
    member: np.ndarray  # int32[events]; the last small batch in which the event was new or changed.
    was_at: np.ndarray  # int64[largest]; position and event of that batch's changed events, in the order before it.


@compiled
def new_work(events, largest):
    """Allocate scratch for the events of all timelines, of which the largest has `largest` - 1 events."""
    return Work(
        attempts=np.zeros(1, np.int64),
        few=np.zeros(1, np.int64),
        queue=np.empty(largest, np.int32),
        ready=np.empty(largest, np.int32),
        heap=np.empty(largest, np.int64),
        base=np.empty(largest, np.int32),
        changed=np.empty(largest, np.int32),
        index=np.empty(events, np.int32),
        old_key=np.empty(largest, np.int64),
        new_key=np.empty(largest, np.int64),
        line=np.empty(largest, np.int64),
        member=np.zeros(events, np.int32),
        was_at=np.empty(largest, np.int64),
    )


@inner
def rank_alone(order, links, event):
    """Find the rank of an arriving event, and the lowest level of its effects."""
    rank = np.int64(0)
    for e in range(links.cause_start[event], links.cause_start[event + 1]):
        c = links.cause[e]
        if order.spot[c, BLOCK] >= 0:
            rank = max(rank, rank_of(order, c) + 1)
    bottom = np.int64(NO_LIMIT)
    for e in range(links.span[event, 0], links.span[event, 1]):
        if links.effect[e] == event:
            raise ValueError(OWN_CAUSE)
        bottom = min(bottom, rank_of(order, links.effect[e]))
    return rank, bottom


@inner
def find_ranks(order, links, work, events, single, rank, bottom):
    """Find the new ranks of a batch and of the events that it raises, by the cheapest method."""
    limit = np.int64(FIRST_LIMIT + 16 * len(events))
    if order.size[1] == 0:
        limit = np.int64(NO_LIMIT)
    while True:
        if not single:
            changed = _rank_again(order, links, work, events, limit)
            if changed >= 0:
                return changed, np.int64(-1), np.int64(0)
        changed = _raise_above(order, links, work, events, limit)
        if changed >= 0:
            return changed, np.int64(-1), np.int64(0)
        if single:
            changed, top, lift = _lift_and_lower(order, links, work, events[0], rank, bottom, limit)
            if changed >= 0:
                return changed, top, lift
        limit *= 4


@inner
def _known_rank(order, event):
    """Return the fresh rank of an event, or its rank in the order, or -1."""
    spot, block = order.spot, order.block
    at = spot[event, BLOCK]
    old = np.int64(spot[event, RANK]) + block[max(at, 0), LIFT] if at >= 0 else np.int64(-1)
    return np.int64(spot[event, FRESH]) if spot[event, FRESH] >= 0 else old


@inner
def _raise_above(order, links, work, events, limit):
    """Insert events one by one and raise their descendants; return the number of changed old events, or -1."""
    spot = order.spot
    cause_start, cause, span, effect = links.cause_start, links.cause, links.span, links.effect
    heap, touched = work.heap, work.changed
    wave = work.attempts[0]
    changed = 0
    steps = np.int64(0)
    entered = 0
    while entered < len(events) and steps <= limit:
        x = events[entered]
        entered += 1
        wave += 1
        rank = np.int64(0)
        for e in range(cause_start[x], cause_start[x + 1]):
            rank = max(rank, _known_rank(order, cause[e]) + 1)
        spot[x, FRESH] = rank
        size = 0
        current = np.int64(x)
        while True:
            target = np.int64(spot[current, FRESH]) + 1
            for e in range(span[current, 0], span[current, 1]):
                z = effect[e]
                known = _known_rank(order, z)
                if known < 0 or known >= target:
                    continue
                if z == x:
                    raise ValueError(OWN_CAUSE)
                if spot[z, FRESH] < 0:
                    touched[changed] = z
                    changed += 1
                spot[z, FRESH] = target
                if spot[z, SEEN] != wave:
                    spot[z, SEEN] = wave
                    size = push(heap, size, (known << 32) | z, None)
            steps += 1 + span[current, 1] - span[current, 0]
            if size == 0 or steps > limit:
                break
            current = heap[0] & 0xFFFFFFFF
            size = drop_first(heap, size, None)
    work.attempts[0] = wave
    if steps > limit:
        for k in range(entered):
            spot[events[k], FRESH] = -1
        for k in range(changed):
            spot[touched[k], FRESH] = -1
        return -1
    # Raised events of the same batch are not old.
    old = 0
    for k in range(changed):
        if spot[touched[k], BLOCK] >= 0:
            touched[old] = touched[k]
            old += 1
    return old


@inner
def _rank_again(order, links, work, events, limit):
    """Insert events at once and rank all their descendants in topological order; return the changed number, or -1."""
    spot = order.spot
    cause_start, cause, span, effect = links.cause_start, links.cause, links.span, links.effect
    queue, ready = work.queue, work.ready
    size = len(events)
    for k in range(size):
        queue[k] = events[k]
        spot[events[k], FRESH] = 0
        spot[events[k], SEEN] = 0
    steps = np.int64(0)
    head = 0
    while head < size:
        y = queue[head]
        head += 1
        for e in range(span[y, 0], span[y, 1]):
            z = effect[e]
            if spot[z, FRESH] < 0:
                spot[z, FRESH] = rank_of(order, z)
                spot[z, SEEN] = 0
                queue[size] = z
                size += 1
            spot[z, SEEN] += 1
        steps += 1 + span[y, 1] - span[y, 0]
        if steps > limit:
            for k in range(size):
                spot[queue[k], FRESH] = -1
                spot[queue[k], SEEN] = 0
            return -1
    tail = 0
    for x in events:
        for e in range(cause_start[x], cause_start[x + 1]):
            c = cause[e]
            if spot[c, BLOCK] >= 0:
                spot[x, FRESH] = max(np.int64(spot[x, FRESH]), rank_of(order, c) + 1)
        if spot[x, SEEN] == 0:
            ready[tail] = x
            tail += 1
    head = 0
    while head < tail:
        y = ready[head]
        head += 1
        for e in range(span[y, 0], span[y, 1]):
            z = effect[e]
            spot[z, FRESH] = max(spot[z, FRESH], spot[y, FRESH] + 1)
            spot[z, SEEN] -= 1
            if spot[z, SEEN] == 0:
                ready[tail] = z
                tail += 1
    if tail < size:
        raise ValueError(OWN_CAUSE)
    changed = 0
    for k in range(len(events), size):
        z = queue[k]
        if spot[z, FRESH] > rank_of(order, z):
            work.changed[changed] = z
            changed += 1
        else:
            spot[z, FRESH] = -1
    return changed


@inner
def _lift_and_lower(order, links, work, x, rank, bottom, limit):
    """Insert an event, lift all levels from its lowest effect on, then lower the events without support."""
    spot, base, touched, span = order.spot, work.base, work.changed, links.span
    work.attempts[0] += 1
    size = _list_level(order, bottom, work.queue, limit)
    steps = np.int64(size)
    spot[x, FRESH] = rank
    lift = rank + 1 - bottom
    level = bottom
    changed = 0
    while steps <= limit:
        base[level] = lift
        begin = changed
        for k in range(size):
            y = work.queue[k]
            needed = _needed_rank(order, links, base, bottom, y)
            steps += 1 + links.cause_start[y + 1] - links.cause_start[y]
            if needed < level + lift:
                spot[y, FRESH] = needed
                touched[changed] = y
                changed += 1
        if changed == begin:
            return changed, level, lift
        if changed - begin == size and _has_only(order, level, size):
            lift -= 1
        size = 0
        for k in range(begin, changed):
            y = touched[k]
            size = _add_effects(order, links, work, y, level + 1, size)
            steps += 1 + span[y, 1] - span[y, 0]
        if size == 0:
            return changed, level, lift
        level += 1
    for k in range(changed):
        spot[touched[k], FRESH] = -1
    spot[x, FRESH] = -1
    return -1, level, lift


@inner
def _list_level(order, level, candidates, limit):
    """List the events of a level, one more than the limit at most; return their number."""
    directory, block = order.directory, order.block
    place, i = find(order, level << 32)
    size = 0
    while place < order.size[0] and size <= limit:
        at = directory[place]
        if i == block[at, COUNT]:
            place += 1
            i = np.int64(0)
            continue
        y = order.entry[at, i]
        if order.spot[y, RANK] + block[at, LIFT] > level:
            break
        candidates[size] = y
        size += 1
        i += 1
    return size


@inner
def _needed_rank(order, links, base, bottom, event):
    """Return the rank that an event needs, given the lifts of the levels below it and the fresh ranks found so far."""
    spot = order.spot
    needed = np.int64(0)
    for e in range(links.cause_start[event], links.cause_start[event + 1]):
        c = links.cause[e]
        if spot[c, FRESH] >= 0:
            needed = max(needed, np.int64(spot[c, FRESH]) + 1)
        elif spot[c, BLOCK] >= 0:
            held = rank_of(order, c)
            if held >= bottom:
                held += base[held]
            needed = max(needed, held + 1)
    return needed


@inner
def _has_only(order, level, size):
    """Whether a level has no more than `size` events: the entry after so many is of a higher level."""
    directory, block = order.directory, order.block
    place, i = find(order, level << 32)
    i += size
    while place < order.size[0] and i >= block[directory[place], COUNT]:
        i -= block[directory[place], COUNT]
        place += 1
    return place == order.size[0] or rank_of(order, order.entry[directory[place], i]) > level


@inner
def _add_effects(order, links, work, event, level, size):
    """Add the effects of an event that stand on a level to the candidates, each once; return the candidates' number."""
    spot, attempt = order.spot, work.attempts[0]
    for e in range(links.span[event, 0], links.span[event, 1]):
        z = links.effect[e]
        if spot[z, SEEN] != attempt and spot[z, BLOCK] >= 0 and rank_of(order, z) == level:
            spot[z, SEEN] = attempt
            work.queue[size] = z
            size += 1
    return size
