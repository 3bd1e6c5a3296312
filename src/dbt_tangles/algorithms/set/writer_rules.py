"""The rules for writers, message by message; what they are is said in `faults`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.set.chain_clocks import (
    STEPS_PER_ENTRY,
    Clocks,
    allocate_clocks,
    build_chain_clocks,
    reaches,
)
from dbt_tangles.algorithms.set.item_touches import LinkedTouches, add_touches, allocate_touches
from dbt_tangles.algorithms.set.pending_deletions import (
    ACTIVE,
    allocate_pending_lists,
    merge_pending_lists,
    reset_pending_lists,
    store_pending_list,
)
from dbt_tangles.algorithms.set.superseding import Superseders, allocate_superseders, record_superseded
from dbt_tangles.algorithms.structures.space import with_space
from dbt_tangles.kernel_runtime.compiled import compiled, inner

RULES = ("must", "should", "supersedes_standing_item", "lipmaa_left_out")
MUST, SHOULD, STANDING, BACKLINK = range(len(RULES))
# Of a fault: message, item, rule, and where the messages left out end.
FIELDS = 4
# The fields of `FaultBuffer.count`.
FAULTS, LEFT = range(2)


class SetState(NamedTuple):
    """One set, as its messages come by.

    Attributes:
        begin: Its first message.
        base: Where its touches begin among those of all sets.
        start: int64[messages + 1], into `previous`.
        previous: int32[edges], earlier messages.
        depth: int64[messages].
        clocks: What each message knows.
        linked: The touches so far.
        superseders: Who supersedes whom, so far.
        budget: int64[1], how many steps may be taken yet; less than 0 where the set goes beyond some bound.
    """

    begin: int
    base: int
    start: np.ndarray
    previous: np.ndarray
    depth: np.ndarray
    clocks: Clocks
    linked: LinkedTouches
    superseders: Superseders
    budget: np.ndarray


class FaultBuffer(NamedTuple):
    """The faults of one set.

    Attributes:
        row: int32[room, FIELDS].
        left_out: int32[room].
        count: int64[2], how many there are of both; each fault has left something out.
    """

    row: np.ndarray
    left_out: np.ndarray
    count: np.ndarray


class RuleMarks(NamedTuple):
    """What is noted of touches and messages while rules are held against a set.

    Attributes:
        after: int32[touches], the next touch on the same item, or -1.
        missed_by: int32[touches], the message that leaves it out and has not said so yet.
        given_by: int32[touches], the last message that gave it away.
        touch_start: int32[messages + 1], into the touches of the set.
        given_up_by: int32[messages], the last message of which it was asked what that gives away.
    """

    after: np.ndarray
    missed_by: np.ndarray
    given_by: np.ndarray
    touch_start: np.ndarray
    given_up_by: np.ndarray


@compiled
def check_writer_rules(set_start, start, previous, depth, is_entry, touches, list_start, superseded, room):
    """Hold the rules against the messages of each set in order.

    Args:
        set_start: As for `faults.writer_faults`, like the rest.
        start: The same.
        previous: The same.
        depth: The same.
        is_entry: The same.
        touches: The same.
        list_start: The same.
        superseded: The same.
        room: The same.

    Returns:
        The faults, `FIELDS` int64 each, the messages left out, int32[...], and which sets were checked, bool[sets].
    """
    sets = len(set_start) - 1
    limit = STEPS_PER_ENTRY * room
    is_checked = np.ones(sets, np.bool_)
    rows = np.empty(64 * FIELDS, np.int64)
    row_count = 0
    left_out = np.empty(64, np.int32)
    left = 0

    # What one set needs, for the largest.
    clocks = allocate_clocks(set_start, room)
    linked = allocate_touches(set_start, is_entry, touches)
    superseders = allocate_superseders(set_start, is_entry, list_start)
    most, most_touches = len(clocks.chain), len(linked.touch_message)
    pending_lists = allocate_pending_lists(most, most_touches, room)
    pool, pool_state, open_at, open_count, _, merged, _, spare = pending_lists
    after = np.empty(most_touches, np.int32)
    touch_start = np.zeros(most + 1, np.int32)
    marks = RuleMarks(
        after,
        np.full(most_touches, np.int32(-1)),
        np.full(most_touches, np.int32(-1)),
        touch_start,
        np.full(most, np.int32(-1)),
    )
    buffer = FaultBuffer(np.empty((room, FIELDS), np.int32), np.empty(room, np.int32), np.zeros(2, np.int64))
    row, drafted, count = buffer
    budget = np.empty(1, np.int64)
    latest_by, before = superseders.latest, linked.before
    add_start = touches.add_start
    base = np.int64(0)

    for s in range(sets):
        begin, end = set_start[s], set_start[s + 1]
        state = SetState(begin, base, start, previous, depth, clocks, linked, superseders, budget)
        steps = build_chain_clocks(begin, end, start, previous, clocks, limit)
        budget[0] = limit - steps if steps >= 0 else -1
        count[:] = 0
        reset_pending_lists(state, end, pending_lists)
        touch_count = 0
        names = 0
        for m in range(begin, end):
            if budget[0] < 0:
                break
            here = m - begin
            is_only = start[m + 1] == start[m] + 1
            if is_only:
                p = previous[start[m]] - begin
                open_at[here] = open_at[p]
                open_count[here] = open_count[p]
                inherited = pool[pool_state[ACTIVE], open_at[p] : open_at[p] + open_count[p]]
            else:
                inherited = merged[: merge_pending_lists(m, state, pending_lists)]
            budget[0] -= len(inherited)

            # What it says itself.
            latest_by[here] = -1
            first = touch_count
            if is_entry[m]:
                names = record_superseded(m, begin, names, list_start, superseded, superseders)
                touch_count = add_touches(m, touch_count, touches, base, linked)
                for q in range(first, touch_count):
                    after[q] = -1
                    if before[q] >= 0:
                        after[before[q]] = q
            touch_start[here + 1] = touch_count

            if is_entry[m]:
                _check_must(m, first, touch_count, state, buffer, spare)
                if add_start[m + 1] > add_start[m]:
                    _check_should(m, inherited, state, marks, buffer)
                _check_standing(m, first, list_start, superseded, state, marks, buffer)
            store_pending_list(m, first, touch_count, is_only, inherited, state, pending_lists)
        base += touch_count
        if budget[0] < 0:
            is_checked[s] = False
            continue
        rows = with_space(rows, FIELDS * row_count, FIELDS * count[FAULTS])
        for f in range(count[FAULTS]):
            at = FIELDS * row_count
            rows[at] = row[f, 0]
            rows[at + 1] = row[f, 1]
            rows[at + 2] = row[f, 2]
            rows[at + 3] = left + row[f, 3]
            row_count += 1
        left_out = with_space(left_out, left, count[LEFT])
        left_out[left : left + count[LEFT]] = drafted[: count[LEFT]]
        left += count[LEFT]
    return rows[: FIELDS * row_count].copy(), left_out[:left].copy(), is_checked


@inner
def _add_omitted(x, buffer, budget):
    """Note a message that the next fault is about."""
    at = buffer.count[LEFT]
    if at == len(buffer.left_out):
        budget[0] = -1
        return
    buffer.left_out[at] = x
    buffer.count[LEFT] = at + 1


@inner
def _add_fault(message, code, rule, buffer, budget):
    """Put a fault behind the others, about what was left out since."""
    if budget[0] < 0:
        return
    at = buffer.count[FAULTS]
    buffer.row[at, 0] = message
    buffer.row[at, 1] = code
    buffer.row[at, 2] = rule
    buffer.row[at, 3] = buffer.count[LEFT]
    buffer.count[FAULTS] = at + 1


@inner
def _check_must(m, first, count, state, buffer, spare):
    """Of each item that a message touches it supersedes a deepest one that it knows.

    Args:
        m: The message.
        first: Its first touch.
        count: Behind its last.
        state: A `SetState`.
        buffer: A `FaultBuffer`, to be filled.
        spare: int32[touches].
    """
    begin, budget, depth = state.begin, state.budget, state.depth
    _, touch_message, touch_item, _, before = state.linked
    for q in range(first, count):
        found = 0
        t = before[q]
        while t >= 0 and (found == 0 or depth[touch_message[t]] == depth[spare[0]]):
            if reaches(m, touch_message[t], begin, state.clocks):
                spare[found] = touch_message[t]
                found += 1
                if state.superseders.listed_by[touch_message[t] - begin] == m:
                    found = 0
                    break
            t = before[t]
            budget[0] -= 1
        if found > 0:
            for k in range(found - 1, -1, -1):
                _add_omitted(spare[k], buffer, budget)
            _add_fault(m, touch_item[q], MUST, buffer, budget)
        if budget[0] < 0:
            return


@inner
def _check_should(m, inherited, state, marks, buffer):
    """A message that adds something supersedes all deletions that are open for it; those of one item are equally deep.

    Args:
        m: The message.
        inherited: int32[...], what is open for it.
        state: A `SetState`.
        marks: `RuleMarks`.
        buffer: A `FaultBuffer`, to be filled.
    """
    budget, depth = state.budget, state.depth
    _, touch_message, touch_item, _, _ = state.linked
    missed_by = marks.missed_by
    missed = 0
    for q in inherited:
        if state.superseders.listed_by[touch_message[q] - state.begin] != m:
            missed_by[q] = m
            missed += 1
    if missed == 0:
        return
    for q in inherited:
        if missed_by[q] != m:
            continue
        t = q
        while t >= 0 and depth[touch_message[t]] == depth[touch_message[q]]:
            if missed_by[t] == m:
                missed_by[t] = -1
                _add_omitted(touch_message[t], buffer, budget)
            t = marks.after[t]
            budget[0] -= 1
        if budget[0] < 0:
            return
        _add_fault(m, touch_item[q], SHOULD, buffer, budget)


@inner
def _check_standing(m, first, list_start, superseded, state, marks, buffer):
    """A message supersedes none on which an item stands, as far as it knows, that it does not touch itself.

    Args:
        m: The message.
        first: Its first touch.
        list_start: int64[messages + 1], into `superseded`.
        superseded: int32[...], the message each entry names, or -1.
        state: A `SetState`.
        marks: `RuleMarks`.
        buffer: A `FaultBuffer`, to be filled.
    """
    begin, budget = state.begin, state.budget
    latest, touch_message, touch_item, deletes, before = state.linked
    for k in range(list_start[m], list_start[m + 1]):
        d = superseded[k]
        # A list may name the same message any number of times.
        if d < begin or d >= m or marks.given_up_by[d - begin] == m:
            continue
        marks.given_up_by[d - begin] = m
        for q in range(marks.touch_start[d - begin], marks.touch_start[d - begin + 1]):
            t = np.int32(latest[touch_item[q]] - state.base)
            budget[0] -= 1
            if deletes[q] or t >= first or marks.given_by[q] == m:
                continue
            while t > q and not reaches(m, touch_message[t], begin, state.clocks):
                t = before[t]
                budget[0] -= 1
            if t == q and reaches(m, d, begin, state.clocks):
                marks.given_by[q] = m
                _add_omitted(d, buffer, budget)
                _add_fault(m, touch_item[q], STANDING, buffer, budget)
        if budget[0] < 0:
            return
