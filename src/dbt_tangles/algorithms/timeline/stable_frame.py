"""Turns the old order into the new one: lifts whole levels, and puts items (changed and new events) in their places.

Events that keep their mutual order form the frame, whose entries are only counted. Where nearly all events above some
level rise alike, the rise costs one addition per block, and one step for each event that rises less.
"""

from __future__ import annotations

from typing import NamedTuple

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


class Lift(NamedTuple):
    """The lift of whole levels."""

    base: np.ndarray  # int32[levels]; the lift of the levels from `bottom` to `top`.
    bottom: int  # The lowest lifted level.
    top: int  # The last level in `base`, or -1 where no level is lifted.
    above: int  # The lift of all levels above.


SWEEP = 64  # Passing over so many entries takes about as long as finding, removing and inserting one.


@inner
def renew(order, work, s, events, changed, lift, show):
    """Make the new order from the ranks that `find_ranks` found; return the number of items."""
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
    start = lift.bottom << 32 if lift.top >= 0 else min(start, new_key[0])
    swept = _merge_items(order, work, s, changed, items, start, lift)
    for i in range(changed):
        spot[work.changed[i], FRESH] = -1
    if not swept:
        _take_out(order, work, s, changed, items, lift, show)
        for j in range(items):
            insert(order, new_key[j])
    return items


@inner
def _merge_items(order, work, s, changed, items, start, lift):
    """Merge the items into the part of the order that they leave and enter, unless that part is too long."""
    length, end_place, end_i = _merge_keys(order, work, s, changed, items, start, lift)
    if length < 0:
        return False
    # All entries but the number of new events fit into the places of earlier entries.
    fitting = length - items + changed
    place, i = find(order, start)
    _write_keys(order, work.line[:fitting], place, i)
    if lift.top >= 0:
        _lift_from(order, lift, end_place, end_i)
    for k in range(fitting, length):
        insert(order, work.line[k])
    for j in range(items):
        s.item[j] = work.new_key[j] & 0xFFFFFFFF
        s.old_of[j] = work.index[s.item[j]]
    return True


@inner
def _merge_keys(order, work, s, changed, items, start, lift):
    """Fill `line` with the new keys from a key on; return their number, or -1 if too many, and the end of the part."""
    spot, block, entry, directory = order.spot, order.block, order.entry, order.directory
    new_key, line = work.new_key, work.line
    limit = SWEEP * (items + 1)
    place, i = find(order, start)
    before = position_of(order, place, i)
    seen = 0
    j = 0
    frame = 0
    while seen < changed or j < items:
        if place == order.size[0]:
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
            key = ((level + _lift_of(lift, level)) << 32) | event
        while j < items and new_key[j] < key:
            s.before_new[j] = before + frame
            line[frame + j] = new_key[j]
            j += 1
        if j == items and seen == changed:
            break
        line[frame + j] = key
        i += 1
        frame += 1
        if frame > limit:
            return -1, place, i
    return frame + j, place, i


@inner
def _write_keys(order, line, place, i):
    """Write keys over the entries from a place on."""
    spot, block, entry, directory = order.spot, order.block, order.entry, order.directory
    for key in line:
        while i == block[directory[place], COUNT]:
            place += 1
            i = np.int64(0)
        at = directory[place]
        event = key & 0xFFFFFFFF
        entry[at, i] = event
        spot[event, RANK] = (key >> 32) - block[at, LIFT]
        spot[event, BLOCK] = at
        if i == 0:
            order.first[place] = key
        i += 1


@inner
def _take_out(order, work, s, changed, items, lift, show):
    """Remove changed events from the order one by one, and find the places of all items."""
    for i in range(changed):
        z = work.changed[i]
        work.old_key[i] = key_of(order, z)
    insertion_sort(work.old_key[:changed])
    for i in range(changed):
        z = work.old_key[i] & 0xFFFFFFFF
        work.index[z] = i
        s.before_old[i] = remove(order, z)
    if lift.top >= 0:
        place, k = find(order, lift.bottom << 32)
        _lift_from(order, lift, place, k)
    if show:
        for j in range(items):
            event = work.new_key[j] & 0xFFFFFFFF
            place, k = find(order, work.new_key[j])
            s.item[j] = event
            s.old_of[j] = work.index[event]
            s.before_new[j] = position_of(order, place, k)


@inner
def _lift_of(lift, level):
    """Return the lift of a level."""
    if lift.top < 0 or level < lift.bottom:
        return np.int64(0)
    return lift.above if level > lift.top else np.int64(lift.base[level])


@inner
def _lift_from(order, lift, place, i):
    """Lift entries from a place on by the lifts of their levels."""
    spot, block, entry, directory, first = order.spot, order.block, order.entry, order.directory, order.first
    used = order.size[0]
    while place < used:
        at = directory[place]
        count = block[at, COUNT]
        if i < count:
            low = _lift_of(lift, rank_of(order, entry[at, i]))
            high = _lift_of(lift, rank_of(order, entry[at, count - 1]))
            # Lifts fall with the level, so no later entry is lifted.
            if low == 0:
                return
            if i == 0:
                first[place] += low << 32
            if i == 0 and low == high:
                block[at, LIFT] += low
            else:
                for k in range(i, count):
                    y = entry[at, k]
                    spot[y, RANK] += _lift_of(lift, rank_of(order, y))
        i = np.int64(0)
        place += 1
