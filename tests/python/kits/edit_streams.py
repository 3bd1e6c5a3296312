"""Prepares timelines for `edit_stream`, and groups its commands by batch."""

from typing import NamedTuple

import numpy as np

import timeline_oracle as oracle
from dbt_tangles.algorithms.timeline.admission import Graph, ranks
from dbt_tangles.algorithms.timeline.edits import Commands, Timelines, edit_stream
from dbt_tangles.kernel_runtime.rows_on_disk import NO_LIMIT


class Log(NamedTuple):
    """One or more timelines, and their events in order of arrival."""

    timelines: Timelines
    arrived: np.ndarray


def make_log(start, cause_start, cause, arrived) -> Log:
    """Rank the events of timelines."""
    start, cause_start = np.array(start, np.int64), np.array(cause_start, np.int64)
    cause, arrived = np.array(cause, np.int32), np.array(arrived, np.int32)
    graph = Graph(start, np.ones(len(arrived), np.bool_), cause_start, cause)
    return Log(Timelines(start, cause_start, cause, ranks(graph)), arrived)


def log_of(timelines: list[list[oracle.Arrival]]) -> Log:
    """Number the events of timelines by name; drop causes that never arrive."""
    start, cause_start, cause, arrived = [0], [0], [], []
    for arrivals in timelines:
        known = dict(arrivals)
        number = {name: start[-1] + place for place, name in enumerate(sorted(known))}
        for name in sorted(known):
            cause += [number[other] for other in dict.fromkeys(known[name]) if other in number and other != name]
            cause_start.append(len(cause))
        arrived += [number[name] for name, _ in arrivals]
        start.append(start[-1] + len(known))
    return make_log(start, cause_start, cause, arrived)


def stream(log: Log, batch: int | list[int], limit: int = NO_LIMIT) -> Commands:
    """Call the kernel; `batch` is a batch size, or the batch number of each arrival."""
    if isinstance(batch, int):
        start = log.timelines.start
        batch = (np.arange(len(log.arrived)) - np.repeat(start[:-1], np.diff(start))) // batch + 1
    return edit_stream(log.timelines, log.arrived, np.array(batch), limit)


def scripts(commands, names: list[str]) -> dict[int, list[tuple]]:
    """Group the commands of one timeline by batch, as the oracle takes them."""
    found: dict[int, list[tuple]] = {}
    for event, taken, put, batch, step in zip(*(column.tolist() for column in commands), strict=True):
        command = ("ins", names[event], None, put) if taken < 0 else ("mov", names[event], taken, put)
        found.setdefault(batch, []).append(command)
        assert step == len(found[batch])
    return found
