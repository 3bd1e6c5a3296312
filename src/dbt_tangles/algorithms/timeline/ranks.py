"""New ranks: what changes when events arrive in an order.

The rank of an event is the longest path, in links, over those of its causes that have arrived. An arrival can raise
what was there (dynamic longest paths; compare D. J. Pearce and P. H. J. Kelly, A dynamic topological sort algorithm for
directed acyclic graphs, 2006). Which events have other ranks is found in two ways in turn, under limits that grow
together, so the way that is cheap for the case at hand decides what it costs.

Each way leaves those old events whose rank is another in `changed` and all new ranks in their spots, or gives up at its
limit and leaves no trace.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.heap import drop_first, push
from dbt_tangles.algorithms.timeline.blocks import BLOCK, COUNT, FRESH, LIFT, RANK, SEEN, find, rank_of
from dbt_tangles.kernel_runtime.compiled import inner

NO_LIMIT = 1 << 62
FIRST_LIMIT = 128  # Steps of the first attempt at a batch, beside those that its size makes natural.


class Links(NamedTuple):
    """Causes of all events, and effects of those that arrived."""

    cause_start: np.ndarray  # int64[events + 1].
    cause: np.ndarray  # int32[links].
    span: np.ndarray  # int64[events, 2]; where its effects begin, and where those that arrived end.
    effect: np.ndarray  # int32[links].


@inner
def link(links, event):
    """Let the causes of an event know it."""
    span = links.span
    for e in range(links.cause_start[event], links.cause_start[event + 1]):
        c = links.cause[e]
        links.effect[span[c, 1]] = event
        span[c, 1] += 1


@inner
def unlink(links, event):
    """Take back what `link` did last."""
    for e in range(links.cause_start[event], links.cause_start[event + 1]):
        links.span[links.cause[e], 1] -= 1


class Work(NamedTuple):
    """Room for finding new ranks, for events of all timelines or of the largest."""

    attempts: np.ndarray  # int64[1]; how many there were in this timeline.
    few: np.ndarray  # int64[1]; how many batches of few arrivals there were.
    queue: np.ndarray  # int32[largest].
    ready: np.ndarray  # int32[largest].
    heap: np.ndarray  # int64[largest].
    base: np.ndarray  # int32[largest]; by level, how far it is lifted.
    changed: np.ndarray  # int32[largest]; old events of a new rank.
    index: np.ndarray  # int32[events]; of a changed event, its number in the old order.
    old_key: np.ndarray  # int64[largest].
    new_key: np.ndarray  # int64[largest]; of changed and new events.
    line: np.ndarray  # int64[largest]; keys of a part of the new order.
    member: np.ndarray  # int32[events]; the last batch of few arrivals that it was new or changed in.
    was_at: np.ndarray  # int64[largest]; of that batch the changed, in the order before it: position and event.


@inner
def rank_alone(order, links, event):
    """Find the rank of an event that arrives, and the lowest level that has an effect of it.

    Raises:
        ValueError: The event is its own cause.
    """
    rank = np.int64(0)
    for e in range(links.cause_start[event], links.cause_start[event + 1]):
        c = links.cause[e]
        if order.spot[c, BLOCK] >= 0:
            rank = max(rank, rank_of(order, c) + 1)
    bottom = np.int64(NO_LIMIT)
    for e in range(links.span[event, 0], links.span[event, 1]):
        if links.effect[e] == event:
            raise ValueError("an event is its own cause")
        bottom = min(bottom, rank_of(order, links.effect[e]))
    return rank, bottom


@inner
def find_ranks(order, links, work, events, single, rank, bottom):
    """Find the new ranks that a batch brings, in the way that is cheapest.

    Args:
        order: The order.
        links: The links, with those of the batch.
        work: Is filled.
        events: The batch.
        single: Whether it is one event, of which `rank_alone` gave what follows.
        rank: Its rank.
        bottom: The level of its lowest effect.

    Returns:
        How many old events changed, and what `_lift_and_lower` returns beside, with -1 for the level if nothing
        is lifted.
    """
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
    """Look up the fresh rank, or the one in the order, or -1."""
    spot, block = order.spot, order.block
    at = spot[event, BLOCK]
    old = np.int64(spot[event, RANK]) + block[max(at, 0), LIFT] if at >= 0 else np.int64(-1)
    return np.int64(spot[event, FRESH]) if spot[event, FRESH] >= 0 else old


@inner
def _raise_above(order, links, work, events, limit):
    """Let events in one by one, and raise what is above each; how many old ones changed, or -1.

    Ranks grow along links, so in the order of the ranks before the wave each event is raised once.
    """
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
                    raise ValueError("an event is its own cause")
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
    # An event of the same batch that was raised is not an old one.
    old = 0
    for k in range(changed):
        if spot[touched[k], BLOCK] >= 0:
            touched[old] = touched[k]
            old += 1
    return old


@inner
def _rank_again(order, links, work, events, limit):
    """Let events in at once: rank all that is above any of them, each after its causes; how many changed, or -1."""
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
        raise ValueError("an event is its own cause")
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
    """Let an event in and lift all from its lowest effect on, then lower what is not held up.

    All ranks from the effect's level on are tried as higher by as much as the effect rises, which is the most that
    anything can rise. An event then belongs lower if no cause is right below it. Those of the effect's level are
    looked at, and on each further level those that had a lowered cause right below. A level that is emptied so is
    closed: all above it is lifted by one less, which loses no order, as links never lead to the same level.

    Args:
        order: The order.
        links: The links.
        work: `changed` is filled; `base` is, by level, by how much the events that did not change are
            lifted.
        x: The event.
        rank: Its rank.
        bottom: The level of its lowest effect, not above its rank.
        limit: The steps to give up at.

    Returns:
        How many changed, or -1; the last level in `base`, above which all is lifted alike; by how much that is.

    Raises:
        ValueError: The event is above itself.
    """
    spot, block, entry, directory = order.spot, order.block, order.entry, order.directory
    cause_start, cause, span, effect = links.cause_start, links.cause, links.span, links.effect
    base, candidates, touched = work.base, work.queue, work.changed
    used = order.size[0]
    work.attempts[0] += 1
    attempt = work.attempts[0]
    size = 0
    steps = np.int64(0)
    place, i = find(order, bottom << 32)
    while place < used and steps <= limit:
        at = directory[place]
        if i == block[at, COUNT]:
            place += 1
            i = 0
            continue
        y = entry[at, i]
        if spot[y, RANK] + block[at, LIFT] > bottom:
            break
        candidates[size] = y
        size += 1
        steps += 1
        i += 1
    spot[x, FRESH] = rank
    lift = rank + 1 - bottom
    level = bottom
    changed = 0
    while steps <= limit:
        base[level] = lift
        begin = changed
        for k in range(size):
            y = candidates[k]
            needed = np.int64(0)
            for e in range(cause_start[y], cause_start[y + 1]):
                c = cause[e]
                if spot[c, FRESH] >= 0:
                    needed = max(needed, np.int64(spot[c, FRESH]) + 1)
                elif spot[c, BLOCK] >= 0:
                    held = rank_of(order, c)
                    if held >= bottom:
                        held += base[held]
                    needed = max(needed, held + 1)
            steps += 1 + cause_start[y + 1] - cause_start[y]
            if needed < level + lift:
                spot[y, FRESH] = needed
                touched[changed] = y
                changed += 1
        if changed == begin:
            return changed, level, lift
        if changed - begin == size:
            # All candidates go; whether there are others on the level is seen right after as many entries.
            place, i = find(order, level << 32)
            i += size
            while place < used and i >= block[directory[place], COUNT]:
                i -= block[directory[place], COUNT]
                place += 1
            if place == used or rank_of(order, entry[directory[place], i]) > level:
                lift -= 1
        size = 0
        for k in range(begin, changed):
            y = touched[k]
            for e in range(span[y, 0], span[y, 1]):
                z = effect[e]
                if spot[z, SEEN] != attempt and spot[z, BLOCK] >= 0 and rank_of(order, z) == level + 1:
                    spot[z, SEEN] = attempt
                    candidates[size] = z
                    size += 1
            steps += 1 + span[y, 1] - span[y, 0]
        if size == 0:
            return changed, level, lift
        level += 1
    for k in range(changed):
        spot[touched[k], FRESH] = -1
    spot[x, FRESH] = -1
    return -1, level, lift
