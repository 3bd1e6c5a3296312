"""From the old order to the new one: lifts, and items (changed and new events) put where they belong.

What keeps its mutual order (the frame) is only counted; the items are weighed against it. A rise that nearly everything
above some level takes part in costs a few additions, and the events that do not take part.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.algorithms.structures.sorting import insertion_sort
from dbt_tangles.algorithms.timeline.blocks import (
    BLOCK,
    COUNT,
    FRESH,
    LIFT,
    RANK,
    find,
    insert,
    key_of,
    position_of,
    rank_of,
    remove,
)
from dbt_tangles.algorithms.timeline.ranks import NO_LIMIT
from dbt_tangles.kernel_runtime.compiled import inner

SWEEP = 64  # As many entries are passed over in about the time that one is looked up, taken out and put in.


@inner
def renew(order, work, s, events, changed, bottom, top, lift, show):
    """Make the new order, of what `find_ranks` found; how many items there are.

    Where `show` is true, `before_old`, `before_new`, `old_of` and `item` are filled.
    """
    spot, new_key = order.spot, work.new_key
    items = changed + len(events)
    start = np.int64(NO_LIMIT)
    for i in range(len(events)):
        x = events[i]
        new_key[i] = (np.int64(spot[x, FRESH]) << 32) | x
        spot[x, FRESH] = -1
        work.index[x] = -1
    for i in range(changed):
        z = work.changed[i]
        start = min(start, key_of(order, z))
        new_key[len(events) + i] = (np.int64(spot[z, FRESH]) << 32) | z
    insertion_sort(new_key[:items])
    if top >= 0:
        start = bottom << 32
    else:
        start = min(start, new_key[0])
        bottom = np.int64(NO_LIMIT)
    swept = _merge_items(order, work, s, changed, items, start, bottom, top, lift)
    for i in range(changed):
        spot[work.changed[i], FRESH] = -1
    if not swept:
        _take_out(order, work, s, changed, items, bottom, top, lift, show)
        for j in range(items):
            insert(order, new_key[j])
    return items


@inner
def _merge_items(order, work, s, changed, items, start, bottom, top, lift):
    """Merge the items into the part of the order that they leave and enter; whether that part was short enough.

    `before_old`, `before_new`, `old_of` and `item` are filled.
    """
    spot, block, entry, directory, first = order.spot, order.block, order.entry, order.directory, order.first
    new_key, line = work.new_key, work.line
    used = order.size[0]
    limit = SWEEP * (items + 1)
    start_place, start_i = find(order, start)
    before = position_of(order, start_place, start_i)
    place, i = start_place, start_i
    seen = 0
    j = 0
    frame = 0
    length = 0
    while seen < changed or j < items:
        if place == used:
            key = np.int64(NO_LIMIT)
        else:
            at = directory[place]
            if i == block[at, COUNT]:
                place += 1
                i = np.int64(0)
                continue
            event = entry[at, i]
            if spot[event, FRESH] >= 0:
                i += 1
                work.index[event] = seen
                s.before_old[seen] = before + frame
                seen += 1
                continue
            level = np.int64(spot[event, RANK]) + block[at, LIFT]
            key = ((level + _lifted(work.base, bottom, top, lift, level)) << 32) | event
        while j < items and new_key[j] < key:
            s.before_new[j] = before + frame
            line[length] = new_key[j]
            length += 1
            j += 1
        if j == items and seen == changed:
            break
        i += 1
        frame += 1
        line[length] = key
        length += 1
        if frame > limit:
            return False
    end_place, end_i = place, i
    # All goes where something was, but for as many as are new.
    place, i = start_place, start_i
    for k in range(frame + changed):
        while i == block[directory[place], COUNT]:
            place += 1
            i = np.int64(0)
        at = directory[place]
        event = line[k] & 0xFFFFFFFF
        entry[at, i] = event
        spot[event, RANK] = (line[k] >> 32) - block[at, LIFT]
        spot[event, BLOCK] = at
        if i == 0:
            first[place] = line[k]
        i += 1
    if top >= 0:
        _lift_from(order, work.base, bottom, top, lift, end_place, end_i)
    for k in range(frame + changed, length):
        insert(order, line[k])
    for j in range(items):
        s.item[j] = new_key[j] & 0xFFFFFFFF
        s.old_of[j] = work.index[s.item[j]]
    return True


@inner
def _take_out(order, work, s, changed, items, bottom, top, lift, show):
    """Take changed events out of the order one by one, and see where all items will go."""
    for i in range(changed):
        z = work.changed[i]
        work.old_key[i] = key_of(order, z)
    insertion_sort(work.old_key[:changed])
    for i in range(changed):
        z = work.old_key[i] & 0xFFFFFFFF
        work.index[z] = i
        s.before_old[i] = remove(order, z)
    if top >= 0:
        place, k = find(order, bottom << 32)
        _lift_from(order, work.base, bottom, top, lift, place, k)
    if show:
        for j in range(items):
            event = work.new_key[j] & 0xFFFFFFFF
            place, k = find(order, work.new_key[j])
            s.item[j] = event
            s.old_of[j] = work.index[event]
            s.before_new[j] = position_of(order, place, k)


@inner
def _lifted(base, bottom, top, lift, level):
    """By how much a level is lifted: by `base` from `bottom` to `top`, by `lift` above."""
    if level < bottom:
        return np.int64(0)
    return lift if level > top else np.int64(base[level])


@inner
def _lift_from(order, base, bottom, top, lift, place, i):
    """Lift entries from a place on, by their levels."""
    spot, block, entry, directory, first = order.spot, order.block, order.entry, order.directory, order.first
    used = order.size[0]
    while place < used:
        at = directory[place]
        count = block[at, COUNT]
        if i < count:
            low = _lifted(base, bottom, top, lift, rank_of(order, entry[at, i]))
            high = _lifted(base, bottom, top, lift, rank_of(order, entry[at, count - 1]))
            # What is lifted less is above, so that nothing more follows.
            if low == 0:
                return
            if i == 0:
                first[place] += low << 32
            if i == 0 and low == high:
                block[at, LIFT] += low
            else:
                for k in range(i, count):
                    y = entry[at, k]
                    spot[y, RANK] += _lifted(base, bottom, top, lift, rank_of(order, y))
        i = np.int64(0)
        place += 1
