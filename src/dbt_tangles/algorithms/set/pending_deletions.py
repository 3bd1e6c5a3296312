"""The deletions that whoever knows a message has to reckon with, as a list for each message of a set.

They are open: the message knows or makes them, nothing that it knows supersedes them, and on their items it knows
nothing deeper. A message with one previous finds them in the list of that one. If it just adds some of its own, the
list is prolonged where it lies if it is the last, for what was there remains the list of the previous. At a merge, each
deletion that is open for some previous is held against the messages that supersede it and the later ones on its item.
When there is no space left, lists that nobody needs any more make way.

A deletion is here the number of a touch (see `touched`); the lists ascend.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.set.chain_clocks import reaches
from dbt_tangles.algorithms.set.superseding import is_superseded_at
from dbt_tangles.algorithms.structures.sorting import merge_sort
from dbt_tangles.kernel_runtime.compiled import compiled, inner

# The fields of `PendingLists.pool_state`: how much of the pool is used, and which of the two it is.
USED, ACTIVE = range(2)


class PendingLists(NamedTuple):
    """The lists of one set, whose messages count from its first.

    Attributes:
        pool: int32[2, room]; all lists are in one of the two, and move to the other.
        mark: int64[2], see `USED`.
        at: int64[messages], where the list of each begins.
        count: int32[messages], how long it is.
        last_follower: int32[messages], the last message that lists it, or -1.
        merged: int32[touches], the list of a message that is not the only previous' one.
        merged_by: int32[touches], the last message that merged it.
        spare: int32[touches].
    """

    pool: np.ndarray
    pool_state: np.ndarray
    at: np.ndarray
    count: np.ndarray
    last_child: np.ndarray
    merged: np.ndarray
    merged_by: np.ndarray
    spare: np.ndarray


@compiled
def allocate_pending_lists(messages, touches, room):
    """Make room for the lists of any set of so many messages and touches; `room` is for all its lists together."""
    return PendingLists(
        np.empty((2, room), np.int32),
        np.zeros(2, np.int64),
        np.empty(messages, np.int64),
        np.empty(messages, np.int32),
        np.empty(messages, np.int32),
        np.empty(touches, np.int32),
        np.full(touches, np.int32(-1)),
        np.empty(touches, np.int32),
    )


@inner
def reset_pending_lists(state, end, pending):
    """Forget the lists of another set, and note how long each of this set's is needed."""
    pending.pool_state[USED] = 0
    pending.last_child[: end - state.begin] = -1
    for m in range(state.begin, end):
        for e in range(state.start[m], state.start[m + 1]):
            pending.last_child[state.previous[e] - state.begin] = m


@inner
def merge_pending_lists(m, state, pending):
    """List what is open for a message that has not just one previous.

    Args:
        m: The message.
        state: A `breaches.SetState`.
        pending: An `PendingLists`; `merged` is filled.

    Returns:
        How many deletions are open.
    """
    begin, budget = state.begin, state.budget
    latest, touch_message, touch_item, _, before = state.linked
    merged = pending.merged
    side = pending.pool_state[ACTIVE]
    count = 0
    for e in range(state.start[m], state.start[m + 1]):
        p = state.previous[e] - begin
        budget[0] -= pending.count[p]
        if budget[0] < 0:
            break
        for k in range(pending.at[p], pending.at[p] + pending.count[p]):
            q = pending.pool[side, k]
            if pending.merged_by[q] != m:
                pending.merged_by[q] = m
                merged[count] = q
                count += 1
    left_open = 0
    for k in range(count):
        q = merged[k]
        d = touch_message[q]
        if is_superseded_at(m, d, begin, state.clocks, state.superseders, budget):
            continue
        t = np.int32(latest[touch_item[q]] - state.base)
        while state.depth[touch_message[t]] > state.depth[d] and not reaches(m, touch_message[t], begin, state.clocks):
            t = before[t]
            budget[0] -= 1
        if state.depth[touch_message[t]] <= state.depth[d]:
            merged[left_open] = q
            left_open += 1
        if budget[0] < 0:
            break
    merge_sort(merged[:left_open], pending.spare)
    return left_open


@inner
def store_pending_list(m, first, count, is_only, inherited, state, pending):
    """Make the list of a message: what is open for it and it does not close, and what it deletes itself.

    Args:
        m: The message.
        first: Its first touch.
        count: Behind its last.
        is_only: Whether `inherited` is the list of its only previous, where that lies.
        here_open: int32[...], what is open for it.
        state: A `breaches.SetState`.
        pending: An `PendingLists`, to be filled.
    """
    latest, touch_message, touch_item, deletes, _ = state.linked
    here = m - state.begin
    pool, spare = pending.pool, pending.spare
    room = pool.shape[1]
    kept = 0
    for q in inherited:
        d = touch_message[q]
        is_deeper = state.depth[m] > state.depth[d] and touch_message[latest[touch_item[q]] - state.base] == m
        if state.superseders.listed_by[d - state.begin] != m and not is_deeper:
            spare[kept] = q
            kept += 1
    total = kept
    for q in range(first, count):
        if deletes[q]:
            spare[total] = q
            total += 1
    # What has to be written, and from where.
    done = 0
    if is_only and kept == len(inherited) and (total == kept or pending.at[here] + kept == pending.pool_state[USED]):
        done = kept
    else:
        pending.at[here] = pending.pool_state[USED]
    pending.count[here] = total
    if pending.pool_state[USED] + total - done > room:
        _compact_pool(m, here, state.budget, pending)
        pending.at[here] = pending.pool_state[USED]
        done = 0
    used = pending.pool_state[USED]
    if state.budget[0] < 0 or used + total - done > room:
        state.budget[0] = -1
        return
    pool[pending.pool_state[ACTIVE], used : used + total - done] = spare[done:total]
    pending.pool_state[USED] = used + total - done


@inner
def _compact_pool(m, here, budget, pending):
    """Move the lists that are still needed to the other pool; they may fill half of it."""
    pool = pending.pool
    side = pending.pool_state[ACTIVE]
    used = 0
    for x in range(here):
        if pending.last_child[x] > m:
            at, count = pending.at[x], pending.count[x]
            if used + count > pool.shape[1] // 2:
                budget[0] = -1
                break
            pool[1 - side, used : used + count] = pool[side, at : at + count]
            pending.at[x] = used
            used += count
    budget[0] -= here
    pending.pool_state[ACTIVE] = 1 - side
    pending.pool_state[USED] = used
