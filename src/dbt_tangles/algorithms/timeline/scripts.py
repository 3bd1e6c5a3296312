"""The shortest edit script between two orders, by a weighted longest increasing subsequence.

The events of the subsequence stay, all others move (M. L. Fredman, On computing the length of longest increasing
subsequences, 1975; here with Fenwick trees of maxima).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.fenwick import add, gather_sums, raise_maximum, sum_before
from dbt_tangles.algorithms.structures.search import first_not_below
from dbt_tangles.algorithms.timeline.blocks import event_at
from dbt_tangles.kernel_runtime.compiled import compiled, inner


class Script(NamedTuple):
    """Arrays for one script. Changed events are numbered in the old order, items (changed and new) in the new order."""

    before_old: np.ndarray  # int32[changed]; number of frame events before it.
    before_new: np.ndarray  # int32[items].
    old_of: np.ndarray  # int32[items]; its number in the old order, -1 for new events.
    item: np.ndarray  # int32[items]; the event.
    run: np.ndarray  # int32[changed]; which run it is in, in the old order.
    low: np.ndarray  # int32[runs], in the new order like all arrays below; frame events before its gap.
    high: np.ndarray  # int32[runs]; frame events before the end of its gap.
    worth: np.ndarray  # int32[runs]; the most events that stay up to it, if it stays.
    net: np.ndarray  # int32[runs]; worth minus `high`.
    previous: np.ndarray  # int32[runs]; the run that stays before it then, or -1.
    begin: np.ndarray  # int32[runs]; the number of its first event in the old order.
    length: np.ndarray  # int32[runs].
    best: np.ndarray  # int32[runs + 1]; Fenwick's maxima of worth over the old order.
    nearest: np.ndarray  # int32[runs + 1]; the same of `net`.
    kept: np.ndarray  # bool[changed].
    dropped: np.ndarray  # int32[dropped]; the frame events that move, counted in the frame.
    dropped_event: np.ndarray  # int32[dropped].
    mover_kept: np.ndarray  # int32[movers]; in the old order, staying events before it.
    mover_of: np.ndarray  # int32[changed]; the mover number of a changed event.
    mover_of_dropped: np.ndarray  # int32[dropped].
    unplaced: np.ndarray  # int32[movers + 1]; Fenwick's counts.
    step_event: np.ndarray  # int32[steps].
    step_kept: np.ndarray  # int32[steps]; in the new order, staying events before it.
    step_mover: np.ndarray  # int32[steps]; -1 for new events.


class Output(NamedTuple):
    """Space for commands, which grows; see `Commands` in `edits`."""

    command: np.ndarray  # int32[space, 3]; event, position taken from or -1, position put at.
    batch: np.ndarray  # int64[space].


@compiled
def new_output():
    """Allocate space for the first commands."""
    return Output(np.empty((1024, 3), np.int32), np.empty(1024, np.int64))


@compiled
def grow_output(out, count, wanted):
    """Return space for `wanted` commands with the first `count` commands of `out`."""
    if wanted <= len(out.command):
        return out
    command = np.empty((max(wanted, len(out.command) * 3 // 2), 3), np.int32)
    batch = np.empty(len(command), np.int64)
    command[:count] = out.command[:count]
    batch[:count] = out.batch[:count]
    return Output(command, batch)


@compiled
def split_columns(out, count):
    """Return the columns of the first `count` commands: event, batch, taken, put."""
    event, taken, put = out.command[:count, 0], out.command[:count, 1], out.command[:count, 2]
    return event.copy(), out.batch[:count].copy(), taken.copy(), put.copy()


@compiled
def new_script(size):
    """Allocate arrays for scripts of at most `size` commands."""
    return Script(
        before_old=np.empty(size, np.int32),
        before_new=np.empty(size, np.int32),
        old_of=np.empty(size, np.int32),
        item=np.empty(size, np.int32),
        run=np.empty(size, np.int32),
        low=np.empty(size, np.int32),
        high=np.empty(size, np.int32),
        worth=np.empty(size, np.int32),
        net=np.empty(size, np.int32),
        previous=np.empty(size, np.int32),
        begin=np.empty(size, np.int32),
        length=np.empty(size, np.int32),
        best=np.empty(size, np.int32),
        nearest=np.empty(size, np.int32),
        kept=np.empty(size, np.bool_),
        dropped=np.empty(size, np.int32),
        dropped_event=np.empty(size, np.int32),
        mover_kept=np.empty(size, np.int32),
        mover_of=np.empty(size, np.int32),
        mover_of_dropped=np.empty(size, np.int32),
        unplaced=np.empty(size, np.int32),
        step_event=np.empty(size, np.int32),
        step_kept=np.empty(size, np.int32),
        step_mover=np.empty(size, np.int32),
    )


@inner
def choose_kept(s, changed, items, frame):
    """Choose the most events that can stay, of changed events and frame together; return how many frame events move."""
    runs = _find_runs(s, items)
    _number_runs(s, changed, runs)
    chosen = _choose_last_run(s, runs, frame)
    return _mark_kept(s, chosen, frame)


@inner
def _find_runs(s, items):
    """Split changed events into runs, in the new order; return the number of runs."""
    before_old, before_new, length = s.before_old, s.before_new, s.length
    runs = 0
    last = -2
    last_new = -1
    for j in range(items):
        i = s.old_of[j]
        if i < 0:
            continue
        s.kept[i] = False
        s.run[i] = 0
        if i == last + 1 and before_old[i] == before_old[last] and before_new[j] == last_new:
            length[runs - 1] += 1
        else:
            s.low[runs] = min(before_old[i], before_new[j])
            s.high[runs] = max(before_old[i], before_new[j])
            s.begin[runs] = i
            length[runs] = 1
            runs += 1
        last = i
        last_new = before_new[j]
    return runs


@inner
def _number_runs(s, changed, runs):
    """Number the runs in the old order, and empty the trees of maxima."""
    for r in range(runs):
        s.run[s.begin[r]] = 1
        s.best[r + 1] = -1
        s.nearest[r + 1] = -1
    total = 0
    for i in range(changed):
        total += s.run[i]
        s.run[i] = total - 1


@inner
def _choose_last_run(s, runs, frame):
    """Find the run before each run for which most events stay; return the last run that stays, or -1."""
    worth, net, low, high, best, nearest = s.worth, s.net, s.low, s.high, s.best, s.nearest
    top = np.int64(frame)
    chosen = -1
    for r in range(runs):
        most = np.int64(low[r])
        s.previous[r] = -1
        place = np.int64(s.run[s.begin[r]])
        at = place
        while at > 0:
            o = best[at]
            if o >= 0 and worth[o] > most:
                most = np.int64(worth[o])
                s.previous[r] = o
            o = nearest[at]
            if o >= 0 and net[o] + low[r] > most:
                most = np.int64(net[o] + low[r])
                s.previous[r] = o
            at &= at - 1
        most += s.length[r]
        worth[r] = most
        net[r] = most - high[r]
        if most + frame - high[r] > top:
            top = most + frame - high[r]
            chosen = r
        raise_maximum(best, runs, place, r, worth)
        raise_maximum(nearest, runs, place, r, net)
    return chosen


@inner
def _mark_kept(s, chosen, frame):
    """Mark the events of the chosen runs as kept; list the frame events that move, and return their number."""
    dropped = s.dropped
    # Backwards, so the numbers of the moving events descend.
    count = 0
    start = np.int64(frame)
    while chosen >= 0:
        for i in range(s.begin[chosen], s.begin[chosen] + s.length[chosen]):
            s.kept[i] = True
        for f in range(min(s.high[chosen], start) - 1, s.low[chosen] - 1, -1):
            dropped[count] = f
            count += 1
        start = min(start, np.int64(s.low[chosen]))
        chosen = s.previous[chosen]
    for k in range(count // 2):
        dropped[k], dropped[count - 1 - k] = dropped[count - 1 - k], dropped[k]
    return count


@inner
def name_dropped(order, s, items, dropped):
    """Look up the frame events that move, in the new order."""
    before = 0
    for d in range(dropped):
        while before < items and s.before_new[before] <= s.dropped[d]:
            before += 1
        s.dropped_event[d] = event_at(order, np.int64(s.dropped[d]) + before)


@inner
def count_commands(s, changed, items, dropped):
    """Count the commands that `write_commands` will write."""
    count = items + dropped
    for i in range(changed):
        count -= s.kept[i]
    return count


@inner
def write_insertion(out, count, event, position, number):
    """Write the only command of batch `number`: the insertion of an event."""
    out.command[count, 0] = event
    out.command[count, 1] = -1
    out.command[count, 2] = position
    out.batch[count] = number


@inner
def write_commands(s, changed, items, dropped, number, out, count):
    """Write the commands in the new order as batch `number`; return the number of commands so far."""
    movers = _number_movers(s, changed, dropped)
    steps = _list_steps(s, items, dropped)
    for k in range(1, movers + 1):
        s.unplaced[k] = 1
    gather_sums(s.unplaced, movers)
    for step in range(steps):
        mover = np.int64(s.step_mover[step])
        before = s.step_kept[step]
        taken = np.int64(-1)
        if mover >= 0:
            add(s.unplaced, movers, mover, -1)
            stays = s.mover_kept[mover]
            low = first_not_below(s.step_kept, step, stays + 1)
            taken = stays + low + sum_before(s.unplaced, mover)
        low = first_not_below(s.mover_kept, movers, before)
        out.command[count, 0] = s.step_event[step]
        out.command[count, 1] = taken
        out.command[count, 2] = before + step + sum_before(s.unplaced, low)
        out.batch[count] = number
        count += 1
    return count


@inner
def _number_movers(s, changed, dropped):
    """Number the events that move, in the old order; return how many there are."""
    before_old, kept, gone = s.before_old, s.kept, s.dropped
    movers = 0
    stay = 0
    d = 0
    for i in range(changed + 1):
        while d < dropped and (i == changed or gone[d] < before_old[i]):
            s.mover_kept[movers] = gone[d] - d + stay
            s.mover_of_dropped[d] = movers
            movers += 1
            d += 1
        if i < changed:
            if kept[i]:
                stay += 1
            else:
                s.mover_kept[movers] = before_old[i] - d + stay
                s.mover_of[i] = movers
                movers += 1
    return movers


@inner
def _list_steps(s, items, dropped):
    """List the events to place, in the new order; return how many there are."""
    before_new, old_of, gone = s.before_new, s.old_of, s.dropped
    steps = 0
    stay = 0
    d = 0
    for j in range(items + 1):
        while d < dropped and (j == items or gone[d] < before_new[j]):
            s.step_event[steps] = s.dropped_event[d]
            s.step_kept[steps] = gone[d] - d + stay
            s.step_mover[steps] = s.mover_of_dropped[d]
            steps += 1
            d += 1
        if j < items:
            i = old_of[j]
            if i >= 0 and s.kept[i]:
                stay += 1
            else:
                s.step_event[steps] = s.item[j]
                s.step_kept[steps] = before_new[j] - d + stay
                s.step_mover[steps] = s.mover_of[i] if i >= 0 else -1
                steps += 1
    return steps
