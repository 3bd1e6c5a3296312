"""Edit streams: how the order of a timeline changes as its events arrive.

The order is by rank, then event; the rank of an event is the longest path, in links, over those of its causes that
have arrived. An event may come before its causes, so an arrival can raise what was there. After each batch of
arrivals the shortest script is written that turns the order before it into the order after it: one `ins` for each
new event, one `mov` for each that cannot stay where it is.

Three things keep a step from costing more than what changes:

* The order is a list of blocks, each with a number to add to the ranks in it. A rise that nearly everything above
  some level takes part in costs a few additions, and the events that do not take part.
* Which events have other ranks is found in two ways in turn, under limits that grow together, so the way that is
  cheap for the case at hand decides what it costs.
* What keeps its mutual order (the frame) is only counted; the events that changed are weighed against it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.graph.compiled import compiled

_CAPACITY = 256  # Entries of a block.
_FIRST_LIMIT = 256  # Steps that the first attempt at a batch may take, beside those that its size makes natural.
_NO_LIMIT = 1 << 62


class Commands(NamedTuple):
    """Scripts, one entry for each command, in order of timeline, batch and step.

    A command takes an event out of the order (not an `ins`), then puts it in before what is then at that place.

    Attributes:
        event: int32[commands].
        batch: int64[commands]; the number of the batch.
        taken: int32[commands]; the position it is taken from, -1 for an `ins`.
        put: int32[commands]; the position it is put to, counted without it.
    """

    event: np.ndarray
    batch: np.ndarray
    taken: np.ndarray
    put: np.ndarray


class _Links(NamedTuple):
    """Causes of all events, and effects of those that arrived."""

    cause_start: np.ndarray  # int64[events + 1].
    cause: np.ndarray  # int32[links].
    effect_start: np.ndarray  # int64[events]; room for all effects, also those to come.
    effect_end: np.ndarray  # int64[events]; where those that arrived end.
    effect: np.ndarray  # int32[links].


class _Order(NamedTuple):
    """A timeline's events in order, in blocks. A key is a rank and an event in one number."""

    entry: np.ndarray  # int32[blocks, _CAPACITY].
    count: np.ndarray  # int32[blocks]; entries of a block.
    lift: np.ndarray  # int32[blocks]; what is added to the ranks of its entries.
    place: np.ndarray  # int32[blocks]; where it is in the directory.
    directory: np.ndarray  # int32[blocks]; the blocks in order, then those not in use.
    first: np.ndarray  # int64[blocks]; by place, the key of the first entry.
    tree: np.ndarray  # int64[blocks + 1]; by place, Fenwick's sums of counts.
    size: np.ndarray  # int64[2]; blocks in use, entries.
    rank: np.ndarray  # int32[events]; less the lift of its block.
    home: np.ndarray  # int32[events]; its block, -1 for those not there.


class _Work(NamedTuple):
    """What a step needs room for; nothing in it outlives a step but what is said."""

    fresh: np.ndarray  # int32[events]; a new rank, -1 for none. All -1 between steps.
    waiting: np.ndarray  # int32[events]. All 0 between steps.
    mark: np.ndarray  # int64[events]; the last attempt that saw it.
    attempts: np.ndarray  # int64[1].
    queue: np.ndarray  # int32[largest timeline + 1].
    ready: np.ndarray  # int32[largest timeline + 1].
    heap: np.ndarray  # int64[largest timeline + 1].
    base: np.ndarray  # int32[largest timeline + 2]; by level, how far it is lifted.
    changed: np.ndarray  # int32[largest timeline + 1].
    index: np.ndarray  # int32[events]; of a changed event, its place among those in the old order.
    old_key: np.ndarray  # int64[largest timeline + 1].
    new_key: np.ndarray  # int64[largest timeline + 1].


class _Script(NamedTuple):
    """Room for a script. Changed events are numbered in the old order, items (changed and new) in the new one."""

    before_old: np.ndarray  # int32[changed]; how many of the frame were before it.
    before_new: np.ndarray  # int32[items].
    old_of: np.ndarray  # int32[items]; its number in the old order, -1 for new events.
    item: np.ndarray  # int32[items]; the event.
    worth: np.ndarray  # int32[items]; the most that is kept up to it if it is kept.
    previous: np.ndarray  # int32[items]; the item kept before it then, -1 for none.
    best: np.ndarray  # int32[items + 1]; Fenwick's maxima of worth, as items.
    nearest: np.ndarray  # int32[items + 1]; the same of worth less the end of the gap it makes.
    kept: np.ndarray  # bool[changed].
    dropped: np.ndarray  # int32[frame]; which of the frame move, counted in the frame.
    dropped_event: np.ndarray  # int32[frame].
    mover_kept: np.ndarray  # int32[movers]; in the old order, how many that stay are before it.
    mover_of: np.ndarray  # int32[changed]; which mover a changed event is.
    mover_of_dropped: np.ndarray  # int32[frame].
    unplaced: np.ndarray  # int32[movers + 1]; Fenwick's counts.
    step_event: np.ndarray  # int32[steps].
    step_kept: np.ndarray  # int32[steps]; in the new order, how many that stay are before it.
    step_mover: np.ndarray  # int32[steps]; -1 for new events.


def edit_stream(
    event_start: np.ndarray,
    cause_start: np.ndarray,
    cause: np.ndarray,
    arrival_start: np.ndarray,
    arrived: np.ndarray,
    batch: np.ndarray,
    published: np.ndarray,
) -> Commands:
    """Write the shortest scripts that keep the orders of many timelines up to date.

    Events of a timeline are neighbours and ascend by name.

    Args:
        event_start: int64[timelines + 1].
        cause_start: int64[events + 1].
        cause: int32[links]; for each event its causes, distinct, of its timeline, that arrive at some time. No event
            is, over any links, its own cause.
        arrival_start: int64[timelines + 1].
        arrived: int32[arrivals]; events in order of arrival, each once.
        batch: int64[arrivals]; does not fall within a timeline. Neighbours of the same number arrive at once.
        published: int64[timelines]; how many of the first arrivals the order has already. A batch is published as a
            whole, and its commands are not written.

    Returns:
        The commands.

    Raises:
        ValueError: `published` is out of range or splits a batch, or an event is its own cause over links.
    """
    event_start = np.ascontiguousarray(event_start, np.int64)
    arrival_start = np.ascontiguousarray(arrival_start, np.int64)
    batch = np.ascontiguousarray(batch, np.int64)
    published = np.ascontiguousarray(published, np.int64)
    if np.any(published < 0) or np.any(published > np.diff(arrival_start)):
        raise ValueError("more arrivals are published than there are")
    some = (published > 0) & (published < np.diff(arrival_start))
    cut = arrival_start[:-1][some] + published[some]
    if np.any(batch[cut] == batch[cut - 1]):
        raise ValueError("a batch is published in part")
    return Commands(
        *_edit_stream(
            event_start,
            np.ascontiguousarray(cause_start, np.int64),
            np.ascontiguousarray(cause, np.int32),
            arrival_start,
            np.ascontiguousarray(arrived, np.int32),
            batch,
            published,
        )
    )


def script(event_start: np.ndarray, old_position: np.ndarray, new_position: np.ndarray) -> Commands:
    """Write the shortest script from one order of each timeline to another.

    Args:
        event_start: int64[timelines + 1].
        old_position: int32[events], counted from 0 in each timeline without gaps; -1 for those not there.
        new_position: int32[events]; as before. What is in the old order is in the new one.

    Returns:
        The commands, all of batch 0.

    Raises:
        ValueError: An event is in the old order only, or positions are not those of an order.
    """
    return Commands(
        *_scripts(
            np.ascontiguousarray(event_start, np.int64),
            np.ascontiguousarray(old_position, np.int32),
            np.ascontiguousarray(new_position, np.int32),
        )
    )


# The order.


@compiled
def _rank(order, event):
    return order.rank[event] + order.lift[order.home[event]]


@compiled
def _key(order, event):
    return (np.int64(_rank(order, event)) << 32) | event


@compiled
def _sum_before(tree, place):
    total = 0
    while place > 0:
        total += tree[place]
        place &= place - 1
    return total


@compiled
def _add(tree, size, place, number):
    place += 1
    while place <= size:
        tree[place] += number
        place += place & -place


@compiled
def _index_blocks(order, place):
    """Make directory and sums agree again, from a place on."""
    used = order.size[0]
    for at in range(place, used):
        order.place[order.directory[at]] = at
    for at in range(1, used + 1):
        order.tree[at] = order.count[order.directory[at - 1]]
    for at in range(1, used + 1):
        above = at + (at & -at)
        if above <= used:
            order.tree[above] += order.tree[at]


@compiled
def _clear(order):
    order.size[:] = 0
    order.size[0] = 1
    block = order.directory[0]
    order.count[block] = 0
    order.lift[block] = 0
    order.place[block] = 0
    order.tree[1] = 0


@compiled
def _find(order, key):
    """Find the first entry whose key is not below another: a place in the directory, and in the block there."""
    low = 0
    high = order.size[0]
    while high - low > 1:
        middle = (low + high) >> 1
        if order.first[middle] <= key:
            low = middle
        else:
            high = middle
    block = order.directory[low]
    place = low
    # Keys of one block are compared without its lift.
    key -= np.int64(order.lift[block]) << 32
    low = 0
    high = order.count[block]
    while low < high:
        middle = (low + high) >> 1
        event = order.entry[block, middle]
        if ((np.int64(order.rank[event]) << 32) | event) < key:
            low = middle + 1
        else:
            high = middle
    return place, low


@compiled
def _pack(order):
    """Spread the entries over as few blocks as leave room for more."""
    total = order.size[1]
    event = np.empty(total, np.int32)
    rank = np.empty(total, np.int32)
    at = 0
    for place in range(order.size[0]):
        block = order.directory[place]
        for i in range(order.count[block]):
            event[at] = order.entry[block, i]
            rank[at] = order.rank[event[at]] + order.lift[block]
            at += 1
    fill = _CAPACITY * 3 // 4
    used = (total + fill - 1) // fill
    order.size[0] = used
    for place in range(used):
        block = order.directory[place]
        order.lift[block] = 0
        order.count[block] = min(fill, total - place * fill)
        order.first[place] = (np.int64(rank[place * fill]) << 32) | event[place * fill]
        for i in range(order.count[block]):
            e = event[place * fill + i]
            order.entry[block, i] = e
            order.rank[e] = rank[place * fill + i]
            order.home[e] = block
    _index_blocks(order, 0)


@compiled
def _split(order, place):
    """Make room in a full block, or everywhere."""
    used = order.size[0]
    if used == len(order.directory):
        # Blocks that lost most of their entries; there are more blocks than full ones would need.
        _pack(order)
        return
    block = order.directory[place]
    other = order.directory[used]
    for at in range(used, place + 1, -1):
        order.directory[at] = order.directory[at - 1]
        order.first[at] = order.first[at - 1]
    order.directory[place + 1] = other
    half = _CAPACITY // 2
    order.lift[other] = order.lift[block]
    order.count[other] = _CAPACITY - half
    for i in range(half, _CAPACITY):
        event = order.entry[block, i]
        order.entry[other, i - half] = event
        order.home[event] = other
    order.count[block] = half
    order.size[0] = used + 1
    order.first[place + 1] = _key(order, order.entry[other, 0])
    _index_blocks(order, place + 1)


@compiled
def _insert(order, key):
    """Put an event in; its position."""
    place, i = _find(order, key)
    block = order.directory[place]
    if order.count[block] == _CAPACITY:
        _split(order, place)
        place, i = _find(order, key)
        block = order.directory[place]
    for at in range(order.count[block], i, -1):
        order.entry[block, at] = order.entry[block, at - 1]
    event = key & 0xFFFFFFFF
    order.entry[block, i] = event
    order.count[block] += 1
    order.rank[event] = (key >> 32) - order.lift[block]
    order.home[event] = block
    if i == 0:
        order.first[place] = key
    order.size[1] += 1
    _add(order.tree, order.size[0], place, 1)
    return _sum_before(order.tree, place) + i


@compiled
def _remove(order, event):
    """Take an event out; the position it had."""
    block = order.home[event]
    place = order.place[block]
    rank = order.rank[event]
    low = 0
    high = order.count[block] - 1
    while low < high:
        middle = (low + high) >> 1
        other = order.entry[block, middle]
        if order.rank[other] < rank or (order.rank[other] == rank and other < event):
            low = middle + 1
        else:
            high = middle
    position = _sum_before(order.tree, place) + low
    order.count[block] -= 1
    order.size[1] -= 1
    order.home[event] = -1
    for at in range(low, order.count[block]):
        order.entry[block, at] = order.entry[block, at + 1]
    if order.count[block] == 0 and order.size[0] > 1:
        order.size[0] -= 1
        for at in range(place, order.size[0]):
            order.directory[at] = order.directory[at + 1]
            order.first[at] = order.first[at + 1]
        order.directory[order.size[0]] = block
        _index_blocks(order, place)
        return position
    if low == 0 and order.count[block] > 0:
        order.first[place] = _key(order, order.entry[block, 0])
    _add(order.tree, order.size[0], place, -1)
    return position


@compiled
def _select(order, position):
    """Find the place and index of an entry by its position."""
    used = order.size[0]
    step = 1
    while step * 2 <= used:
        step *= 2
    place = 0
    while step > 0:
        if place + step <= used and order.tree[place + step] <= position:
            place += step
            position -= order.tree[place]
        step >>= 1
    return place, position


# New ranks. Each way leaves those events whose rank is another in `changed` (old ones only) and all new ranks in
# `fresh`, or gives up at its limit and leaves no trace.


@compiled
def _known_rank(order, work, event):
    if work.fresh[event] >= 0:
        return np.int64(work.fresh[event])
    if order.home[event] >= 0:
        return np.int64(_rank(order, event))
    return np.int64(-1)


@compiled
def _raise(order, links, work, events, limit):
    """Let events in one by one, and raise what is above each; how many changed, or -1.

    Ranks grow along links, so in the order of the ranks before the wave each event is raised once.
    """
    fresh, heap = work.fresh, work.heap
    changed = 0
    steps = 0
    entered = 0
    for x in events:
        entered += 1
        work.attempts[0] += 1
        wave = work.attempts[0]
        rank = np.int64(0)
        for e in range(links.cause_start[x], links.cause_start[x + 1]):
            rank = max(rank, _known_rank(order, work, links.cause[e]) + 1)
        fresh[x] = rank
        size = 0
        current = np.int64(x)
        while True:
            target = fresh[current] + 1
            for e in range(links.effect_start[current], links.effect_end[current]):
                z = links.effect[e]
                known = _known_rank(order, work, z)
                if known < 0 or known >= target:
                    continue
                if z == x:
                    raise ValueError("an event is its own cause")
                if fresh[z] < 0:
                    work.changed[changed] = z
                    changed += 1
                fresh[z] = target
                if work.mark[z] != wave:
                    work.mark[z] = wave
                    key = (known << 32) | z
                    at = size
                    size += 1
                    while at > 0 and heap[(at - 1) >> 1] > key:
                        heap[at] = heap[(at - 1) >> 1]
                        at = (at - 1) >> 1
                    heap[at] = key
            steps += 1 + links.effect_end[current] - links.effect_start[current]
            if size == 0 or steps > limit:
                break
            current = heap[0] & 0xFFFFFFFF
            size -= 1
            key = heap[size]
            at = 0
            while True:
                below = 2 * at + 1
                if below >= size:
                    break
                if below + 1 < size and heap[below + 1] < heap[below]:
                    below += 1
                if heap[below] >= key:
                    break
                heap[at] = heap[below]
                at = below
            heap[at] = key
        if steps > limit:
            for i in range(entered):
                fresh[events[i]] = -1
            for i in range(changed):
                fresh[work.changed[i]] = -1
            return -1
    # An event of the same batch that was raised is not an old one.
    old = 0
    for i in range(changed):
        z = work.changed[i]
        if order.home[z] >= 0:
            work.changed[old] = z
            old += 1
    return old


@compiled
def _settle(order, links, work, events, limit):
    """Let events in at once: rank all that is above any of them, each after its causes; how many changed, or -1."""
    fresh, waiting, queue = work.fresh, work.waiting, work.queue
    size = len(events)
    for i in range(size):
        queue[i] = events[i]
        fresh[events[i]] = 0
    steps = 0
    head = 0
    while head < size:
        y = queue[head]
        head += 1
        for e in range(links.effect_start[y], links.effect_end[y]):
            z = links.effect[e]
            waiting[z] += 1
            if fresh[z] < 0:
                fresh[z] = _rank(order, z)
                queue[size] = z
                size += 1
        steps += 1 + links.effect_end[y] - links.effect_start[y]
        if steps > limit:
            for i in range(size):
                fresh[queue[i]] = -1
                waiting[queue[i]] = 0
            return -1
    tail = 0
    for x in events:
        for e in range(links.cause_start[x], links.cause_start[x + 1]):
            c = links.cause[e]
            if order.home[c] >= 0:
                fresh[x] = max(fresh[x], _rank(order, c) + 1)
        if waiting[x] == 0:
            work.ready[tail] = x
            tail += 1
    head = 0
    while head < tail:
        y = work.ready[head]
        head += 1
        for e in range(links.effect_start[y], links.effect_end[y]):
            z = links.effect[e]
            fresh[z] = max(fresh[z], fresh[y] + 1)
            waiting[z] -= 1
            if waiting[z] == 0:
                work.ready[tail] = z
                tail += 1
    if tail < size:
        raise ValueError("an event is its own cause")
    changed = 0
    for i in range(len(events), size):
        z = queue[i]
        if fresh[z] > _rank(order, z):
            work.changed[changed] = z
            changed += 1
        else:
            fresh[z] = -1
    return changed


@compiled
def _lower(order, links, work, x, rank, bottom, limit):
    """Let an event in and lift all from its lowest effect on, then lower what is not held up.

    All ranks from the effect's level on are tried as higher by as much as the effect rises, which is the most that
    anything can rise. An event then belongs lower if no cause is right below it. Those of the effect's level are
    looked at, and on each further level those that had a lowered cause right below. A level that is emptied so is
    closed: all above it is lifted by one less, which loses no order, as links never lead to the same level.

    Args:
        order: The order.
        links: The links.
        work: `fresh` and `changed` are filled; `base` is, by level, by how much the events that did not change are
            lifted.
        x: The event.
        rank: Its rank.
        bottom: The level of its lowest effect, not above its rank.
        limit: The steps to give up at.

    Returns:
        How many changed, or -1; the last level in `base`, above which all is lifted alike; by how much that is.
    """
    fresh, base = work.fresh, work.base
    work.attempts[0] += 1
    attempt = work.attempts[0]
    candidates = work.queue
    size = 0
    steps = 0
    place, i = _find(order, np.int64(bottom) << 32)
    while place < order.size[0] and steps <= limit:
        block = order.directory[place]
        if i == order.count[block]:
            place += 1
            i = 0
            continue
        y = order.entry[block, i]
        if order.rank[y] + order.lift[block] > bottom:
            break
        candidates[size] = y
        size += 1
        steps += 1
        i += 1
    fresh[x] = rank
    lift = rank + 1 - bottom
    level = bottom
    changed = 0
    while steps <= limit:
        base[level] = lift
        first = changed
        for k in range(size):
            y = candidates[k]
            rank = np.int64(0)
            for e in range(links.cause_start[y], links.cause_start[y + 1]):
                c = links.cause[e]
                held = np.int64(-1)
                if fresh[c] >= 0:
                    held = np.int64(fresh[c])
                elif order.home[c] >= 0:
                    held = np.int64(_rank(order, c))
                    if held >= bottom:
                        held += base[held]
                rank = max(rank, held + 1)
            steps += 1 + links.cause_start[y + 1] - links.cause_start[y]
            if rank < level + lift:
                fresh[y] = rank
                work.changed[changed] = y
                changed += 1
        if changed == first:
            return changed, level, lift
        if changed - first == size:
            # All candidates go; whether there are others on the level is seen right after as many entries.
            place, i = _find(order, np.int64(level) << 32)
            i += size
            while place < order.size[0] and i >= order.count[order.directory[place]]:
                i -= order.count[order.directory[place]]
                place += 1
            if place == order.size[0] or _rank(order, order.entry[order.directory[place], i]) > level:
                lift -= 1
        size = 0
        for k in range(first, changed):
            y = work.changed[k]
            for e in range(links.effect_start[y], links.effect_end[y]):
                z = links.effect[e]
                if work.mark[z] != attempt and order.home[z] >= 0 and _rank(order, z) == level + 1:
                    work.mark[z] = attempt
                    candidates[size] = z
                    size += 1
            steps += 1 + links.effect_end[y] - links.effect_start[y]
        if size == 0:
            return changed, level, lift
        level += 1
    for k in range(changed):
        fresh[work.changed[k]] = -1
    fresh[x] = -1
    return -1, level, lift


@compiled
def _lift(order, base, bottom, top, lift):
    """Lift what is in the order, by level: by `base` from `bottom` to `top`, by `lift` above."""
    place, i = _find(order, np.int64(bottom) << 32)
    while place < order.size[0]:
        block = order.directory[place]
        if i < order.count[block]:
            low = _rank(order, order.entry[block, i])
            high = _rank(order, order.entry[block, order.count[block] - 1])
            low_lift = lift if low > top else base[low]
            high_lift = lift if high > top else base[high]
            if low_lift == 0:
                return
            if i == 0:
                order.first[place] += np.int64(low_lift) << 32
            if i == 0 and low_lift == high_lift:
                order.lift[block] += low_lift
            else:
                for k in range(i, order.count[block]):
                    y = order.entry[block, k]
                    level = _rank(order, y)
                    order.rank[y] += lift if level > top else base[level]
        i = 0
        place += 1


# Scripts.


@compiled
def _keep(s, changed, items, frame):
    """Choose what stays: the most of changed events and frame together; how many of the frame do not.

    A changed event that stays makes those of the frame move that it passes. With what it passed as a gap in the
    frame, of the events that stay each is worth itself, and what is between its gap and that of the one before. That
    is the larger of two terms, one without the later gap and one that its start is added to, so two trees of
    maxima over the old order find the best one before.
    """
    for i in range(changed + 1):
        s.best[i] = -1
        s.nearest[i] = -1
    top = frame
    last = -1
    for j in range(items):
        i = s.old_of[j]
        if i < 0:
            continue
        s.kept[i] = False
        low = min(s.before_old[i], s.before_new[j])
        high = max(s.before_old[i], s.before_new[j])
        worth = low
        previous = -1
        at = i
        while at > 0:
            o = s.best[at]
            if o >= 0 and s.worth[o] > worth:
                worth = s.worth[o]
                previous = o
            o = s.nearest[at]
            if o >= 0:
                far = s.worth[o] - max(s.before_old[s.old_of[o]], s.before_new[o]) + low
                if far > worth:
                    worth = far
                    previous = o
            at &= at - 1
        worth += 1
        s.worth[j] = worth
        s.previous[j] = previous
        if worth + frame - high > top:
            top = worth + frame - high
            last = j
        at = i + 1
        while at <= changed:
            o = s.best[at]
            if o < 0 or s.worth[o] < worth:
                s.best[at] = j
            o = s.nearest[at]
            if o < 0 or s.worth[o] - max(s.before_old[s.old_of[o]], s.before_new[o]) < worth - high:
                s.nearest[at] = j
            at += at & -at
    # The gaps of those that stay begin and end in their order; backwards, so the frame's numbers descend.
    dropped = 0
    start = frame
    while last >= 0:
        i = s.old_of[last]
        s.kept[i] = True
        low = min(s.before_old[i], s.before_new[last])
        high = max(s.before_old[i], s.before_new[last])
        for f in range(min(high, start) - 1, low - 1, -1):
            s.dropped[dropped] = f
            dropped += 1
        start = min(start, low)
        last = s.previous[last]
    for i in range(dropped // 2):
        s.dropped[i], s.dropped[dropped - 1 - i] = s.dropped[dropped - 1 - i], s.dropped[i]
    return dropped


@compiled
def _write(s, changed, items, dropped, number, out, out_batch, count):
    """Write the commands, in the new order; how many there are then.

    What is placed goes right after what stays or was placed before it, and so before movers that still wait in the
    same gap between two events that stay.
    """
    movers = 0
    stay = 0
    d = 0
    for i in range(changed + 1):
        while d < dropped and (i == changed or s.dropped[d] < s.before_old[i]):
            s.mover_kept[movers] = s.dropped[d] - d + stay
            s.mover_of_dropped[d] = movers
            movers += 1
            d += 1
        if i < changed:
            if s.kept[i]:
                stay += 1
            else:
                s.mover_kept[movers] = s.before_old[i] - d + stay
                s.mover_of[i] = movers
                movers += 1
    steps = 0
    stay = 0
    d = 0
    for j in range(items + 1):
        while d < dropped and (j == items or s.dropped[d] < s.before_new[j]):
            s.step_event[steps] = s.dropped_event[d]
            s.step_kept[steps] = s.dropped[d] - d + stay
            s.step_mover[steps] = s.mover_of_dropped[d]
            steps += 1
            d += 1
        if j < items:
            i = s.old_of[j]
            if i >= 0 and s.kept[i]:
                stay += 1
            else:
                s.step_event[steps] = s.item[j]
                s.step_kept[steps] = s.before_new[j] - d + stay
                s.step_mover[steps] = s.mover_of[i] if i >= 0 else -1
                steps += 1
    for i in range(1, movers + 1):
        s.unplaced[i] = i & -i
    for step in range(steps):
        mover = s.step_mover[step]
        before = s.step_kept[step]
        taken = -1
        if mover >= 0:
            _add(s.unplaced, movers, mover, -1)
            stay = s.mover_kept[mover]
            low = 0
            high = step
            while low < high:
                middle = (low + high) >> 1
                if s.step_kept[middle] <= stay:
                    low = middle + 1
                else:
                    high = middle
            taken = stay + low + _sum_before(s.unplaced, mover)
        low = 0
        high = movers
        while low < high:
            middle = (low + high) >> 1
            if s.mover_kept[middle] < before:
                low = middle + 1
            else:
                high = middle
        out[count, 0] = s.step_event[step]
        out[count, 1] = taken
        out[count, 2] = before + step + _sum_before(s.unplaced, low)
        out_batch[count] = number
        count += 1
    return count


@compiled
def _room(size):
    return _Script(
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.bool_),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
    )


@compiled
def _grown(out, out_batch, count, wanted):
    if wanted <= len(out):
        return out, out_batch
    larger = np.empty((max(wanted, len(out) * 3 // 2), 3), np.int32)
    larger_batch = np.empty(len(larger), np.int64)
    larger[:count] = out[:count]
    larger_batch[:count] = out_batch[:count]
    return larger, larger_batch


@compiled
def _split_columns(out, out_batch, count):
    return out[:count, 0].copy(), out_batch[:count].copy(), out[:count, 1].copy(), out[:count, 2].copy()


@compiled
def _scripts(event_start, old_position, new_position):
    largest = 0
    for t in range(len(event_start) - 1):
        largest = max(largest, event_start[t + 1] - event_start[t])
    s = _room(largest)
    out = np.empty((1024, 3), np.int32)
    out_batch = np.empty(1024, np.int64)
    count = 0
    seen = np.zeros(largest + 1, np.bool_)
    for t in range(len(event_start) - 1):
        changed = 0
        items = 0
        seen[: event_start[t + 1] - event_start[t]] = False
        for event in range(event_start[t], event_start[t + 1]):
            changed += old_position[event] >= 0
            items += new_position[event] >= 0
        for event in range(event_start[t], event_start[t + 1]):
            old, new = old_position[event], new_position[event]
            if new < 0 and old >= 0:
                raise ValueError("an event is in the old order only")
            if old >= changed or new >= items:
                raise ValueError("positions are not those of an order")
            if new >= 0:
                if seen[new]:
                    raise ValueError("positions are not those of an order")
                seen[new] = True
                s.item[new] = event
                s.old_of[new] = max(old, -1)
                s.before_new[new] = 0
            if old >= 0:
                s.before_old[old] = 0
        # All that was there counts as changed, so there is no frame. Positions given twice leave others out.
        seen[:changed] = False
        for j in range(items):
            if s.old_of[j] >= 0:
                seen[s.old_of[j]] = True
        for i in range(changed):
            if not seen[i]:
                raise ValueError("positions are not those of an order")
        _keep(s, changed, items, 0)
        out, out_batch = _grown(out, out_batch, count, count + items)
        count = _write(s, changed, items, 0, 0, out, out_batch, count)
    return _split_columns(out, out_batch, count)


@compiled
def _step(order, links, work, s, events, show, out, out_batch, count, number):
    """Let a batch in; the commands, and how many there are then."""
    for x in events:
        for e in range(links.cause_start[x], links.cause_start[x + 1]):
            c = links.cause[e]
            links.effect[links.effect_end[c]] = x
            links.effect_end[c] += 1
    single = len(events) == 1
    lifted = False
    limit = np.int64(_FIRST_LIMIT + 16 * len(events))
    changed = -1
    rank = np.int64(0)
    bottom = np.int64(_NO_LIMIT)
    top = bottom
    lift = np.int64(0)
    if order.size[1] == 0:
        limit = _NO_LIMIT
    elif single:
        x = events[0]
        for e in range(links.cause_start[x], links.cause_start[x + 1]):
            rank = max(rank, _known_rank(order, work, links.cause[e]) + 1)
        for e in range(links.effect_start[x], links.effect_end[x]):
            bottom = min(bottom, np.int64(_rank(order, links.effect[e])))
        if bottom > rank:
            work.fresh[x] = rank
            changed = 0
    while changed < 0:
        if not single:
            changed = _settle(order, links, work, events, limit)
        if changed < 0:
            changed = _raise(order, links, work, events, limit)
        if changed < 0 and single:
            changed, top, lift = _lower(order, links, work, events[0], rank, bottom, limit)
            lifted = changed >= 0
        limit *= 4
    items = changed + len(events)
    for i in range(changed):
        z = work.changed[i]
        work.old_key[i] = _key(order, z)
        work.new_key[i] = (np.int64(work.fresh[z]) << 32) | z
        work.fresh[z] = -1
    for i in range(len(events)):
        x = events[i]
        work.new_key[changed + i] = (np.int64(work.fresh[x]) << 32) | x
        work.fresh[x] = -1
        work.index[x] = -1
    work.new_key[:items].sort()
    if changed > 0:
        work.old_key[:changed].sort()
        for i in range(changed):
            z = work.old_key[i] & 0xFFFFFFFF
            work.index[z] = i
            s.before_old[i] = _remove(order, z)
    if changed == 0 and single and not lifted:
        put = _insert(order, work.new_key[0])
        if show:
            out, out_batch = _grown(out, out_batch, count, count + 1)
            out[count, 0] = events[0]
            out[count, 1] = -1
            out[count, 2] = put
            out_batch[count] = number
            count += 1
        return out, out_batch, count
    if lifted:
        _lift(order, work.base, bottom, top, lift)
    dropped = 0
    if show:
        for j in range(items):
            place, i = _find(order, work.new_key[j])
            event = work.new_key[j] & 0xFFFFFFFF
            s.item[j] = event
            s.before_new[j] = _sum_before(order.tree, place) + i
            s.old_of[j] = work.index[event]
        dropped = _keep(s, changed, items, order.size[1])
        for d in range(dropped):
            place, i = _select(order, s.dropped[d])
            s.dropped_event[d] = order.entry[order.directory[place], i]
    for j in range(items):
        _insert(order, work.new_key[j])
    if show:
        out, out_batch = _grown(out, out_batch, count, count + items + dropped)
        count = _write(s, changed, items, dropped, number, out, out_batch, count)
    return out, out_batch, count


@compiled
def _edit_stream(event_start, cause_start, cause, arrival_start, arrived, batch, published):
    n = len(cause_start) - 1
    largest = 0
    for t in range(len(event_start) - 1):
        largest = max(largest, event_start[t + 1] - event_start[t])
    effect_start = np.zeros(n + 1, np.int64)
    for c in cause:
        effect_start[c + 1] += 1
    for event in range(n):
        effect_start[event + 1] += effect_start[event]
    links = _Links(cause_start, cause, effect_start, effect_start[:n].copy(), np.empty(len(cause), np.int32))
    blocks = 4 * (largest // _CAPACITY) + 4
    order = _Order(
        np.empty((blocks, _CAPACITY), np.int32),
        np.zeros(blocks, np.int32),
        np.zeros(blocks, np.int32),
        np.zeros(blocks, np.int32),
        np.arange(blocks).astype(np.int32),
        np.zeros(blocks, np.int64),
        np.zeros(blocks + 1, np.int64),
        np.zeros(2, np.int64),
        np.zeros(n, np.int32),
        np.full(n, np.int32(-1)),
    )
    work = _Work(
        np.full(n, np.int32(-1)),
        np.zeros(n, np.int32),
        np.zeros(n, np.int64),
        np.zeros(1, np.int64),
        np.empty(largest + 1, np.int32),
        np.empty(largest + 1, np.int32),
        np.empty(largest + 1, np.int64),
        np.zeros(largest + 2, np.int32),
        np.empty(largest + 1, np.int32),
        np.empty(n, np.int32),
        np.empty(largest + 1, np.int64),
        np.empty(largest + 1, np.int64),
    )
    s = _room(largest)
    out = np.empty((1024, 3), np.int32)
    out_batch = np.empty(1024, np.int64)
    count = 0
    for t in range(len(event_start) - 1):
        _clear(order)
        at = arrival_start[t]
        end = arrival_start[t + 1]
        shown = at + published[t]
        while at < end:
            stop = shown
            if at >= shown:
                stop = at + 1
                while stop < end and batch[stop] == batch[at]:
                    stop += 1
            out, out_batch, count = _step(
                order, links, work, s, arrived[at:stop], at >= shown, out, out_batch, count, batch[at]
            )
            at = stop
    return _split_columns(out, out_batch, count)
