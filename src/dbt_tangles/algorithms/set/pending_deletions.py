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

from dbt_tangles.algorithms.set.chain_clocks import knows
from dbt_tangles.algorithms.set.superseding import is_superseded_for
from dbt_tangles.algorithms.structures.sorting import merge_sort
from dbt_tangles.kernel_runtime.compiled import compiled, inner

# The fields of `Opened.mark`: how much of the pool is used, and which of the two it is.
USED, SIDE = range(2)


class Opened(NamedTuple):
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
    mark: np.ndarray
    at: np.ndarray
    count: np.ndarray
    last_follower: np.ndarray
    merged: np.ndarray
    merged_by: np.ndarray
    spare: np.ndarray


@compiled
def room_for_opened(messages, touches, room):
    """Make room for the lists of any set of so many messages and touches; `room` is for all its lists together."""
    return Opened(
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
def begin_lists(scene, end, opened):
    """Forget the lists of another set, and note how long each of this set's is needed."""
    opened.mark[USED] = 0
    opened.last_follower[: end - scene.begin] = -1
    for m in range(scene.begin, end):
        for e in range(scene.start[m], scene.start[m + 1]):
            opened.last_follower[scene.previous[e] - scene.begin] = m


@inner
def merge_lists(m, scene, opened):
    """List what is open for a message that has not just one previous.

    Args:
        m: The message.
        scene: A `breaches.Scene`.
        opened: An `Opened`; `merged` is filled.

    Returns:
        How many deletions are open.
    """
    begin, budget = scene.begin, scene.budget
    latest, toucher, code_of, _, before = scene.linked
    merged = opened.merged
    side = opened.mark[SIDE]
    count = 0
    for e in range(scene.start[m], scene.start[m + 1]):
        p = scene.previous[e] - begin
        budget[0] -= opened.count[p]
        if budget[0] < 0:
            break
        for k in range(opened.at[p], opened.at[p] + opened.count[p]):
            q = opened.pool[side, k]
            if opened.merged_by[q] != m:
                opened.merged_by[q] = m
                merged[count] = q
                count += 1
    left_open = 0
    for k in range(count):
        q = merged[k]
        d = toucher[q]
        if is_superseded_for(m, d, begin, scene.clocks, scene.superseding, budget):
            continue
        t = np.int32(latest[code_of[q]] - scene.base)
        while scene.depth[toucher[t]] > scene.depth[d] and not knows(m, toucher[t], begin, scene.clocks):
            t = before[t]
            budget[0] -= 1
        if scene.depth[toucher[t]] <= scene.depth[d]:
            merged[left_open] = q
            left_open += 1
        if budget[0] < 0:
            break
    merge_sort(merged[:left_open], opened.spare)
    return left_open


@inner
def pass_on(m, first, count, is_only, here_open, scene, opened):
    """Make the list of a message: what is open for it and it does not close, and what it deletes itself.

    Args:
        m: The message.
        first: Its first touch.
        count: Behind its last.
        is_only: Whether `here_open` is the list of its only previous, where that lies.
        here_open: int32[...], what is open for it.
        scene: A `breaches.Scene`.
        opened: An `Opened`, to be filled.
    """
    latest, toucher, code_of, deletes, _ = scene.linked
    here = m - scene.begin
    pool, spare = opened.pool, opened.spare
    room = pool.shape[1]
    kept = 0
    for q in here_open:
        d = toucher[q]
        is_deeper = scene.depth[m] > scene.depth[d] and toucher[latest[code_of[q]] - scene.base] == m
        if scene.superseding.listed_by[d - scene.begin] != m and not is_deeper:
            spare[kept] = q
            kept += 1
    total = kept
    for q in range(first, count):
        if deletes[q]:
            spare[total] = q
            total += 1
    # What has to be written, and from where.
    done = 0
    if is_only and kept == len(here_open) and (total == kept or opened.at[here] + kept == opened.mark[USED]):
        done = kept
    else:
        opened.at[here] = opened.mark[USED]
    opened.count[here] = total
    if opened.mark[USED] + total - done > room:
        _make_way(m, here, scene.budget, opened)
        opened.at[here] = opened.mark[USED]
        done = 0
    used = opened.mark[USED]
    if scene.budget[0] < 0 or used + total - done > room:
        scene.budget[0] = -1
        return
    pool[opened.mark[SIDE], used : used + total - done] = spare[done:total]
    opened.mark[USED] = used + total - done


@inner
def _make_way(m, here, budget, opened):
    """Move the lists that are still needed to the other pool; they may fill half of it."""
    pool = opened.pool
    side = opened.mark[SIDE]
    used = 0
    for x in range(here):
        if opened.last_follower[x] > m:
            at, count = opened.at[x], opened.count[x]
            if used + count > pool.shape[1] // 2:
                budget[0] = -1
                break
            pool[1 - side, used : used + count] = pool[side, at : at + count]
            opened.at[x] = used
            used += count
    budget[0] -= here
    opened.mark[SIDE] = 1 - side
    opened.mark[USED] = used
