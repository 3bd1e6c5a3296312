"""Prepares timelines for `edit_stream`, and groups its commands by batch."""

from typing import NamedTuple

import numpy as np

import timeline_oracle as oracle
from dbt_tangles.algorithms.timeline.edits import edit_stream
from dbt_tangles.kernel_runtime.spill_buffer import NO_LIMIT


class Log(NamedTuple):
    """The arguments of `edit_stream` for one or more timelines, without the batches."""

    event_start: np.ndarray
    cause_start: np.ndarray
    cause: np.ndarray
    arrived: np.ndarray


def log_of(timelines: list[list[oracle.Arrival]]) -> Log:
    """Number the events of timelines by name; drop causes that never arrive."""
    event_start, cause_start, cause, arrived = [0], [0], [], []
    for arrivals in timelines:
        known = dict(arrivals)
        number = {name: event_start[-1] + place for place, name in enumerate(sorted(known))}
        for name in sorted(known):
            cause += [number[other] for other in dict.fromkeys(known[name]) if other in number and other != name]
            cause_start.append(len(cause))
        arrived += [number[name] for name, _ in arrivals]
        event_start.append(event_start[-1] + len(known))
    return Log(np.array(event_start), np.array(cause_start), np.array(cause, np.int32), np.array(arrived, np.int32))


def stream(log: Log, batch, published=None, limit=NO_LIMIT):
    """Call the kernel; `batch` is a batch size, or the batch number of each arrival."""
    if isinstance(batch, int):
        ordinal = np.arange(len(log.arrived)) - np.repeat(log.event_start[:-1], np.diff(log.event_start))
        batch = ordinal // batch + 1
    published = np.zeros(len(log.event_start) - 1, np.int64) if published is None else np.array(published)
    return edit_stream(
        log.event_start, log.cause_start, log.cause, log.arrived, np.array(batch, np.int64), published, limit
    )


def scripts(commands, names: list[str]) -> dict[int, list[tuple]]:
    """Group the commands of one timeline by batch, as the oracle takes them."""
    found: dict[int, list[tuple]] = {}
    for event, batch, taken, put in zip(*(column.tolist() for column in commands), strict=True):
        command = ("ins", names[event], None, put) if taken < 0 else ("mov", names[event], taken, put)
        found.setdefault(batch, []).append(command)
    return found
