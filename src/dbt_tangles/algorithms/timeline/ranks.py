"""The order of one timeline while its events arrive: finds the events that change their places, and moves them.

Source: ScuttleSort 2022-05-09, section 2.1. Compare D. J. Pearce and P. H. J. Kelly, A dynamic topological sort
algorithm for directed acyclic graphs, 2006.

The rank of an event is the length, in links, of the longest path over causes that have arrived. Events are ordered by
rank, then name; the numbers of events ascend by name, so a key, the rank times 2^32 plus the event, sorts as they do.
An arrival can raise the ranks of earlier events.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.heap import drop_first, push
from dbt_tangles.algorithms.structures.sorting import insertion_sort
from dbt_tangles.kernel_runtime.compiled import compiled, inner

EVENT = 0xFFFFFFFF  # The part of a key that is the event.
FEW = 32  # Batches of at most so many arrivals are inserted one by one.
_RECENT = 512  # Without `Order.recent`, events that arrive in no order would cost the square of their number.
_FIRST_LIMIT = 144  # Steps of the first wave.
_NO_LIMIT = 2**62
_NO_RANK = 2**31 - 1
_SIZE, _RECENT_SIZE = range(2)


class Order(NamedTuple):
    """The events that have arrived, and the links of all events."""

    key: np.ndarray  # int64[events of a timeline]; keys in order
    recent: np.ndarray  # int64[512]; the keys of further events, which changed no other, in order
    size: np.ndarray  # int64[2], the numbers of both
    rank: np.ndarray  # int32[events]; -1 for events that have not arrived
    level: np.ndarray  # int32[events]; above the level of each cause
    cause_start: np.ndarray  # int64[events + 1], into the causes
    cause: np.ndarray  # int32[links]
    effect_start: np.ndarray  # int64[events], into the effects
    effect_end: np.ndarray  # int64[events], the end of the effects that have arrived
    effect: np.ndarray  # int32[links], the events that list an event


class Change(NamedTuple):
    """The events that a batch moves. All others keep their order among each other."""

    target: np.ndarray  # int32[events]; the new rank of a changed or new event, otherwise -1
    old_key: np.ndarray  # int64[changed]; the changed events, in the old order
    before_old: np.ndarray  # int32[changed]; the number of unchanged events before each of them
    new_key: np.ndarray  # int64[changed and new]; in the new order
    before_new: np.ndarray  # int32[changed and new]; the number of unchanged events before each of them
    line: np.ndarray  # int64[events of a timeline]; scratch, as all below
    lift: np.ndarray  # int32[levels]; by how much the unchanged events of a level rise
    is_queued: np.ndarray  # bool[events]
    is_changed: np.ndarray  # bool[events]; the event changed with an earlier arrival of its batch, or is new
    earlier: np.ndarray  # int64[events of a timeline]; a part of the order before a batch


class Lift(NamedTuple):
    """The levels whose unchanged events rise."""

    bottom: int  # the lowest, or -1 where no unchanged event rises
    top: int  # the last one in `Change.lift`
    above: int  # by how much all higher levels rise


@compiled
def new_order(level, cause_start, cause, largest):
    """Make an empty order for timelines of at most so many events."""
    events = len(level)
    effect_start = np.zeros(events + 1, np.int64)
    for c in cause:
        effect_start[c + 1] += 1
    for x in range(events):
        effect_start[x + 1] += effect_start[x]
    return Order(
        np.empty(largest, np.int64),
        np.empty(_RECENT, np.int64),
        np.zeros(2, np.int64),
        np.full(events, np.int32(-1)),
        level,
        cause_start,
        cause,
        effect_start[:-1],
        effect_start[:-1].copy(),
        np.empty(len(cause), np.int32),
    )


@compiled
def new_change(events, largest):
    """Allocate room for the changes in timelines of at most so many events."""
    return Change(
        np.full(events, np.int32(-1)),
        np.empty(largest, np.int64),
        np.empty(largest, np.int32),
        np.empty(largest, np.int64),
        np.empty(largest, np.int32),
        np.empty(largest, np.int64),
        np.empty(largest + 1, np.int32),
        np.zeros(events, np.bool_),
        np.zeros(events, np.bool_),
        np.empty(largest, np.int64),
    )


@inner
def clear(order):
    """Begin the next timeline."""
    order.size[:] = 0


@inner
def arrive(order, change, events):
    """Insert a batch; return the number of changed events, and of steps."""
    if len(events) == 1:
        return _arrive_alone(order, change, events)
    _settle(order)
    if len(events) <= FEW:
        return _arrive_one_by_one(order, change, events)
    _link(order, events)
    changed = _wave(order, change, events, np.int64(_NO_LIMIT))
    return changed, _merge(order, change, changed, events, Lift(-1, -1, 0))


@inner
def _arrive_alone(order, change, events):
    """Insert an event; return the number of changed events, and of steps.

    The event may lift nearly all events above some level, as a late one does in a log whose feeds follow each other.
    The wave visits these events with all their links; `_lift` visits the others. Without it, the cost of dense graphs
    would grow with the third power of the events. Both run in turns under limits that grow, so that the cheaper one
    decides the cost.
    """
    x = events[0]
    lift = Lift(-1, -1, 0)
    _link(order, events)
    rank, bottom = _needed_rank(order, change, lift, x), _lowest_effect(order, x)
    if bottom > rank:
        order.rank[x] = rank
        _append(order, change, (rank << 32) | x)
        return 0, np.int64(1)
    _settle(order)
    changed, limit = -1, np.int64(_FIRST_LIMIT)
    while changed < 0:
        changed = _wave(order, change, events, limit)
        if changed < 0:
            changed, lift = _lower(order, change, x, Lift(bottom, bottom, rank + 1 - bottom), limit)
        limit *= 4
    return changed, limit + _merge(order, change, changed, events, lift)


@inner
def _arrive_one_by_one(order, change, events):
    """Insert a small batch; an event counts as changed if one of its arrivals changes it."""
    least = np.int64(_NO_LIMIT)
    for x in events:
        least = min(least, (_needed_rank(order, change, Lift(-1, -1, 0), x) << 32) | x, _lowest_effect(order, x) << 32)
    low, end = np.searchsorted(order.key[: order.size[_SIZE]], least), order.size[_SIZE]
    change.earlier[: end - low] = order.key[low:end]
    steps = end - low
    for i in range(len(events)):
        changed, more = _arrive_alone(order, change, events[i : i + 1])
        steps += more
        for k in range(changed + 1):
            change.is_changed[change.new_key[k] & EVENT] = True
    _settle(order)
    changed = entered = 0
    for k in range(end - low):
        if change.is_changed[change.earlier[k] & EVENT]:
            change.old_key[changed] = change.earlier[k]
            change.before_old[changed] = low + k - changed
            changed += 1
    for k in range(low, order.size[_SIZE]):
        if change.is_changed[order.key[k] & EVENT]:
            change.is_changed[order.key[k] & EVENT] = False
            change.new_key[entered] = order.key[k]
            change.before_new[entered] = k - entered
            entered += 1
    return changed, steps


@inner
def _link(order, events):
    """Add events to the effects of their causes."""
    for x in events:
        for c in order.cause[order.cause_start[x] : order.cause_start[x + 1]]:
            order.effect[order.effect_end[c]] = x
            order.effect_end[c] += 1


@inner
def _lowest_effect(order, event):
    """Return the lowest rank of an event that lists this one."""
    lowest = np.int64(_NO_RANK)
    for z in order.effect[order.effect_start[event] : order.effect_end[event]]:
        lowest = min(lowest, np.int64(order.rank[z]))
    return lowest


@inner
def _needed_rank(order, change, lift, event):
    """Return the rank that an event needs, one more than its causes' new ranks."""
    needed = np.int64(0)
    for c in order.cause[order.cause_start[event] : order.cause_start[event + 1]]:
        rank = np.int64(change.target[c])
        if rank < 0:
            rank = np.int64(order.rank[c])
            rank += _lift_of(change, lift, rank)
        needed = max(needed, rank + 1)
    return needed


@inner
def _lift_of(change, lift, level):
    """Return by how much the unchanged events of a level rise."""
    if lift.bottom < 0 or level < lift.bottom:
        return np.int64(0)
    return np.int64(change.lift[level] if level <= lift.top else lift.above)


@inner
def _append(order, change, key):
    """Insert an event that changes no other."""
    settled = np.searchsorted(order.key[: order.size[_SIZE]], key)
    count = order.size[_RECENT_SIZE]
    at = np.searchsorted(order.recent[:count], key)
    change.new_key[0] = key
    change.before_new[0] = settled + at
    for k in range(count, at, -1):
        order.recent[k] = order.recent[k - 1]
    order.recent[at] = key
    order.size[_RECENT_SIZE] = count + 1
    if count + 1 == _RECENT:
        _settle(order)


@inner
def _settle(order):
    """Merge the recent keys with the others."""
    key, recent, size = order.key, order.recent, order.size
    at, left = size[_SIZE] - 1, size[_RECENT_SIZE] - 1
    size[_SIZE] += size[_RECENT_SIZE]
    size[_RECENT_SIZE] = 0
    while left >= 0:
        if at >= 0 and key[at] > recent[left]:
            key[at + left + 1] = key[at]
            at -= 1
        else:
            key[at + left + 1] = recent[left]
            left -= 1


@inner
def _wave(order, change, events, limit):
    """Rank a batch and raise the descendants of its events; return the number of raised events, or -1 at the limit.

    Causes have lower levels than their effects, so each event has its last rank when it leaves the heap. The levels
    can be any: the ranks after all arrivals, or, for a single event, the present ranks.
    """
    rank, level, target, heap = order.rank, order.level, change.target, change.line
    size = np.int64(0)
    for x in events:
        size = push(heap, size, (np.int64(level[x]) << 32) | x, None)
    raised, steps = 0, np.int64(0)
    while size > 0 and steps <= limit:
        x = heap[0] & EVENT
        size = drop_first(heap, size, None)
        if rank[x] < 0:
            target[x] = _needed_rank(order, change, Lift(-1, -1, 0), x)
        now = np.int64(target[x])
        steps += 1 + order.effect_end[x] - order.effect_start[x]
        for z in order.effect[order.effect_start[x] : order.effect_end[x]]:
            if level[z] <= level[x]:
                raise ValueError("the level of an event is not above its causes': the links may close a cycle")
            if rank[z] >= 0 and rank[z] <= now and target[z] <= now:
                if target[z] < 0:
                    size = push(heap, size, (np.int64(level[z]) << 32) | z, None)
                    change.old_key[raised] = (np.int64(rank[z]) << 32) | z
                    raised += 1
                target[z] = now + 1
    if steps > limit:
        for i in range(raised):
            target[change.old_key[i] & EVENT] = -1
        return -1
    return raised


@inner
def _lower(order, change, x, lift, limit):
    """Insert an event, lift all levels from its lowest effect on, then lower the events that no cause holds up.

    Returns:
        The number of lowered events, or -1 at the limit, and the lift.
    """
    key, target, queue = order.key[: order.size[_SIZE]], change.target, change.line
    target[x] = lift.bottom + lift.above - 1
    at = np.searchsorted(key, lift.bottom << 32)
    waiting = 0
    while at + waiting < len(key) and key[at + waiting] >> 32 == lift.bottom and waiting <= limit:
        queue[waiting] = key[at + waiting] & EVENT
        waiting += 1
    steps, lowered = np.int64(waiting), 0
    while steps <= limit:
        top, begin = lift.top, lowered
        change.lift[top] = lift.above
        for k in range(waiting):
            y = queue[k]
            change.is_queued[y] = False
            steps += 1 + order.cause_start[y + 1] - order.cause_start[y]
            needed = _needed_rank(order, change, lift, y)
            if needed < top + lift.above:
                target[y] = needed
                change.old_key[lowered] = (top << 32) | y
                lowered += 1
        if lowered == begin:
            return lowered, lift
        if lowered - begin == waiting:
            at = np.searchsorted(key, top << 32) + waiting
            if at == len(key) or key[at] >> 32 > top:  # No event stays on the level.
                lift = Lift(lift.bottom, top, lift.above - 1)
        waiting = 0
        for i in range(begin, lowered):
            y = change.old_key[i] & EVENT
            steps += 1 + order.effect_end[y] - order.effect_start[y]
            for z in order.effect[order.effect_start[y] : order.effect_end[y]]:
                if order.rank[z] == top + 1 and not change.is_queued[z]:
                    change.is_queued[z] = True
                    queue[waiting] = z
                    waiting += 1
        if waiting == 0:
            return lowered, lift
        lift = Lift(lift.bottom, top + 1, lift.above)
    for i in range(lowered):
        target[change.old_key[i] & EVENT] = -1
    for k in range(waiting):
        change.is_queued[queue[k]] = False
    return -1, Lift(-1, -1, 0)


@inner
def _merge(order, change, changed, events, lift):
    """Move the changed events, lift the others, and insert the new ones; return the number of written keys."""
    key, size = order.key, order.size[_SIZE]
    entered = changed + len(events)
    first = _sort_keys(change, changed, events)
    if lift.bottom >= 0:
        first = lift.bottom << 32
    low = np.searchsorted(key[:size], first)
    at, gone, put = low, 0, 0
    while gone < changed or put < entered:
        here = np.int64(_NO_LIMIT)
        if at < size:
            here = key[at] + (_lift_of(change, lift, key[at] >> 32) << 32)
        if gone < changed and key[at] == change.old_key[gone]:
            change.before_old[gone] = at - gone
            gone += 1
            at += 1
        elif put < entered and change.new_key[put] < here:
            change.before_new[put] = at - gone
            change.line[at - low - gone + put] = change.new_key[put]
            put += 1
        else:
            change.line[at - low - gone + put] = here
            order.rank[here & EVENT] = here >> 32
            at += 1
    for k in range(size - 1, at - 1, -1):
        key[k + len(events)] = key[k]
    end = at + len(events)
    order.size[_SIZE] = size + len(events)
    key[low:end] = change.line[: end - low]
    if lift.bottom >= 0:
        for k in range(end, order.size[_SIZE]):
            key[k] += _lift_of(change, lift, key[k] >> 32) << 32
            order.rank[key[k] & EVENT] = key[k] >> 32
        end = order.size[_SIZE]
    for new_key in change.new_key[:entered]:
        order.rank[new_key & EVENT] = new_key >> 32
        change.target[new_key & EVENT] = -1
    return end - low


@inner
def _sort_keys(change, changed, events):
    """Sort the changed events by their old keys, and these and new events by their new keys; return the least key."""
    target, old_key, new_key = change.target, change.old_key, change.new_key
    for i in range(len(events)):
        new_key[i] = (np.int64(target[events[i]]) << 32) | events[i]
    for i in range(changed):
        new_key[len(events) + i] = (np.int64(target[old_key[i] & EVENT]) << 32) | (old_key[i] & EVENT)
    insertion_sort(old_key[:changed])
    insertion_sort(new_key[: changed + len(events)])
    return min(new_key[0], old_key[0]) if changed > 0 else new_key[0]
