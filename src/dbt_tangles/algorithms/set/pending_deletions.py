"""The deletions still pending at each message of a set, which a message that adds an item should supersede.

A deletion is pending at a message if the message makes it or descends from it, no ancestor supersedes it, and no
deeper ancestor touches its item. A message with one previous message inherits that message's list. If the list is the
last in the pool and the message only appends deletions, the list grows in place: its beginning remains the list of the
previous message. At a merge, each deletion pending at any previous message is compared with its superseders and the
later touches on its item. When the pool is full, lists without further children are dropped.

A deletion is the number of its touch (`item_touches`); lists ascend.

Source: protospec.md, "Msg content" (a message that adds should supersede the deepest known deletions).
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.set.chain_clocks import reaches
from dbt_tangles.algorithms.set.superseding import is_superseded_at
from dbt_tangles.algorithms.structures.sorting import merge_sort
from dbt_tangles.kernel_runtime.compiled import compiled, inner

# The fields of `PendingLists.pool_state`: the length of the used part, and the active pool of the two.
USED, ACTIVE = range(2)


class PendingLists(NamedTuple):
    """The lists of one set. Messages count from the first of the set."""

    pool: np.ndarray  # int32[2, room]; all lists are in the active pool, and move to the other one when it is full
    pool_state: np.ndarray  # int64[2], see `USED`
    at: np.ndarray  # int64[messages], the start of each list
    count: np.ndarray  # int32[messages], its length
    last_child: np.ndarray  # int32[messages], the last message that lists the message as previous, or -1
    merged: np.ndarray  # int32[touches], the list of a message with several or no previous messages
    merged_by: np.ndarray  # int32[touches], the last message that merged the touch
    spare: np.ndarray  # int32[touches], scratch


@compiled
def allocate_pending_lists(messages, touches, room):
    """Allocate `PendingLists` for sets of at most so many messages and touches, with `room` for all lists together."""
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
    """Drop the lists of the previous set, and find the last child of each message."""
    pending.pool_state[USED] = 0
    pending.last_child[: end - state.begin] = -1
    for m in range(state.begin, end):
        for e in range(state.start[m], state.start[m + 1]):
            pending.last_child[state.previous[e] - state.begin] = m


@inner
def merge_pending_lists(m, state, pending):
    """List the deletions pending at a message with several or no previous messages, before its own touches."""
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
    """Store the list of a message: the inherited deletions that it leaves pending, and its own deletions."""
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
    # The part of `spare` from `done` on has to be written.
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
