"""Reachability in feed tangles of sets: missing lipmaa backlinks, bypassed messages, and the holders of each item.

Source: protospec.md, "Feed tangle" (backlinks). Bypassed messages and holders are the project's, for pruning.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.set.chain_clocks import (
    STEPS_PER_ENTRY,
    Clocks,
    allocate_clocks,
    build_chain_clocks,
    reaches,
)
from dbt_tangles.algorithms.set.item_touches import LinkedTouches, allocate_touches, link_touches
from dbt_tangles.algorithms.structures.space import with_space
from dbt_tangles.kernel_runtime.compiled import compiled, inner


class Reachability(NamedTuple):
    """The result of `find_reachability`.

    Attributes:
        fault: int32[faults], the messages that miss a backlink, ascending.
        left_start: int64[faults + 1], into `left_out`.
        left_out: int32[...], the messages that they should list, ascending within each fault.
        is_bridged: bool[messages], whether the followers of the message have a backlink beyond it to a known message.
        held_start: int64[items + 1], into `held_by`.
        held_by: int32[...], the messages that hold each item, ascending.
        is_checked: bool[sets]; False where a set exceeds a bound. Its faults and bridged messages are then left out,
            and only the last message on an item is listed as its holder.
    """

    fault: np.ndarray
    left_start: np.ndarray
    left_out: np.ndarray
    is_bridged: np.ndarray
    held_start: np.ndarray
    held_by: np.ndarray
    is_checked: np.ndarray


class Backlinks(NamedTuple):
    """Depths of lipmaa backlinks."""

    own: np.ndarray  # int64[messages], the depth that each message links back to, or a negative number
    following: np.ndarray  # int64[messages], the same for a message that is one deeper


class _Set(NamedTuple):
    """One set; `base` is the number of touches in all earlier sets, `budget` int64[1] the steps left."""

    begin: int
    end: int
    base: int
    clocks: Clocks
    linked: LinkedTouches
    budget: np.ndarray


class _Scratch(NamedTuple):
    """Scratch arrays, of the size of the largest set."""

    fault: np.ndarray  # int32[messages], the messages of one set that miss a backlink
    fault_end: np.ndarray  # int64[messages], the end of each fault in `left_out`
    left_out: np.ndarray  # int32[room]
    listed_by: np.ndarray  # int32[messages], the last message that lists each message
    reach: np.ndarray  # int32[chains], the latest message on each chain that a holder reaches
    reach_of: np.ndarray  # int64[chains], the item that `reach` refers to


class _Missed(NamedTuple):
    """Messages that miss backlinks, as in `Reachability`; with space for more."""

    fault: np.ndarray
    left_start: np.ndarray
    left_out: np.ndarray


@compiled
def _append_faults(missed, faults, found, scratch):
    """Append the `found` messages of one set to the first `faults` messages."""
    left = missed.left_start[faults]
    fault = with_space(missed.fault, faults, found)
    left_start = with_space(missed.left_start, faults + 1, found)
    for k in range(found):
        fault[faults + k] = scratch.fault[k]
        left_start[faults + k + 1] = left + scratch.fault_end[k]
    count = left_start[faults + found] - left
    left_out = with_space(missed.left_out, left, count)
    left_out[left : left + count] = scratch.left_out[:count]
    return _Missed(fault, left_start, left_out)


@compiled
def find_reachability(tangles, backlinks, counted, item_start, item, touches, room):
    """Find missing backlinks, bridged messages and holders, each set independently of the others.

    A message misses a backlink if it does not list all known messages at its backlink depth; the depth directly below
    is exempt. A message is bridged if its followers have a backlink beyond it to a known message. The holders of an
    item are the messages that add it and have no descendant that adds or deletes it.

    Args:
        tangles: A `set_arrays.SetTangles`.
        backlinks: A `Backlinks`.
        counted: bool[messages], whether the touches of a message count; links lead through all messages.
        item_start: int64[sets + 1], into the items.
        item: int32[items], the code of each item that is in its set.
        touches: An `item_touches.Touches`.
        room: The bound for one set: on its clock entries and on `left_out`; its steps are bounded by
            `STEPS_PER_ENTRY` times as many.

    Returns:
        A `Reachability`.
    """
    set_start, start, previous, depth = tangles
    sets = len(set_start) - 1
    limit = STEPS_PER_ENTRY * room
    is_checked = np.ones(sets, np.bool_)
    is_bridged = np.zeros(len(depth), np.bool_)
    missed = _Missed(np.empty(64, np.int32), np.zeros(64, np.int64), np.empty(64, np.int32))
    faults = 0
    held_start = np.zeros(len(item) + 1, np.int64)
    held_by = np.empty(len(touches.added), np.int32)
    clocks = allocate_clocks(set_start, room)
    linked = allocate_touches(set_start, counted, touches)
    scratch = _allocate_reach_scratch(len(clocks.chain), room)
    budget = np.empty(1, np.int64)
    base = np.int64(0)
    for s in range(sets):
        begin, end = set_start[s], set_start[s + 1]
        touch_count = link_touches(begin, end, counted, touches, base, linked)
        steps = build_chain_clocks(begin, end, start, previous, clocks, limit)
        budget[0] = limit - steps if steps >= 0 else -1
        of = _Set(begin, end, base, clocks, linked, budget)
        found = _check_backlinks(of, tangles, backlinks, is_bridged, scratch)
        first, last = item_start[s], item_start[s + 1]
        _list_holders(of, first, item[first:last], held_start, held_by, scratch)
        if budget[0] < 0:
            is_checked[s] = False
            is_bridged[begin:end] = False
            _list_last_touches(of, first, item[first:last], held_start, held_by)
        else:
            missed = _append_faults(missed, faults, found, scratch)
            faults += found
        base += touch_count
    return Reachability(
        missed.fault[:faults].copy(),
        missed.left_start[: faults + 1].copy(),
        missed.left_out[: missed.left_start[faults]].copy(),
        is_bridged,
        held_start,
        held_by[: held_start[-1]].copy(),
        is_checked,
    )


@compiled
def _allocate_reach_scratch(messages, room):
    """Make a `_Scratch` for any set of so many messages."""
    return _Scratch(
        np.empty(messages, np.int32),
        np.empty(messages, np.int64),
        np.empty(room, np.int32),
        np.full(messages, np.int32(-1)),
        np.empty(messages, np.int32),
        np.full(messages, np.int64(-1)),
    )


@inner
def _check_backlinks(of, tangles, backlinks, is_bridged, scratch):
    """Find the bridged messages of a set, and those that miss a backlink."""
    begin, clocks, budget = of.begin, of.clocks, of.budget
    start, previous, depth = tangles.start, tangles.previous, tangles.depth
    left_out, listed_by = scratch.left_out, scratch.listed_by
    faults = 0
    left = 0
    for m in range(begin, of.end):
        if budget[0] < 0:
            break
        wanted = backlinks.following[m]
        if 0 <= wanted < depth[m]:
            x = begin + np.searchsorted(depth[begin:m], wanted)
            while x < m and depth[x] == wanted and not is_bridged[m]:
                is_bridged[m] = reaches(m, x, begin, clocks)
                x += 1
                budget[0] -= 1
        wanted = backlinks.own[m]
        if 0 <= wanted < depth[m] - 1:
            for e in range(start[m], start[m + 1]):
                listed_by[previous[e] - begin] = m
            first = left
            x = begin + np.searchsorted(depth[begin:m], wanted)
            while x < m and depth[x] == wanted:
                if listed_by[x - begin] != m and reaches(m, x, begin, clocks):
                    if left == len(left_out):
                        budget[0] = -1
                        return faults
                    left_out[left] = x
                    left += 1
                x += 1
                budget[0] -= 1
            if left > first:
                scratch.fault[faults] = m
                scratch.fault_end[faults] = left
                faults += 1
    return faults


@inner
def _list_holders(of, first, item, held_start, held_by, scratch):
    """List the messages that hold each item of a set."""
    chain, clock_at, width, clock, _, _ = of.clocks
    latest, touch_message, _, deletes, before = of.linked
    reach, reach_of, budget = scratch.reach, scratch.reach_of, of.budget
    held = held_start[first]
    for k in range(len(item)):
        if budget[0] < 0:
            return
        i = first + k
        t = np.int32(latest[item[k]] - of.base)
        while t >= 0 and budget[0] >= 0:
            x = touch_message[t]
            here = x - of.begin
            c = chain[here]
            if reach_of[c] != i or reach[c] < x:
                if not deletes[t]:
                    held_by[held] = x
                    held += 1
                for j in range(width[here]):
                    known_there = clock[clock_at[here] + j]
                    if reach_of[j] != i or reach[j] < known_there:
                        reach_of[j] = i
                        reach[j] = known_there
                reach_of[c] = i
                reach[c] = x
                # The first entry is free: it stands for reading the touch.
                budget[0] -= max(width[here] - 1, 0)
            t = before[t]
        if held > held_start[i] + 1:
            held_by[held_start[i] : held] = held_by[held_start[i] : held][::-1].copy()
        held_start[i + 1] = held


@inner
def _list_last_touches(of, first, item, held_start, held_by):
    """List the last message on each item of a set as its only holder; arguments as in `_list_holders`."""
    held = held_start[first]
    for k in range(len(item)):
        held_by[held] = of.linked.touch_message[of.linked.latest[item[k]] - of.base]
        held += 1
        held_start[first + k + 1] = held
