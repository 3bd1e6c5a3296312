"""Checks the writer rules of pzp sets message by message; `writer_faults` states the rules and their source."""

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

RULES = ("must", "should", "supersedes_standing_item", "lipmaa_left_out", "supersedes_later_message")
MUST, SHOULD, STANDING, BACKLINK, LATER = range(len(RULES))
# The fields of a fault: message, item, rule, and the end of its messages in `left_out`.
FIELDS = 4
# The fields of `FaultBuffer.count`.
FAULTS, LEFT = range(2)


class SetState(NamedTuple):
    """One set while its messages are visited in order."""

    begin: int  # The first message of the set
    base: int  # The number of touches in all earlier sets
    start: np.ndarray  # int64[messages + 1], into `previous`
    previous: np.ndarray  # int32[edges]
    depth: np.ndarray  # int64[messages]
    clocks: Clocks  # The ancestors of each message
    linked: LinkedTouches  # The touches so far
    superseders: Superseders  # The supersedes relation so far
    budget: np.ndarray  # int64[1], the steps left; negative once the set exceeds a bound


class FaultBuffer(NamedTuple):
    """The faults of one set."""

    row: np.ndarray  # int32[room, FIELDS]
    left_out: np.ndarray  # int32[room], the omitted messages; every fault has at least one
    count: np.ndarray  # int64[2], how many of both are used, see `FAULTS`


class RuleMarks(NamedTuple):
    """Marks on touches and messages, and the arrays of one set that grow with its messages."""

    after: np.ndarray  # int32[touches], the next touch on the same item, or -1
    missed_by: np.ndarray  # int32[touches], the message that omits the touch, until the fault is listed
    given_by: np.ndarray  # int32[touches], the last message reported for superseding the touch
    touch_start: np.ndarray  # int32[messages + 1], into the touches of the set
    given_up_by: np.ndarray  # int32[messages], the last message whose `supersedes` was checked for this message


@compiled
def check_writer_rules(tangles, entries, room):
    """Check the rules on `supersedes` for the messages of each set in order.

    Args:
        tangles: A `set_arrays.SetTangles`.
        entries: A `set_arrays.SetEntries`.
        room: As in `writer_faults.writer_faults`.

    Returns:
        The faults as int64[faults * FIELDS], the omitted messages int32[...], and bool[sets], which sets were checked.
    """
    set_start, start, previous, depth = tangles
    is_entry, touches, list_start, superseded = entries
    limit = STEPS_PER_ENTRY * room
    is_checked = np.ones(len(set_start) - 1, np.bool_)
    rows, row_count = np.empty(0, np.int64), 0
    left_out, left = np.empty(0, np.int32), 0
    clocks, linked, superseders, pending, marks, buffer, budget = _allocate_set_scratch(set_start, entries, room)
    pool, pool_state, open_at, open_count, merged = pending[0], pending[1], pending[2], pending[3], pending[5]
    base = np.int64(0)
    for s in range(len(set_start) - 1):
        begin, end = set_start[s], set_start[s + 1]
        state = SetState(begin, base, start, previous, depth, clocks, linked, superseders, budget)
        steps = build_chain_clocks(begin, end, start, previous, clocks, limit)
        budget[0] = limit - steps if steps >= 0 else -1
        buffer.count[:] = 0
        reset_pending_lists(state, end, pending)
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
                inherited = merged[: merge_pending_lists(m, state, pending)]
            budget[0] -= len(inherited)
            superseders.latest[here] = -1
            first = touch_count
            if is_entry[m]:
                names = record_superseded(m, begin, names, list_start, superseded, superseders)
                touch_count = _add_touches(m, first, touches, base, linked, marks.after)
            marks.touch_start[here + 1] = touch_count
            if is_entry[m]:
                _check_must(m, first, touch_count, state, buffer, pending.spare)
                if touches.add_start[m + 1] > touches.add_start[m]:
                    _check_should(m, inherited, state, marks, buffer)
                _check_standing(m, first, list_start, superseded, state, marks, buffer)
            store_pending_list(m, first, touch_count, is_only, inherited, state, pending)
        base += touch_count
        is_checked[s] = budget[0] >= 0
        if is_checked[s]:
            rows, left_out = _make_room(rows, row_count, left_out, left, buffer)
            row_count, left = _copy_faults(rows, row_count, left_out, left, buffer)
    return rows[: FIELDS * row_count].copy(), left_out[:left].copy(), is_checked


@compiled
def _allocate_set_scratch(set_start, entries, room):
    """Allocate the arrays of one set for the largest set."""
    is_entry, touches, list_start, _ = entries
    clocks = allocate_clocks(set_start, room)
    linked = allocate_touches(set_start, is_entry, touches)
    superseders = allocate_superseders(set_start, is_entry, list_start)
    pending = allocate_pending_lists(len(clocks.chain), len(linked.touch_message), room)
    marks = _allocate_marks(len(clocks.chain), len(linked.touch_message))
    buffer = FaultBuffer(np.empty((room, FIELDS), np.int32), np.empty(room, np.int32), np.zeros(2, np.int64))
    return clocks, linked, superseders, pending, marks, buffer, np.empty(1, np.int64)


@inner
def _add_touches(m, first, touches, base, linked, after):
    """Add the touches of a message from `first` on, and link each to the touch before it; return their end."""
    end = add_touches(m, first, touches, base, linked)
    for q in range(first, end):
        after[q] = -1
        if linked.before[q] >= 0:
            after[linked.before[q]] = q
    return end


@compiled
def _make_room(rows, row_count, left_out, left, buffer):
    """Make room for the faults of one set; both arrays."""
    faults, omitted = buffer.count
    return with_space(rows, FIELDS * row_count, FIELDS * faults), with_space(left_out, left, omitted)


@inner
def _copy_faults(rows, row_count, left_out, left, buffer):
    """Append the faults of one set; the number of faults and of omitted messages."""
    faults, omitted = buffer.count
    for f in range(faults):
        at = FIELDS * row_count
        rows[at] = buffer.row[f, 0]
        rows[at + 1] = buffer.row[f, 1]
        rows[at + 2] = buffer.row[f, 2]
        rows[at + 3] = left + buffer.row[f, 3]
        row_count += 1
    left_out[left : left + omitted] = buffer.left_out[:omitted]
    return row_count, left + omitted


@compiled
def _allocate_marks(messages, touches):
    """Make `RuleMarks` for any set of so many messages and touches."""
    return RuleMarks(
        np.empty(touches, np.int32),
        np.full(touches, np.int32(-1)),
        np.full(touches, np.int32(-1)),
        np.zeros(messages + 1, np.int32),
        np.full(messages, np.int32(-1)),
    )


@inner
def _add_omitted(x, buffer, budget):
    """Add a message to the omitted ones of the next fault."""
    at = buffer.count[LEFT]
    if at == len(buffer.left_out):
        budget[0] = -1
        return
    buffer.left_out[at] = x
    buffer.count[LEFT] = at + 1


@inner
def _add_fault(message, code, rule, buffer, budget):
    """Add a fault about all messages omitted since the last fault."""
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
    """Check `must`: a message supersedes one of the deepest known messages on each item that it touches."""
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
    """Check `should`: a message that adds an item supersedes all deletions pending for it."""
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
    """Check `supersedes_standing_item`: a message keeps the messages that hold untouched items, as far as it knows."""
    begin, budget = state.begin, state.budget
    latest, touch_message, touch_item, deletes, before = state.linked
    for k in range(list_start[m], list_start[m + 1]):
        d = superseded[k]
        # A list may repeat a message; each is checked once.
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
