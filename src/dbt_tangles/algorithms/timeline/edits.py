"""Edit streams: the shortest scripts that keep the order of a timeline up to date as its events arrive.

Source: ScuttleSort 2022-05-09, sections 1.2 and 2.

Events are ordered by rank, then name. The rank of an event is the length, in links, of the longest path over causes
that have arrived. An event may arrive before its causes, so an arrival can raise the ranks of earlier events. The
script of a batch of arrivals turns the order before the batch into the order after it: one `ins` for each new event,
one `mov` for each event that cannot keep its place.

`blocks` holds the order, `ranks` finds the new ranks, `stable_frame` makes the new order, and `scripts` writes the
commands. `small_batch_insert` inserts small batches one arrival at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.timeline.blocks import Order, clear, insert, new_order
from dbt_tangles.algorithms.timeline.ranks import Links, Work, find_ranks, link, new_links, new_work, rank_alone
from dbt_tangles.algorithms.timeline.scripts import (
    Script,
    choose_kept,
    count_commands,
    grow_output,
    name_dropped,
    new_output,
    new_script,
    split_columns,
    write_commands,
    write_insertion,
)
from dbt_tangles.algorithms.timeline.small_batch_insert import let_in_one_by_one
from dbt_tangles.algorithms.timeline.stable_frame import Lift, renew
from dbt_tangles.kernel_runtime.compiled import compiled, inner
from dbt_tangles.kernel_runtime.spill_buffer import NO_LIMIT

FEW = 32  # Batches of at most so many arrivals are inserted one by one; larger ones are cheaper to rank at once.


class Commands(NamedTuple):
    """Scripts: one entry for each command, in order of timeline, batch and step.

    A `mov` removes its event from the order and inserts it at another position; an `ins` only inserts.
    """

    event: np.ndarray  # int32[commands]
    batch: np.ndarray  # int64[commands]; the number of the batch
    taken: np.ndarray  # int32[commands]; the position before the removal, -1 for an `ins`
    put: np.ndarray  # int32[commands]; the position of the insertion, counted without the event


def edit_stream(
    event_start: np.ndarray,
    cause_start: np.ndarray,
    cause: np.ndarray,
    arrived: np.ndarray,
    batch: np.ndarray,
    published: np.ndarray,
    command_limit: int = NO_LIMIT,
) -> Commands:
    """Write the shortest scripts that keep the orders of many timelines up to date.

    Events of a timeline are neighbours and ascend by name. Memory is proportional to the events and the returned
    commands, plus at most `command_limit` commands of one more timeline.

    Args:
        event_start: int64[timelines + 1].
        cause_start: int64[events + 1].
        cause: int32[links]; the distinct causes of each event in its timeline that arrive at some time. The links have
            no cycle.
        arrived: int32[events]; the events of each timeline in order of arrival.
        batch: int64[events]; the batch of each arrival, ascending within a timeline.
        published: int64[timelines]; number of first arrivals that the order has already. A batch is published as a
            whole; its commands are left out.
        command_limit: A timeline that would take more commands gets an empty stream. Each event that is not published
            takes at least one command, so an empty stream means that all events are published or the limit is passed.

    Returns:
        The commands.

    Raises:
        ValueError: `published` is out of range or splits a batch, or the links have a cycle.
    """
    event_start = np.ascontiguousarray(event_start, np.int64)
    batch = np.ascontiguousarray(batch, np.int64)
    published = np.ascontiguousarray(published, np.int64)
    if np.any(published < 0) or np.any(published > np.diff(event_start)):
        raise ValueError("published exceeds the arrivals of a timeline; pass at most their number")
    some = (published > 0) & (published < np.diff(event_start))
    cut = event_start[:-1][some] + published[some]
    if np.any(batch[cut] == batch[cut - 1]):
        raise ValueError("published ends within a batch of a timeline; pass the end of a batch")
    return Commands(
        *_edit_stream(
            event_start,
            np.ascontiguousarray(cause_start, np.int64),
            np.ascontiguousarray(cause, np.int32),
            np.ascontiguousarray(arrived, np.int32),
            batch,
            published,
            np.int64(command_limit),
        )
    )


def script(event_start: np.ndarray, old_position: np.ndarray, new_position: np.ndarray) -> Commands:
    """Write the shortest script from one order of each timeline to another.

    Args:
        event_start: int64[timelines + 1].
        old_position: int32[events], counted from 0 in each timeline without gaps; -1 for absent events.
        new_position: int32[events]; likewise. Events of the old order are in the new order.

    Returns:
        The commands, all of batch 0.

    Raises:
        ValueError: An event is in the old order only, or the positions have gaps or repeat.
    """
    return Commands(
        *_scripts(
            np.ascontiguousarray(event_start, np.int64),
            np.ascontiguousarray(old_position, np.int32),
            np.ascontiguousarray(new_position, np.int32),
        )
    )


class _State(NamedTuple):
    """The order of one timeline while its events arrive, and the arrays that its changes need."""

    order: Order
    links: Links
    work: Work
    script: Script


@compiled
def _new_state(event_start, cause_start, cause):
    """Allocate the state for the largest timeline."""
    n = len(cause_start) - 1
    largest = np.int64(0)
    for t in range(len(event_start) - 1):
        largest = max(largest, event_start[t + 1] - event_start[t])
    largest += 1
    order = new_order(n, largest)
    return _State(order, new_links(n, cause_start, cause), new_work(n, largest), new_script(largest))


@inner
def _change(state, events, rank, bottom, show):
    """Insert a batch that may raise earlier events; return the numbers of changed events, items and dropped events."""
    order, work, s = state.order, state.work, state.script
    if show and 1 < len(events) <= FEW:
        changed, items = let_in_one_by_one(order, state.links, work, s, events)
    else:
        changed, top, lift = find_ranks(order, state.links, work, events, len(events) == 1, rank, bottom)
        items = renew(order, work, s, events, changed, Lift(work.base, bottom, top, lift), show)
    dropped = 0
    if show:
        dropped = choose_kept(s, changed, items, order.size[1] - items)
        name_dropped(order, s, items, dropped)
    return changed, items, dropped


@inner
def _end_of_batch(batch, at, shown, end):
    """Return the end of the arrivals that are inserted together from `at` on: one batch, or all published arrivals."""
    if at < shown:
        return shown
    stop = at + 1
    while stop < end and batch[stop] == batch[at]:
        stop += 1
    return stop


@compiled
def _edit_stream(event_start, cause_start, cause, arrived, batch, published, command_limit):
    state = _new_state(event_start, cause_start, cause)
    order, links, attempts, s = state.order, state.links, state.work.attempts, state.script
    out = new_output()
    count = 0
    for t in range(len(event_start) - 1):
        at, end = event_start[t], event_start[t + 1]
        if published[t] == end - at:
            continue  # All events are published.
        attempts[0] = 0
        clear(order)
        begun = count
        shown = at + published[t]
        while at < end:
            show = at >= shown
            stop = _end_of_batch(batch, at, shown, end)
            events = arrived[at:stop]
            for x in events:
                link(links, x)
            rank = np.int64(0)
            bottom = np.int64(0)
            if len(events) == 1:
                rank, bottom = rank_alone(order, links, events[0])
            if bottom > rank:  # Earlier events keep their ranks.
                put = insert(order, (rank << 32) | events[0])
                wanted = count + 1
            else:
                put = np.int64(-1)
                changed, items, dropped = _change(state, events, rank, bottom, show)
                wanted = count + count_commands(s, changed, items, dropped) if show else count
            if show:
                if wanted - begun > command_limit:
                    count = begun
                    break
                out = grow_output(out, count, wanted)
                if put >= 0:
                    write_insertion(out, count, events[0], put, batch[at])
                    count = wanted
                else:
                    count = write_commands(s, changed, items, dropped, batch[at], out, count)
            at = stop
    return split_columns(out, count)


@compiled
def _scripts(event_start, old_position, new_position):
    largest = np.int64(0)
    for t in range(len(event_start) - 1):
        largest = max(largest, event_start[t + 1] - event_start[t])
    s = new_script(largest + 1)
    out = new_output()
    count = 0
    seen = np.zeros(largest + 1, np.bool_)
    for t in range(len(event_start) - 1):
        changed = 0
        items = 0
        for event in range(event_start[t], event_start[t + 1]):
            changed += old_position[event] >= 0
            items += new_position[event] >= 0
        # All old events count as changed: the frame is empty.
        s.old_of[:items] = -2
        seen[:changed] = False
        for event in range(event_start[t], event_start[t + 1]):
            old, new = old_position[event], new_position[event]
            if new < 0:
                if old >= 0:
                    raise ValueError(
                        "an event is in the old order only; the new order of a timeline must have all old events"
                    )
                continue
            if old >= changed or new >= items or s.old_of[new] > -2 or (old >= 0 and seen[old]):
                raise ValueError("positions of a timeline repeat or leave gaps; number them from 0")
            s.item[new] = event
            s.old_of[new] = max(old, -1)
            s.before_new[new] = 0
            if old >= 0:
                seen[old] = True
                s.before_old[old] = 0
        choose_kept(s, changed, items, 0)
        out = grow_output(out, count, count + items)
        count = write_commands(s, changed, items, 0, 0, out, count)
    return split_columns(out, count)


@compiled
def number_steps(event_start, event, batch):
    """Number the commands of each timeline and batch from 1.

    Args:
        event_start: int64[timelines + 1].
        event: int32[commands], of `Commands`.
        batch: int64[commands], of the same.

    Returns:
        int32[commands].
    """
    step = np.empty(len(event), np.int32)
    end = np.int64(0)
    timeline = np.int64(0)
    for i in range(len(event)):
        is_first = event[i] >= end
        while event[i] >= end:
            timeline += 1
            end = event_start[timeline]
        step[i] = 1 if is_first or batch[i] != batch[i - 1] else step[i - 1] + 1
    return step
