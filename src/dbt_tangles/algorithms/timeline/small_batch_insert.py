"""Inserts a small batch of arrivals one by one, and records positions before and after the whole batch.

A single arrival is cheap even where it lifts half the timeline (`ranks`); several arrivals at once are not. Events that
keep their rank at every arrival of the batch keep their mutual order, too: they are the frame of the whole batch.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.algorithms.structures.search import first_not_below
from dbt_tangles.algorithms.structures.sorting import insertion_sort
from dbt_tangles.algorithms.timeline.blocks import insert, key_of, position_of_event
from dbt_tangles.algorithms.timeline.ranks import find_ranks, link, rank_alone, unlink
from dbt_tangles.algorithms.timeline.stable_frame import Lift, renew
from dbt_tangles.kernel_runtime.compiled import inner

MANY = 1024  # With more changed events the rest of the batch is inserted at once: each step visits all of them.


@inner
def let_in_one_by_one(order, links, work, s, events):
    """Insert a batch; return the number of changed events of the earlier order, and the number of items."""
    for k in range(len(events) - 1, -1, -1):
        unlink(links, events[k])
    work.few[0] += 1
    changed = np.int64(0)
    entered = 0
    while entered < len(events):
        end = entered + 1 if changed <= MANY else len(events)
        for k in range(entered, end):
            link(links, events[k])
            work.member[events[k]] = work.few[0]
        rank = np.int64(0)
        bottom = np.int64(0)
        if end == entered + 1:
            rank, bottom = rank_alone(order, links, events[entered])
        if bottom > rank:
            insert(order, (rank << 32) | events[entered])
        else:
            step = events[entered:end]
            found, top, lift = find_ranks(order, links, work, step, len(step) == 1, rank, bottom)
            changed = _remember(order, work, events, entered, changed, found)
            renew(order, work, s, step, found, Lift(work.base, bottom, top, lift), False)
        entered = end
    for i in range(changed):
        event = work.was_at[i] & 0xFFFFFFFF
        s.before_old[i] = (work.was_at[i] >> 32) - i
        work.index[event] = i
    for x in events:
        work.index[x] = -1
    items = _gather_keys(order, work, events, entered, changed)
    for j in range(items):
        event = work.line[j] & 0xFFFFFFFF
        s.item[j] = event
        s.before_new[j] = position_of_event(order, event) - j
        s.old_of[j] = work.index[event]
    return changed, items


@inner
def _gather_keys(order, work, events, entered, changed):
    """Fill `line` with the sorted keys of events that entered or changed so far; return their number."""
    line = work.line
    for i in range(changed):
        line[i] = key_of(order, work.was_at[i] & 0xFFFFFFFF)
    for k in range(entered):
        line[changed + k] = key_of(order, events[k])
    insertion_sort(line[: changed + entered])
    return changed + entered


@inner
def _remember(order, work, events, entered, changed, found):
    """Record the position before the batch of each event that changes now for the first time; return their number."""
    line, was_at, member, batch = work.line, work.was_at, work.member, work.few[0]
    elsewhere = np.int64(-1)
    fresh = changed
    for k in range(found):
        z = work.changed[k]
        if member[z] == batch:
            continue
        member[z] = batch
        if elsewhere < 0:
            elsewhere = np.int64(_gather_keys(order, work, events, entered, changed))
        rest = position_of_event(order, z) - first_not_below(line, elsewhere, key_of(order, z))
        low = np.int64(0)
        high = np.int64(changed)
        while low < high:
            middle = (low + high) >> 1
            if (was_at[middle] >> 32) - middle <= rest:
                low = middle + 1
            else:
                high = middle
        was_at[fresh] = ((rest + low) << 32) | z
        fresh += 1
    insertion_sort(was_at[:fresh])
    return fresh
