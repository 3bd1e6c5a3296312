"""Edit streams: the shortest scripts that keep the order of a timeline up to date as its events arrive.

Source: ScuttleSort 2022-05-09, sections 1.2 and 2.

An event may arrive before its causes, so an arrival can raise the ranks of earlier events. The script of a batch of
arrivals turns the order before the batch into the order after it: one `ins` for each new event, one `mov` for each
event that cannot keep its place. `ranks` holds the order, `scripts` writes the commands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.space import with_space
from dbt_tangles.algorithms.timeline.ranks import arrive, clear, new_change, new_order
from dbt_tangles.algorithms.timeline.replica import Command
from dbt_tangles.algorithms.timeline.scripts import new_script, plan, write
from dbt_tangles.kernel_runtime.compiled import compiled
from dbt_tangles.kernel_runtime.rows_on_disk import NO_LIMIT

#: The most steps for the scripts of a timeline: links that are followed and keys that are rewritten.
WORK_LIMIT = 2**34
_COLUMNS = 5


class Commands(NamedTuple):
    """Scripts: one entry for each command, in order of timeline, batch and step.

    A `mov` removes its event from the order and inserts it at another position; an `ins` only inserts.
    """

    event: np.ndarray  # int32[commands]
    taken: np.ndarray  # int32[commands]; the position before the removal, -1 for an `ins`
    put: np.ndarray  # int32[commands]; the position of the insertion, counted without the event
    batch: np.ndarray  # int32[commands]; the number of the batch
    step: np.ndarray  # int32[commands]; the number of the command in its batch, from 1


class Timelines(NamedTuple):
    """The events of many timelines; those of a timeline are neighbours and ascend by name."""

    start: np.ndarray  # int64[timelines + 1], into the events
    cause_start: np.ndarray  # int64[events + 1], into the causes
    cause: np.ndarray  # int32[links]; the distinct causes of each event in its timeline, without the event
    rank: np.ndarray  # int32[events], the longest path over all causes


def edit_stream(
    timelines: Timelines,
    arrived: np.ndarray,
    batch: np.ndarray,
    command_limit: int = NO_LIMIT,
    is_left_out: np.ndarray | None = None,
) -> Commands:
    """Write the shortest scripts that keep the orders of many timelines up to date.

    Memory is proportional to the events and the returned commands, plus at most `command_limit` commands of one more
    timeline.

    Args:
        timelines: The events that arrive.
        arrived: int32[events]; the events of each timeline in order of arrival.
        batch: int[events], below 2**31; the batch of each arrival, ascending within a timeline.
        command_limit: A timeline that would take more commands, or more than `WORK_LIMIT` steps, gets no commands.
        is_left_out: bool[timelines]; timelines that get no commands. By default there are none.

    Returns:
        The commands. A timeline without any has no events, or is left out, or passes a limit.

    Raises:
        ValueError: The rank of an event is not above its causes'.
    """
    if is_left_out is None:
        is_left_out = np.zeros(len(timelines.start) - 1, np.bool_)
    arrived, batch = np.ascontiguousarray(arrived, np.int32), np.ascontiguousarray(batch, np.int64)
    return Commands(*_edit_stream(timelines, arrived, batch, is_left_out, np.int64(command_limit), WORK_LIMIT))


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


def script_between(earlier: list[str], order: list[str], first: int = 0) -> list[Command]:
    """Write the shortest script between two lists of events, which begin at a position of their timelines.

    Raises:
        ValueError: An event is in the earlier list only.
    """
    before = {event: position for position, event in enumerate(earlier)}
    old = np.array([before.get(event, -1) for event in order], np.int32)
    commands = script(np.array([0, len(order)]), old, np.arange(len(order), dtype=np.int32))
    return [
        ("ins", order[event], None, first + put) if taken < 0 else ("mov", order[event], first + taken, first + put)
        for event, taken, put in zip(*(part.tolist() for part in commands[:3]), strict=True)
    ]


@compiled
def _columns(out, count):
    """Return the columns of so many commands."""
    columns = np.empty((_COLUMNS, count), np.int32)
    for k in range(count):
        for column in range(_COLUMNS):
            columns[column, k] = out[_COLUMNS * k + column]
    return columns


@compiled
def _edit_stream(timelines, arrived, batch, is_left_out, command_limit, work_limit):
    start, cause_start, cause, rank = timelines
    events = len(rank)
    largest = np.diff(start).max() if len(start) > 1 else 0
    order, change = new_order(rank, cause_start, cause, largest), new_change(events, largest)
    scratch = new_script(events, largest)
    out = np.empty(0, np.int32)
    count = 0
    for t in range(len(start) - 1):
        at, end, size = start[t], start[t + 1], 0
        first_command, work = count, np.int64(0)
        clear(order)
        while at < end and not is_left_out[t]:
            stop = at + 1
            while stop < end and batch[stop] == batch[at]:
                stop += 1
            changed, visited = arrive(order, change, arrived[at:stop])
            work += visited
            size += stop - at
            # The last keys may still be in `order.recent`: then no event changed, and `plan` reads no key.
            movers, commands = plan(scratch, change, order.key, size, changed, changed + stop - at)
            if count + commands - first_command > command_limit or work > work_limit:
                count = first_command
                break
            out = with_space(out, _COLUMNS * count, _COLUMNS * commands)
            write(scratch, movers, commands, out[_COLUMNS * count :], batch[at])
            count += commands
            at = stop
    return _columns(out, count)


@compiled
def _scripts(event_start, old_position, new_position):
    largest = np.diff(event_start).max() if len(event_start) > 1 else 0
    change, scratch = new_change(0, largest), new_script(len(old_position), largest)
    out = np.empty(0, np.int32)
    count = 0
    for t in range(len(event_start) - 1):
        changed, entered = _list_orders(event_start[t], event_start[t + 1], old_position, new_position, change)
        movers, commands = plan(scratch, change, change.new_key, entered, changed, entered)
        out = with_space(out, _COLUMNS * count, _COLUMNS * commands)
        write(scratch, movers, commands, out[_COLUMNS * count :], 0)
        count += commands
    return _columns(out, count)


@compiled
def _list_orders(first, end, old_position, new_position, change):
    """List all events of two orders as changed; return the lengths of the orders."""
    changed = entered = 0
    for event in range(first, end):
        if old_position[event] >= 0 > new_position[event]:
            raise ValueError("an event is in the old order only; the new order of a timeline must have all old events")
        changed += old_position[event] >= 0
        entered += new_position[event] >= 0
    for keys, positions, length in (
        (change.old_key, old_position, changed),
        (change.new_key, new_position, entered),
    ):
        keys[:length] = -1
        for event in range(first, end):
            position = positions[event]
            if position >= 0:
                if position >= length or keys[position] >= 0:
                    raise ValueError("positions of a timeline repeat or leave gaps; number them from 0")
                keys[position] = event
    change.before_old[:changed] = 0
    change.before_new[:entered] = 0
    return changed, entered
