"""Backlinks that are left out, what can do without a message between, and which messages hold an item in a set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.set.chain_clocks import STEPS_PER_ENTRY, allocate_clocks, build_chain_clocks, reaches
from dbt_tangles.algorithms.set.item_touches import allocate_touches, link_touches
from dbt_tangles.algorithms.structures.space import with_space
from dbt_tangles.kernel_runtime.compiled import compiled


class Reachability(NamedTuple):
    """What `find_reachability` finds.

    Attributes:
        fault: int32[faults], the messages that leave a backlink out, ascending.
        left_start: int64[faults + 1], into `left_out`.
        left_out: int32[...], the messages that should be listed, ascending within each fault.
        is_bridged: bool[messages]; whether whoever follows the message links back to another one that is there.
        held_start: int64[items + 1], into `held_by`.
        held_by: int32[...], the messages that hold each item, ascending.
        is_checked: bool[sets]; False where a set goes beyond some bound: then it has no faults, no message is bridged,
            and the last message on an item stands for all that hold it.
    """

    fault: np.ndarray
    left_start: np.ndarray
    left_out: np.ndarray
    is_bridged: np.ndarray
    held_start: np.ndarray
    held_by: np.ndarray
    is_checked: np.ndarray


@compiled
def find_reachability(
    set_start, start, previous, depth, backlink, next_backlink, counted, item_start, item, touches, room
):
    """Look at what the messages of each set know, each set for itself.

    A message leaves a backlink out if it lists not all messages that it knows at the depth it should link back to,
    where that is not the depth right below. One is bridged if a message that follows it and nothing else links back
    beyond it, to a message that is there. An item is held by the messages that add it and that no other message
    follows that adds or deletes it; the last of them decides.

    Args:
        set_start: int64[sets + 1], into the messages.
        start: int64[messages + 1], into `previous`.
        previous: int32[edges], earlier messages.
        depth: int64[messages]; never falls within a set.
        backlink: int64[messages], the depth to link back to, or less than any.
        next_backlink: int64[messages], the same for a message one deeper.
        counted: bool[messages]; the others touch nothing, but links lead through them.
        item_start: int64[sets + 1], into the items.
        item: int32[items], the code of each item that is in its set.
        touches: A `touched.Touches`.
        room: For each set, the most entries there may be in its clocks and in `left_out`; and a sixteenth of the steps
            it may take.

    Returns:
        A `Reachability`.
    """
    sets = len(set_start) - 1
    limit = STEPS_PER_ENTRY * room
    is_checked = np.ones(sets, np.bool_)
    is_bridged = np.zeros(len(depth), np.bool_)
    fault = np.empty(64, np.int32)
    left_start = np.zeros(64, np.int64)
    faults = 0
    left_out = np.empty(64, np.int32)
    left = 0
    held_start = np.zeros(len(item) + 1, np.int64)
    held_by = np.empty(len(touches.added), np.int32)
    held = 0
    clocks = allocate_clocks(set_start, room)
    chain, clock_at, width, clock, _, _ = clocks
    most = len(chain)
    listed_by = np.full(most, np.int32(-1))
    linked = allocate_touches(set_start, counted, touches)
    latest, touch_message, _, deletes, before = linked
    base = np.int64(0)
    # How far along each chain the messages know that stand on an item; which item that is about.
    reach = np.empty(most, np.int32)
    reach_of = np.full(most, np.int64(-1))
    for s in range(sets):
        begin, end = set_start[s], set_start[s + 1]
        touch_count = link_touches(begin, end, counted, touches, base, linked)
        first_fault, first_left, first_held = faults, left, held
        steps = build_chain_clocks(begin, end, start, previous, clocks, limit)
        is_within = steps >= 0

        for m in range(begin, end):
            if not is_within:
                break
            wanted = next_backlink[m]
            if 0 <= wanted < depth[m]:
                x = begin + np.searchsorted(depth[begin:m], wanted)
                while x < m and depth[x] == wanted and not is_bridged[m]:
                    is_bridged[m] = reaches(m, x, begin, clocks)
                    x += 1
                    steps += 1
            wanted = backlink[m]
            if 0 <= wanted < depth[m] - 1:
                for e in range(start[m], start[m + 1]):
                    listed_by[previous[e] - begin] = m
                count = 0
                x = begin + np.searchsorted(depth[begin:m], wanted)
                while x < m and depth[x] == wanted:
                    if listed_by[x - begin] != m and reaches(m, x, begin, clocks):
                        left_out = with_space(left_out, left, 1)
                        left_out[left] = x
                        left += 1
                        count += 1
                    x += 1
                    steps += 1
                if count > 0:
                    fault = with_space(fault, faults, 1)
                    left_start = with_space(left_start, faults + 1, 1)
                    fault[faults] = m
                    faults += 1
                    left_start[faults] = left
            is_within = steps <= limit and left - first_left <= room

        # A message is held against what the standing ones behind it know; what those know that do not stand, they know.
        for i in range(item_start[s], item_start[s + 1]):
            if not is_within:
                break
            first = held
            t = np.int32(latest[item[i]] - base)
            while t >= 0:
                x = touch_message[t]
                c = chain[x - begin]
                if reach_of[c] != i or reach[c] < x:
                    if not deletes[t]:
                        held_by[held] = x
                        held += 1
                    here = x - begin
                    for k in range(width[here]):
                        known_there = clock[clock_at[here] + k]
                        if reach_of[k] != i or reach[k] < known_there:
                            reach_of[k] = i
                            reach[k] = known_there
                    reach_of[c] = i
                    reach[c] = x
                    # One step for each is no more than what is read: only what comes on top is held against the limit.
                    steps += max(width[here] - 1, 0)
                t = before[t]
                if steps > limit:
                    break
            if held > first + 1:
                held_by[first:held] = held_by[first:held][::-1].copy()
            held_start[i + 1] = held
            is_within = steps <= limit

        if not is_within:
            is_checked[s] = False
            is_bridged[begin:end] = False
            faults, left, held = first_fault, first_left, first_held
            for i in range(item_start[s], item_start[s + 1]):
                held_by[held] = touch_message[latest[item[i]] - base]
                held += 1
                held_start[i + 1] = held
        base += touch_count
    return Reachability(
        fault[:faults].copy(),
        left_start[: faults + 1].copy(),
        left_out[:left].copy(),
        is_bridged,
        held_start,
        held_by[:held].copy(),
        is_checked,
    )
