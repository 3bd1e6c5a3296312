"""The shortest script between two orders, by a heaviest increasing subsequence.

The events of the subsequence stay, all others move (M. L. Fredman, On computing the length of longest increasing
subsequences, 1975; here with Fenwick trees of maxima). Of a long order only the changed events are visited: see
docs/explanation/convergence.md, section 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.fenwick import add, gather_sums, raise_maximum, sum_before
from dbt_tangles.algorithms.structures.sorting import insertion_sort
from dbt_tangles.algorithms.timeline.ranks import EVENT
from dbt_tangles.kernel_runtime.compiled import compiled, inner


class Script(NamedTuple):
    """Scratch for one script.

    A run is a series of changed events that are neighbours in both orders. Runs are numbered in the new order.
    """

    number: np.ndarray  # int32[events]; of a changed event, its number in the old order, then as a mover; -1 before
    place: np.ndarray  # int32[changed]; the number of the event's run in the old order
    begin: np.ndarray  # int32[runs]; the number of its first event in the old order
    length: np.ndarray  # int32[runs]
    low: np.ndarray  # int32[runs]; the number of unchanged events before it in both orders
    high: np.ndarray  # int32[runs]; the number of unchanged events before it in one of the orders
    worth: np.ndarray  # int32[runs]; the most events that stay up to it, if it stays
    net: np.ndarray  # int32[runs]; worth minus `high`
    previous: np.ndarray  # int32[runs]; the run that stays before it then, or -1
    best_worth: np.ndarray  # int32[runs + 1]; a Fenwick tree over the old order: the run with the most worth, or -1
    best_net: np.ndarray  # int32[runs + 1]; the same by `net`
    is_kept: np.ndarray  # bool[changed]
    dropped: np.ndarray  # int64[dropped]; the unchanged events that move, the last first, counted among the unchanged
    mover: np.ndarray  # int64[movers]; the position and the event, in the old order
    step: np.ndarray  # int64[steps]; the position and the event, in the new order
    stays_old: np.ndarray  # int64[movers]; the number of staying events before each
    stays_new: np.ndarray  # int64[steps]; the number of staying events before each
    unplaced: np.ndarray  # int32[movers + 1]; Fenwick's counts


@compiled
def new_script(events, largest):
    """Allocate scratch for so many events in all, and for orders of at most `largest` of them."""
    size = largest + 1
    return Script(
        number=np.full(events, np.int32(-1)),
        place=np.empty(size, np.int32),
        begin=np.empty(size, np.int32),
        length=np.empty(size, np.int32),
        low=np.empty(size, np.int32),
        high=np.empty(size, np.int32),
        worth=np.empty(size, np.int32),
        net=np.empty(size, np.int32),
        previous=np.empty(size, np.int32),
        best_worth=np.empty(size, np.int32),
        best_net=np.empty(size, np.int32),
        is_kept=np.empty(size, np.bool_),
        dropped=np.empty(size, np.int64),
        mover=np.empty(size, np.int64),
        step=np.empty(size, np.int64),
        stays_old=np.empty(size, np.int64),
        stays_new=np.empty(size, np.int64),
        unplaced=np.empty(size, np.int32),
    )


@inner
def plan(s, change, key, size, changed, entered):
    """Choose the events that stay, and list those that move; return the number of movers and of commands.

    Args:
        s: The scratch.
        change: The changed events of the old order and of the new one (`ranks.Change`).
        key: The new order.
        size: Its length.
        changed: The number of changed events of the old order.
        entered: The number of changed events of the new order.
    """
    for i in range(changed):
        s.number[change.old_key[i] & EVENT] = i
        s.is_kept[i] = False
    runs = _find_runs(s, change, entered)
    _number_runs(s, changed, runs)
    dropped = _mark_kept(s, _last_run(s, runs, size - entered), size - entered)
    movers = steps = 0
    for i in range(changed):
        if not s.is_kept[i]:
            s.mover[movers] = ((np.int64(change.before_old[i]) + i) << 32) | (change.old_key[i] & EVENT)
            movers += 1
    for j in range(entered):
        i = s.number[change.new_key[j] & EVENT]
        if i < 0 or not s.is_kept[i]:
            s.step[steps] = ((np.int64(change.before_new[j]) + j) << 32) | (change.new_key[j] & EVENT)
            steps += 1
    i, j = changed, entered
    for d in range(dropped):
        while i > 0 and change.before_old[i - 1] > s.dropped[d]:
            i -= 1
        while j > 0 and change.before_new[j - 1] > s.dropped[d]:
            j -= 1
        event = key[s.dropped[d] + j] & EVENT
        s.mover[movers] = ((s.dropped[d] + i) << 32) | event
        s.step[steps] = ((s.dropped[d] + j) << 32) | event
        movers += 1
        steps += 1
    insertion_sort(s.mover[:movers])
    insertion_sort(s.step[:steps])
    return movers, steps


@inner
def _find_runs(s, change, entered):
    """Split the changed events of both orders into runs; return the number of runs."""
    before_old, before_new = change.before_old, change.before_new
    runs = 0
    last = last_new = -2
    for j in range(entered):
        i = s.number[change.new_key[j] & EVENT]
        if i < 0:
            continue
        s.place[i] = 0
        if i == last + 1 and before_old[i] == before_old[last] and before_new[j] == last_new:
            s.length[runs - 1] += 1
        else:
            s.begin[runs] = i
            s.length[runs] = 1
            s.low[runs] = min(before_old[i], before_new[j])
            s.high[runs] = max(before_old[i], before_new[j])
            runs += 1
        last = i
        last_new = before_new[j]
    return runs


@inner
def _number_runs(s, changed, runs):
    """Number the runs in the old order, and empty the trees of maxima."""
    for r in range(runs):
        s.place[s.begin[r]] = 1
        s.best_worth[r + 1] = -1
        s.best_net[r + 1] = -1
    total = 0
    for i in range(changed):
        total += s.place[i]
        s.place[i] = total - 1


@inner
def _last_run(s, runs, unchanged):
    """Find the run before each run with which most events stay; return the last run that stays, or -1."""
    worth, net, low, high = s.worth, s.net, s.low, s.high
    top = np.int64(unchanged)
    chosen = -1
    for r in range(runs):
        most = np.int64(low[r])
        s.previous[r] = -1
        place = np.int64(s.place[s.begin[r]])
        at = place
        # Between two runs, max(0, low of the later - high of the earlier) unchanged events stay: the earlier has its
        # worth for the 0, and its net plus that low for the rest. Each is a prefix maximum.
        while at > 0:
            before = s.best_worth[at]
            if before >= 0 and worth[before] > most:
                most = np.int64(worth[before])
                s.previous[r] = before
            before = s.best_net[at]
            if before >= 0 and net[before] + low[r] > most:
                most = np.int64(net[before] + low[r])
                s.previous[r] = before
            at &= at - 1
        most += s.length[r]
        worth[r] = most
        net[r] = most - high[r]
        if net[r] + unchanged > top:
            top = np.int64(net[r] + unchanged)
            chosen = r
        raise_maximum(s.best_worth, runs, place, r, worth)
        raise_maximum(s.best_net, runs, place, r, net)
    return chosen


@inner
def _mark_kept(s, chosen, unchanged):
    """Mark the events of the chosen runs; list the unchanged events that move, and return their number."""
    count = 0
    start = np.int64(unchanged)
    while chosen >= 0:
        for i in range(s.begin[chosen], s.begin[chosen] + s.length[chosen]):
            s.is_kept[i] = True
        for f in range(min(s.high[chosen], start) - 1, s.low[chosen] - 1, -1):
            s.dropped[count] = f
            count += 1
        start = min(start, np.int64(s.low[chosen]))
        chosen = s.previous[chosen]
    return count


@inner
def write(s, movers, steps, out, batch):
    """Write the planned commands in the new order, each as five numbers (`edits.Commands`).

    Each event goes directly behind the event before it in the new order, if that has its place, or else behind the
    last staying event before it.
    """
    for m in range(movers):
        s.stays_old[m] = (s.mover[m] >> 32) - m
        s.number[s.mover[m] & EVENT] = m
        s.unplaced[m + 1] = 1
    gather_sums(s.unplaced, movers)
    for k in range(steps):
        event, position = s.step[k] & EVENT, s.step[k] >> 32
        s.stays_new[k] = position - k
        taken = np.int64(-1)
        m = np.int64(s.number[event])
        if m >= 0:
            add(s.unplaced, movers, m, -1)
            placed = np.searchsorted(s.stays_new[:k], s.stays_old[m] + 1)
            taken = s.stays_old[m] + placed + sum_before(s.unplaced, m)
            s.number[event] = -1
        behind = np.searchsorted(s.stays_old[:movers], position - k)
        out[5 * k] = event
        out[5 * k + 1] = taken
        out[5 * k + 2] = position + sum_before(s.unplaced, behind)
        out[5 * k + 3] = batch
        out[5 * k + 4] = k + 1
