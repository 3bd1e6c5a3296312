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

from dbt_tangles.compiled import compiled

_CAPACITY = 256  # Entries of a block.
_FIRST_LIMIT = 128  # Steps of the first attempt at a batch, beside those that its size makes natural.
_SWEEP = 64  # As many entries are passed over in about the time that one is looked up, taken out and put in.
_NO_LIMIT = 1 << 62
_RANK, _BLOCK, _FRESH, _SEEN = range(4)
_COUNT, _LIFT, _PLACE = range(3)


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
    span: np.ndarray  # int64[events, 2]; where its effects begin, and where those that arrived end.
    effect: np.ndarray  # int32[links].


class _Order(NamedTuple):
    """A timeline's events in order, in blocks. A key is a rank and an event in one number.

    Small functions take the arrays and not this, and have one loop at most: else numba counts references to arrays
    at each call, and that would take most of the time.
    """

    # int32[events, 4], together as they are needed together: its rank less the lift of its block; the block, -1 for
    # none; its new rank, -1 for none and so between steps; the last attempt that saw it, or causes it waits for.
    spot: np.ndarray
    block: np.ndarray  # int32[blocks, 3]; entries, what is added to their ranks, where it is in the directory.
    entry: np.ndarray  # int32[blocks, _CAPACITY].
    directory: np.ndarray  # int32[blocks]; the blocks in order, then those not in use.
    first: np.ndarray  # int64[blocks]; by place in the directory, the key of the first entry.
    tree: np.ndarray  # int64[blocks + 1]; by place, Fenwick's sums of counts.
    size: np.ndarray  # int64[2]; blocks in use, entries.


class _Work(NamedTuple):
    """Room for finding new ranks, for events of all timelines or of the largest."""

    attempts: np.ndarray  # int64[1]; how many there were in this timeline.
    queue: np.ndarray  # int32[largest].
    ready: np.ndarray  # int32[largest].
    heap: np.ndarray  # int64[largest].
    base: np.ndarray  # int32[largest]; by level, how far it is lifted.
    changed: np.ndarray  # int32[largest]; old events of a new rank.
    index: np.ndarray  # int32[events]; of a changed event, its number in the old order.
    old_key: np.ndarray  # int64[largest].
    new_key: np.ndarray  # int64[largest]; of changed and new events.
    line: np.ndarray  # int64[largest]; keys of a part of the new order.


class _Script(NamedTuple):
    """Room for a script: changed events, numbered in the old order, items (those and new ones) in the new order."""

    before_old: np.ndarray  # int32[changed]; how many of the frame were before it.
    before_new: np.ndarray  # int32[items].
    old_of: np.ndarray  # int32[items]; its number in the old order, -1 for new events.
    item: np.ndarray  # int32[items]; the event.
    run: np.ndarray  # int32[changed]; which run it is in, in the old order.
    low: np.ndarray  # int32[runs], in the new order as all that follow; the frame before the gap it makes.
    high: np.ndarray  # int32[runs]; the frame before the end of the gap.
    worth: np.ndarray  # int32[runs]; the most that is kept up to it if it is kept.
    previous: np.ndarray  # int32[runs]; the one kept before it then, -1 for none.
    begin: np.ndarray  # int32[runs]; the number of its first event in the old order.
    length: np.ndarray  # int32[runs].
    best: np.ndarray  # int32[runs + 1]; Fenwick's maxima of worth over the old order.
    nearest: np.ndarray  # int32[runs + 1]; the same of worth less `high`.
    kept: np.ndarray  # bool[changed].
    frame: np.ndarray  # int32[part of the frame]; events.
    dropped: np.ndarray  # int32[dropped]; which of the frame move, counted in the frame.
    dropped_event: np.ndarray  # int32[dropped].
    mover_kept: np.ndarray  # int32[movers]; in the old order, how many that stay are before it.
    mover_of: np.ndarray  # int32[changed]; which mover a changed event is.
    mover_of_dropped: np.ndarray  # int32[dropped].
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
def _rank(spot, block, event):
    return np.int64(spot[event, _RANK]) + block[spot[event, _BLOCK], _LIFT]


@compiled
def _sum_before(tree, place):
    total = np.int64(0)
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
def _index_blocks(block, directory, tree, used, place):
    """Make directory and sums agree again, from a place on."""
    for at in range(place, used):
        block[directory[at], _PLACE] = at
    for at in range(1, used + 1):
        tree[at] = block[directory[at - 1], _COUNT]
    for at in range(1, used + 1):
        above = at + (at & -at)
        if above <= used:
            tree[above] += tree[at]


@compiled
def _find_block(first, used, key):
    low = np.int64(0)
    high = np.int64(used)
    while high - low > 1:
        middle = (low + high) >> 1
        if first[middle] <= key:
            low = middle
        else:
            high = middle
    return low


@compiled
def _find_entry(spot, entry, at, count, key):
    """Find the first entry of a block whose key, without the lift of the block, is not below another."""
    low = np.int64(0)
    high = np.int64(count)
    while low < high:
        middle = (low + high) >> 1
        event = entry[at, middle]
        if ((np.int64(spot[event, _RANK]) << 32) | event) < key:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _find(spot, block, entry, directory, first, used, key):
    """Find the first entry whose key is not below another: a place in the directory, and in the block there."""
    place = _find_block(first, used, key)
    at = directory[place]
    return place, _find_entry(spot, entry, at, block[at, _COUNT], key - (np.int64(block[at, _LIFT]) << 32))


@compiled
def _open(entry, at, count, i):
    """Move entries of a block on by one."""
    for k in range(count, i, -1):
        entry[at, k] = entry[at, k - 1]


@compiled
def _close(entry, at, count, i):
    """Move entries of a block back by one."""
    for k in range(i, count):
        entry[at, k] = entry[at, k + 1]


@compiled
def _pack(spot, block, entry, directory, first, tree, size):
    """Spread the entries over as few blocks as leave room for more."""
    total = size[1]
    key = np.empty(total, np.int64)
    k = 0
    for place in range(size[0]):
        at = directory[place]
        for i in range(block[at, _COUNT]):
            event = entry[at, i]
            key[k] = (_rank(spot, block, event) << 32) | event
            k += 1
    fill = _CAPACITY * 3 // 4
    used = (total + fill - 1) // fill
    size[0] = used
    k = 0
    for place in range(used):
        at = directory[place]
        block[at, _LIFT] = 0
        block[at, _COUNT] = min(fill, total - k)
        first[place] = key[k]
        for i in range(block[at, _COUNT]):
            event = key[k] & 0xFFFFFFFF
            entry[at, i] = event
            spot[event, _RANK] = key[k] >> 32
            spot[event, _BLOCK] = at
            k += 1
    _index_blocks(block, directory, tree, used, 0)


@compiled
def _split(spot, block, entry, directory, first, tree, size, place):
    """Make room in a full block, or everywhere."""
    used = size[0]
    if used == len(directory):
        # Blocks that lost most of their entries; there are more blocks than full ones would need.
        _pack(spot, block, entry, directory, first, tree, size)
        return
    at = directory[place]
    other = directory[used]
    for k in range(used, place + 1, -1):
        directory[k] = directory[k - 1]
        first[k] = first[k - 1]
    directory[place + 1] = other
    half = _CAPACITY // 2
    block[other, _LIFT] = block[at, _LIFT]
    block[other, _COUNT] = _CAPACITY - half
    block[at, _COUNT] = half
    for i in range(half, _CAPACITY):
        event = entry[at, i]
        entry[other, i - half] = event
        spot[event, _BLOCK] = other
    event = entry[other, 0]
    first[place + 1] = (_rank(spot, block, event) << 32) | event
    size[0] = used + 1
    _index_blocks(block, directory, tree, used + 1, place + 1)


@compiled
def _insert(spot, block, entry, directory, first, tree, size, key):
    """Put an event in; its position."""
    place, i = _find(spot, block, entry, directory, first, size[0], key)
    at = directory[place]
    if block[at, _COUNT] == _CAPACITY:
        _split(spot, block, entry, directory, first, tree, size, place)
        place, i = _find(spot, block, entry, directory, first, size[0], key)
        at = directory[place]
    _open(entry, at, block[at, _COUNT], i)
    event = key & 0xFFFFFFFF
    entry[at, i] = event
    block[at, _COUNT] += 1
    spot[event, _RANK] = (key >> 32) - block[at, _LIFT]
    spot[event, _BLOCK] = at
    if i == 0:
        first[place] = key
    size[1] += 1
    _add(tree, size[0], place, 1)
    return _sum_before(tree, place) + i


@compiled
def _remove(spot, block, entry, directory, first, tree, size, event):
    """Take an event out; the position it had."""
    at = spot[event, _BLOCK]
    place = np.int64(block[at, _PLACE])
    key = (np.int64(spot[event, _RANK]) << 32) | event
    low = _find_entry(spot, entry, at, block[at, _COUNT] - 1, key)
    position = _sum_before(tree, place) + low
    count = block[at, _COUNT] - 1
    block[at, _COUNT] = count
    size[1] -= 1
    spot[event, _BLOCK] = -1
    _close(entry, at, count, low)
    if count == 0 and size[0] > 1:
        used = size[0] - 1
        size[0] = used
        for k in range(place, used):
            directory[k] = directory[k + 1]
            first[k] = first[k + 1]
        directory[used] = at
        _index_blocks(block, directory, tree, used, place)
        return position
    if low == 0 and count > 0:
        other = entry[at, 0]
        first[place] = (_rank(spot, block, other) << 32) | other
    _add(tree, size[0], place, -1)
    return position


@compiled
def _select(tree, used, position):
    """Find the place and index of an entry by its position."""
    step = np.int64(1)
    while step * 2 <= used:
        step *= 2
    place = np.int64(0)
    while step > 0:
        if place + step <= used and tree[place + step] <= position:
            place += step
            position -= tree[place]
        step >>= 1
    return place, position


# New ranks. Each way leaves those old events whose rank is another in `changed` and all new ranks in their spots, or
# gives up at its limit and leaves no trace.


@compiled
def _known_rank(spot, block, event):
    """Look up the fresh rank, or the one in the order, or -1."""
    at = spot[event, _BLOCK]
    old = np.int64(spot[event, _RANK]) + block[max(at, 0), _LIFT] if at >= 0 else np.int64(-1)
    return np.int64(spot[event, _FRESH]) if spot[event, _FRESH] >= 0 else old


@compiled
def _raise(order, links, work, events, limit):
    """Let events in one by one, and raise what is above each; how many old ones changed, or -1.

    Ranks grow along links, so in the order of the ranks before the wave each event is raised once.
    """
    spot, block = order.spot, order.block
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
            rank = max(rank, _known_rank(spot, block, cause[e]) + 1)
        spot[x, _FRESH] = rank
        size = 0
        current = np.int64(x)
        while True:
            target = np.int64(spot[current, _FRESH]) + 1
            for e in range(span[current, 0], span[current, 1]):
                z = effect[e]
                known = _known_rank(spot, block, z)
                if known < 0 or known >= target:
                    continue
                if z == x:
                    raise ValueError("an event is its own cause")
                if spot[z, _FRESH] < 0:
                    touched[changed] = z
                    changed += 1
                spot[z, _FRESH] = target
                if spot[z, _SEEN] != wave:
                    spot[z, _SEEN] = wave
                    key = (known << 32) | z
                    at = size
                    size += 1
                    while at > 0 and heap[(at - 1) >> 1] > key:
                        heap[at] = heap[(at - 1) >> 1]
                        at = (at - 1) >> 1
                    heap[at] = key
            steps += 1 + span[current, 1] - span[current, 0]
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
    work.attempts[0] = wave
    if steps > limit:
        for k in range(entered):
            spot[events[k], _FRESH] = -1
        for k in range(changed):
            spot[touched[k], _FRESH] = -1
        return -1
    # An event of the same batch that was raised is not an old one.
    old = 0
    for k in range(changed):
        if spot[touched[k], _BLOCK] >= 0:
            touched[old] = touched[k]
            old += 1
    return old


@compiled
def _settle(order, links, work, events, limit):
    """Let events in at once: rank all that is above any of them, each after its causes; how many changed, or -1."""
    spot, block = order.spot, order.block
    cause_start, cause, span, effect = links.cause_start, links.cause, links.span, links.effect
    queue, ready = work.queue, work.ready
    size = len(events)
    for k in range(size):
        queue[k] = events[k]
        spot[events[k], _FRESH] = 0
        spot[events[k], _SEEN] = 0
    steps = np.int64(0)
    head = 0
    while head < size:
        y = queue[head]
        head += 1
        for e in range(span[y, 0], span[y, 1]):
            z = effect[e]
            if spot[z, _FRESH] < 0:
                spot[z, _FRESH] = _rank(spot, block, z)
                spot[z, _SEEN] = 0
                queue[size] = z
                size += 1
            spot[z, _SEEN] += 1
        steps += 1 + span[y, 1] - span[y, 0]
        if steps > limit:
            for k in range(size):
                spot[queue[k], _FRESH] = -1
                spot[queue[k], _SEEN] = 0
            return -1
    tail = 0
    for x in events:
        for e in range(cause_start[x], cause_start[x + 1]):
            c = cause[e]
            if spot[c, _BLOCK] >= 0:
                spot[x, _FRESH] = max(np.int64(spot[x, _FRESH]), _rank(spot, block, c) + 1)
        if spot[x, _SEEN] == 0:
            ready[tail] = x
            tail += 1
    head = 0
    while head < tail:
        y = ready[head]
        head += 1
        for e in range(span[y, 0], span[y, 1]):
            z = effect[e]
            spot[z, _FRESH] = max(spot[z, _FRESH], spot[y, _FRESH] + 1)
            spot[z, _SEEN] -= 1
            if spot[z, _SEEN] == 0:
                ready[tail] = z
                tail += 1
    if tail < size:
        raise ValueError("an event is its own cause")
    changed = 0
    for k in range(len(events), size):
        z = queue[k]
        if spot[z, _FRESH] > _rank(spot, block, z):
            work.changed[changed] = z
            changed += 1
        else:
            spot[z, _FRESH] = -1
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
    spot, block, entry, directory, first = order.spot, order.block, order.entry, order.directory, order.first
    cause_start, cause, span, effect = links.cause_start, links.cause, links.span, links.effect
    base, candidates, touched = work.base, work.queue, work.changed
    used = order.size[0]
    work.attempts[0] += 1
    attempt = work.attempts[0]
    size = 0
    steps = np.int64(0)
    place, i = _find(spot, block, entry, directory, first, used, bottom << 32)
    while place < used and steps <= limit:
        at = directory[place]
        if i == block[at, _COUNT]:
            place += 1
            i = 0
            continue
        y = entry[at, i]
        if spot[y, _RANK] + block[at, _LIFT] > bottom:
            break
        candidates[size] = y
        size += 1
        steps += 1
        i += 1
    spot[x, _FRESH] = rank
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
                if spot[c, _FRESH] >= 0:
                    needed = max(needed, np.int64(spot[c, _FRESH]) + 1)
                elif spot[c, _BLOCK] >= 0:
                    held = _rank(spot, block, c)
                    if held >= bottom:
                        held += base[held]
                    needed = max(needed, held + 1)
            steps += 1 + cause_start[y + 1] - cause_start[y]
            if needed < level + lift:
                spot[y, _FRESH] = needed
                touched[changed] = y
                changed += 1
        if changed == begin:
            return changed, level, lift
        if changed - begin == size:
            # All candidates go; whether there are others on the level is seen right after as many entries.
            place, i = _find(spot, block, entry, directory, first, used, level << 32)
            i += size
            while place < used and i >= block[directory[place], _COUNT]:
                i -= block[directory[place], _COUNT]
                place += 1
            if place == used or _rank(spot, block, entry[directory[place], i]) > level:
                lift -= 1
        size = 0
        for k in range(begin, changed):
            y = touched[k]
            for e in range(span[y, 0], span[y, 1]):
                z = effect[e]
                if spot[z, _SEEN] != attempt and spot[z, _BLOCK] >= 0 and _rank(spot, block, z) == level + 1:
                    spot[z, _SEEN] = attempt
                    candidates[size] = z
                    size += 1
            steps += 1 + span[y, 1] - span[y, 0]
        if size == 0:
            return changed, level, lift
        level += 1
    for k in range(changed):
        spot[touched[k], _FRESH] = -1
    spot[x, _FRESH] = -1
    return -1, level, lift


# The new order.


@compiled
def _sort(keys):
    """Sort keys that are nearly sorted as a rule."""
    moves = 8 * len(keys)
    for k in range(1, len(keys)):
        key = keys[k]
        at = k
        while at > 0 and keys[at - 1] > key:
            keys[at] = keys[at - 1]
            at -= 1
        keys[at] = key
        moves -= k - at
        if moves < 0:
            keys.sort()
            return


@compiled
def _lifted(base, bottom, top, lift, level):
    """By how much a level is lifted: by `base` from `bottom` to `top`, by `lift` above."""
    if level < bottom:
        return np.int64(0)
    return lift if level > top else np.int64(base[level])


@compiled
def _lift(order, base, bottom, top, lift, place, i):
    """Lift entries from a place on, by their levels."""
    spot, block, entry, directory, first = order.spot, order.block, order.entry, order.directory, order.first
    used = order.size[0]
    while place < used:
        at = directory[place]
        count = block[at, _COUNT]
        if i < count:
            low = _lifted(base, bottom, top, lift, _rank(spot, block, entry[at, i]))
            high = _lifted(base, bottom, top, lift, _rank(spot, block, entry[at, count - 1]))
            # What is lifted less is above, so that nothing more follows.
            if low == 0:
                return
            if i == 0:
                first[place] += low << 32
            if i == 0 and low == high:
                block[at, _LIFT] += low
            else:
                for k in range(i, count):
                    y = entry[at, k]
                    spot[y, _RANK] += _lifted(base, bottom, top, lift, _rank(spot, block, y))
        i = np.int64(0)
        place += 1


@compiled
def _sweep(order, work, s, changed, items, start, bottom, top, lift):
    """Merge the items into the part of the order that they leave and enter; whether that part was short enough.

    `before_old`, `before_new`, `old_of` and `item` are filled, and `frame` with the frame from `before` on.

    Returns:
        Whether it was done, and `before`.
    """
    spot, block, entry, directory, first = order.spot, order.block, order.entry, order.directory, order.first
    new_key, line = work.new_key, work.line
    used = order.size[0]
    limit = _SWEEP * (items + 1)
    start_place, start_i = _find(spot, block, entry, directory, first, used, start)
    before = _sum_before(order.tree, start_place) + start_i
    place, i = start_place, start_i
    seen = 0
    j = 0
    frame = 0
    length = 0
    while seen < changed or j < items:
        if place == used:
            key = np.int64(_NO_LIMIT)
        else:
            at = directory[place]
            if i == block[at, _COUNT]:
                place += 1
                i = np.int64(0)
                continue
            event = entry[at, i]
            if spot[event, _FRESH] >= 0:
                i += 1
                work.index[event] = seen
                s.before_old[seen] = before + frame
                seen += 1
                continue
            level = np.int64(spot[event, _RANK]) + block[at, _LIFT]
            key = ((level + _lifted(work.base, bottom, top, lift, level)) << 32) | event
        while j < items and new_key[j] < key:
            s.before_new[j] = before + frame
            line[length] = new_key[j]
            length += 1
            j += 1
        if j == items and seen == changed:
            break
        i += 1
        s.frame[frame] = event
        frame += 1
        line[length] = key
        length += 1
        if frame > limit:
            return False, before
    end_place, end_i = place, i
    # All goes where something was, but for as many as are new.
    place, i = start_place, start_i
    for k in range(frame + changed):
        while i == block[directory[place], _COUNT]:
            place += 1
            i = np.int64(0)
        at = directory[place]
        event = line[k] & 0xFFFFFFFF
        entry[at, i] = event
        spot[event, _RANK] = (line[k] >> 32) - block[at, _LIFT]
        spot[event, _BLOCK] = at
        if i == 0:
            first[place] = line[k]
        i += 1
    if top >= 0:
        _lift(order, work.base, bottom, top, lift, end_place, end_i)
    for k in range(frame + changed, length):
        _insert(spot, block, entry, directory, first, order.tree, order.size, line[k])
    for j in range(items):
        s.item[j] = new_key[j] & 0xFFFFFFFF
        s.old_of[j] = work.index[s.item[j]]
    return True, before


# Scripts.


@compiled
def _keep(s, changed, items, frame):
    """Choose what stays: the most of changed events and frame together; how many of the frame do not.

    A changed event that stays makes those of the frame move that it passes: a gap in the frame. What follows each
    other in both orders, with nothing of the frame between, stays or moves as one: a run. Of the runs that stay each
    is worth its length, and the frame between its gap and that of the one before. That is the larger of two terms,
    one without the later gap and one that its start is added to, so two trees of maxima over the old order find the
    best one before.
    """
    before_old, before_new, old_of, kept, run = s.before_old, s.before_new, s.old_of, s.kept, s.run
    low, high, worth, previous, begin, length = s.low, s.high, s.worth, s.previous, s.begin, s.length
    best, nearest, dropped = s.best, s.nearest, s.dropped
    runs = 0
    last = -2
    last_new = -1
    for j in range(items):
        i = old_of[j]
        if i < 0:
            continue
        kept[i] = False
        run[i] = 0
        if i == last + 1 and before_old[i] == before_old[last] and before_new[j] == last_new:
            length[runs - 1] += 1
        else:
            low[runs] = min(before_old[i], before_new[j])
            high[runs] = max(before_old[i], before_new[j])
            begin[runs] = i
            length[runs] = 1
            runs += 1
        last = i
        last_new = before_new[j]
    for r in range(runs):
        run[begin[r]] = 1
        best[r + 1] = -1
        nearest[r + 1] = -1
    total = 0
    for i in range(changed):
        total += run[i]
        run[i] = total - 1
    top = np.int64(frame)
    chosen = -1
    for r in range(runs):
        most = np.int64(low[r])
        previous[r] = -1
        at = run[begin[r]]
        while at > 0:
            o = best[at]
            if o >= 0 and worth[o] > most:
                most = np.int64(worth[o])
                previous[r] = o
            o = nearest[at]
            if o >= 0 and worth[o] - high[o] + low[r] > most:
                most = np.int64(worth[o] - high[o] + low[r])
                previous[r] = o
            at &= at - 1
        most += length[r]
        worth[r] = most
        if most + frame - high[r] > top:
            top = most + frame - high[r]
            chosen = r
        at = run[begin[r]] + 1
        while at <= runs:
            o = best[at]
            if o < 0 or worth[o] < most:
                best[at] = r
            o = nearest[at]
            if o < 0 or worth[o] - high[o] < most - high[r]:
                nearest[at] = r
            at += at & -at
    # Backwards, so the numbers of those that go descend.
    count = 0
    start = np.int64(frame)
    while chosen >= 0:
        for i in range(begin[chosen], begin[chosen] + length[chosen]):
            kept[i] = True
        for f in range(min(high[chosen], start) - 1, low[chosen] - 1, -1):
            dropped[count] = f
            count += 1
        start = min(start, np.int64(low[chosen]))
        chosen = previous[chosen]
    for k in range(count // 2):
        dropped[k], dropped[count - 1 - k] = dropped[count - 1 - k], dropped[k]
    return count


@compiled
def _write(s, changed, items, dropped, number, out, out_batch, count):
    """Write the commands, in the new order; how many there are then.

    What is placed goes right after what stays or was placed before it, and so before movers that still wait in the
    same gap between two events that stay.
    """
    before_old, before_new, old_of, kept, gone = s.before_old, s.before_new, s.old_of, s.kept, s.dropped
    mover_kept, mover_of, mover_of_dropped, unplaced = s.mover_kept, s.mover_of, s.mover_of_dropped, s.unplaced
    step_event, step_kept, step_mover = s.step_event, s.step_kept, s.step_mover
    movers = 0
    stay = 0
    d = 0
    for i in range(changed + 1):
        while d < dropped and (i == changed or gone[d] < before_old[i]):
            mover_kept[movers] = gone[d] - d + stay
            mover_of_dropped[d] = movers
            movers += 1
            d += 1
        if i < changed:
            if kept[i]:
                stay += 1
            else:
                mover_kept[movers] = before_old[i] - d + stay
                mover_of[i] = movers
                movers += 1
    steps = 0
    stay = 0
    d = 0
    for j in range(items + 1):
        while d < dropped and (j == items or gone[d] < before_new[j]):
            step_event[steps] = s.dropped_event[d]
            step_kept[steps] = gone[d] - d + stay
            step_mover[steps] = mover_of_dropped[d]
            steps += 1
            d += 1
        if j < items:
            i = old_of[j]
            if i >= 0 and kept[i]:
                stay += 1
            else:
                step_event[steps] = s.item[j]
                step_kept[steps] = before_new[j] - d + stay
                step_mover[steps] = mover_of[i] if i >= 0 else -1
                steps += 1
    for k in range(1, movers + 1):
        unplaced[k] = k & -k
    for step in range(steps):
        mover = np.int64(step_mover[step])
        before = step_kept[step]
        taken = np.int64(-1)
        if mover >= 0:
            _add(unplaced, movers, mover, -1)
            stays = mover_kept[mover]
            low = 0
            high = step
            while low < high:
                middle = (low + high) >> 1
                if step_kept[middle] <= stays:
                    low = middle + 1
                else:
                    high = middle
            taken = stays + low + _sum_before(unplaced, mover)
        low = 0
        high = movers
        while low < high:
            middle = (low + high) >> 1
            if mover_kept[middle] < before:
                low = middle + 1
            else:
                high = middle
        out[count, 0] = step_event[step]
        out[count, 1] = taken
        out[count, 2] = before + step + _sum_before(unplaced, np.int64(low))
        out_batch[count] = number
        count += 1
    return count


@compiled
def _room(size):
    numbers = np.empty((22, size), np.int32)
    return _Script(
        numbers[0],
        numbers[1],
        numbers[2],
        numbers[3],
        numbers[4],
        numbers[5],
        numbers[6],
        numbers[7],
        numbers[8],
        numbers[9],
        numbers[10],
        numbers[11],
        numbers[12],
        np.empty(size, np.bool_),
        numbers[13],
        numbers[14],
        numbers[15],
        numbers[16],
        numbers[17],
        numbers[18],
        numbers[19],
        numbers[20],
        numbers[21],
        np.empty(size, np.int32),
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
    largest = np.int64(0)
    for t in range(len(event_start) - 1):
        largest = max(largest, event_start[t + 1] - event_start[t])
    s = _room(largest + 1)
    out = np.empty((1024, 3), np.int32)
    out_batch = np.empty(1024, np.int64)
    count = 0
    seen = np.zeros(largest + 1, np.bool_)
    for t in range(len(event_start) - 1):
        changed = 0
        items = 0
        for event in range(event_start[t], event_start[t + 1]):
            changed += old_position[event] >= 0
            items += new_position[event] >= 0
        # All that was there counts as changed, so there is no frame.
        s.old_of[:items] = -2
        seen[:changed] = False
        for event in range(event_start[t], event_start[t + 1]):
            old, new = old_position[event], new_position[event]
            if new < 0:
                if old >= 0:
                    raise ValueError("an event is in the old order only")
                continue
            if old >= changed or new >= items or s.old_of[new] > -2 or (old >= 0 and seen[old]):
                raise ValueError("positions are not those of an order")
            s.item[new] = event
            s.old_of[new] = max(old, -1)
            s.before_new[new] = 0
            if old >= 0:
                seen[old] = True
                s.before_old[old] = 0
        _keep(s, changed, items, 0)
        out, out_batch = _grown(out, out_batch, count, count + items)
        count = _write(s, changed, items, 0, 0, out, out_batch, count)
    return _split_columns(out, out_batch, count)


# Arrivals.


@compiled
def _rerank(order, links, work, events, single, rank, bottom):
    """Find the new ranks that a batch brings, in the way that is cheapest.

    Returns:
        How many old events changed, and what `_lower` returns beside, with -1 for the level if nothing is lifted.
    """
    limit = np.int64(_FIRST_LIMIT + 16 * len(events))
    if order.size[1] == 0:
        limit = np.int64(_NO_LIMIT)
    while True:
        if not single:
            changed = _settle(order, links, work, events, limit)
            if changed >= 0:
                return changed, np.int64(-1), np.int64(0)
        changed = _raise(order, links, work, events, limit)
        if changed >= 0:
            return changed, np.int64(-1), np.int64(0)
        if single:
            changed, top, lift = _lower(order, links, work, events[0], rank, bottom, limit)
            if changed >= 0:
                return changed, top, lift
        limit *= 4


@compiled
def _replace(order, work, s, changed, items, bottom, top, lift, show):
    """Take changed events out of the order one by one, and put all items in."""
    spot, block, entry, directory, first = order.spot, order.block, order.entry, order.directory, order.first
    tree, size = order.tree, order.size
    for i in range(changed):
        z = work.changed[i]
        work.old_key[i] = (_rank(spot, block, z) << 32) | z
    _sort(work.old_key[:changed])
    for i in range(changed):
        z = work.old_key[i] & 0xFFFFFFFF
        work.index[z] = i
        s.before_old[i] = _remove(spot, block, entry, directory, first, tree, size, z)
    if top >= 0:
        place, k = _find(spot, block, entry, directory, first, size[0], bottom << 32)
        _lift(order, work.base, bottom, top, lift, place, k)
    if show:
        for j in range(items):
            event = work.new_key[j] & 0xFFFFFFFF
            place, k = _find(spot, block, entry, directory, first, size[0], work.new_key[j])
            s.item[j] = event
            s.old_of[j] = work.index[event]
            s.before_new[j] = _sum_before(tree, place) + k


@compiled
def _change(order, links, work, s, events, single, rank, bottom, show, number, out, out_batch, count):
    """Let a batch in that may raise what is there; the commands, and how many there are then."""
    spot, block, entry, directory, first = order.spot, order.block, order.entry, order.directory, order.first
    tree, size = order.tree, order.size
    new_key = work.new_key
    changed, top, lift = _rerank(order, links, work, events, single, rank, bottom)
    items = changed + len(events)
    start = np.int64(_NO_LIMIT)
    for i in range(len(events)):
        x = events[i]
        new_key[i] = (np.int64(spot[x, _FRESH]) << 32) | x
        spot[x, _FRESH] = -1
        work.index[x] = -1
    for i in range(changed):
        z = work.changed[i]
        start = min(start, (_rank(spot, block, z) << 32) | z)
        new_key[len(events) + i] = (np.int64(spot[z, _FRESH]) << 32) | z
    _sort(new_key[:items])
    if top >= 0:
        start = bottom << 32
    else:
        start = min(start, new_key[0])
        bottom = np.int64(_NO_LIMIT)
    swept, before = _sweep(order, work, s, changed, items, start, bottom, top, lift)
    for i in range(changed):
        spot[work.changed[i], _FRESH] = -1
    if not swept:
        _replace(order, work, s, changed, items, bottom, top, lift, show)
    dropped = 0
    if show:
        frame = size[1] - items if swept else size[1]
        dropped = _keep(s, changed, items, frame)
        for d in range(dropped):
            if swept:
                s.dropped_event[d] = s.frame[s.dropped[d] - before]
            else:
                place, k = _select(tree, size[0], np.int64(s.dropped[d]))
                s.dropped_event[d] = entry[directory[place], k]
        out, out_batch = _grown(out, out_batch, count, count + items + dropped)
        count = _write(s, changed, items, dropped, number, out, out_batch, count)
    if not swept:
        for j in range(items):
            _insert(spot, block, entry, directory, first, tree, size, new_key[j])
    return out, out_batch, count


@compiled
def _edit_stream(event_start, cause_start, cause, arrival_start, arrived, batch, published):
    n = len(cause_start) - 1
    largest = np.int64(0)
    for t in range(len(event_start) - 1):
        largest = max(largest, event_start[t + 1] - event_start[t])
    largest += 1
    span = np.zeros((n + 1, 2), np.int64)
    for c in cause:
        span[c + 1, 0] += 1
    for event in range(n):
        span[event + 1, 0] += span[event, 0]
        span[event, 1] = span[event, 0]
    effect = np.empty(len(cause), np.int32)
    links = _Links(cause_start, cause, span, effect)
    blocks = 4 * (largest // _CAPACITY) + 4
    spot = np.zeros((n, 4), np.int32)
    spot[:, _BLOCK] = -1
    spot[:, _FRESH] = -1
    block = np.zeros((blocks, 3), np.int32)
    entry = np.empty((blocks, _CAPACITY), np.int32)
    directory = np.arange(blocks).astype(np.int32)
    first = np.zeros(blocks, np.int64)
    tree = np.zeros(blocks + 1, np.int64)
    size = np.zeros(2, np.int64)
    order = _Order(spot, block, entry, directory, first, tree, size)
    work = _Work(
        np.zeros(1, np.int64),
        np.empty(largest, np.int32),
        np.empty(largest, np.int32),
        np.empty(largest, np.int64),
        np.empty(largest, np.int32),
        np.empty(largest, np.int32),
        np.empty(n, np.int32),
        np.empty(largest, np.int64),
        np.empty(largest, np.int64),
        np.empty(largest, np.int64),
    )
    s = _room(largest)
    out = np.empty((1024, 3), np.int32)
    out_batch = np.empty(1024, np.int64)
    count = 0
    for t in range(len(event_start) - 1):
        work.attempts[0] = 0
        size[0] = 1
        size[1] = 0
        block[directory[0]] = 0
        tree[1] = 0
        at = arrival_start[t]
        end = arrival_start[t + 1]
        shown = at + published[t]
        while at < end:
            stop = shown
            if at >= shown:
                stop = at + 1
                while stop < end and batch[stop] == batch[at]:
                    stop += 1
            for k in range(at, stop):
                x = arrived[k]
                for e in range(cause_start[x], cause_start[x + 1]):
                    c = cause[e]
                    effect[span[c, 1]] = x
                    span[c, 1] += 1
            rank = np.int64(0)
            bottom = np.int64(0)
            if stop == at + 1:
                x = arrived[at]
                for e in range(cause_start[x], cause_start[x + 1]):
                    c = cause[e]
                    if spot[c, _BLOCK] >= 0:
                        rank = max(rank, _rank(spot, block, c) + 1)
                bottom = np.int64(_NO_LIMIT)
                for e in range(span[x, 0], span[x, 1]):
                    if effect[e] == x:
                        raise ValueError("an event is its own cause")
                    bottom = min(bottom, _rank(spot, block, effect[e]))
                if bottom > rank:
                    # Nothing that is there changes.
                    put = _insert(spot, block, entry, directory, first, tree, size, (rank << 32) | x)
                    if at >= shown:
                        out, out_batch = _grown(out, out_batch, count, count + 1)
                        out[count, 0] = x
                        out[count, 1] = -1
                        out[count, 2] = put
                        out_batch[count] = batch[at]
                        count += 1
                    at = stop
                    continue
            out, out_batch, count = _change(
                order,
                links,
                work,
                s,
                arrived[at:stop],
                stop == at + 1,
                rank,
                bottom,
                at >= shown,
                batch[at],
                out,
                out_batch,
                count,
            )
            at = stop
    return _split_columns(out, out_batch, count)
