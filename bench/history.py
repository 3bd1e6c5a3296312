"""Real histories as event logs: git commits, events of a Matrix room, or IRC messages with annotated replies.

    python -m bench.history git path/to/repository --out log.jsonl
    python -m bench.history matrix room.jsonl --out log.jsonl --timeline room --arrival topological

The lines suit the var `event_log`. They hold the ids of events and causes, the names of authors and the order of
arrival; texts are left out.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.events import Timelines
from bench.history_readers import READERS, Event
from dbt_tangles.kernel_runtime.compiled import compiled

ARRIVALS = ("time", "topological", "shuffled")


def arrive(events: list[Event], arrival: str, seed: int = 1) -> np.ndarray:
    """Put events in an order of arrival.

    Args:
        events: As a reader returns them.
        arrival: `time` (time, then id), `topological` (causes first) or `shuffled`.
        seed: The seed of a shuffled arrival.

    Returns:
        int64[events], the event that arrives at each place.
    """
    if arrival == "shuffled":
        return np.random.default_rng(seed).permutation(len(events))
    if arrival == "time":
        return np.array(sorted(range(len(events)), key=lambda i: (events[i].time, events[i].id)), np.int64)
    return np.arange(len(events))


def timelines_of(events: list[Event], arrived: np.ndarray) -> Timelines:
    """Return a history in the form that the kernels take; the first cause comes first. Absent causes are left out."""
    names = sorted(event.id for event in events)
    number = {id_: n for n, id_ in enumerate(names)}
    by_number = sorted(events)
    lists = [[number[cause] for cause in event.causes if cause in number] for event in by_number]
    start = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    causes = np.array([cause for each in lists for cause in each], np.int32)
    whole = np.array([0, len(events)])
    numbers = np.array([number[event.id] for event in events], np.int32)
    return Timelines(whole, start, causes, whole, numbers[arrived])


def json_lines(events: list[Event], arrived: np.ndarray, timeline: str) -> Iterator[bytes]:
    """Yield the lines of an event log, in the order of arrival."""
    for place, i in enumerate(arrived.tolist(), start=1):
        id_, causes, _, author = events[i]
        line = {"timeline": timeline, "event": id_, "after": causes, "author": author, "arrival": place}
        yield json.dumps(line, ensure_ascii=False).encode() + b"\n"


@compiled
def count_shape(cause_start, cause):
    """Count the events of a history with several effects, with several causes, with more than two, and without effects.

    Args:
        cause_start: int64[events + 1], into the causes.
        cause: int32[...].

    Returns:
        The numbers of forks, merges, merges of more than two causes, and tips.
    """
    events = len(cause_start) - 1
    effects = np.zeros(events, np.int64)
    merges, wide, forks, tips = 0, 0, 0, 0
    for c in cause:
        effects[c] += 1
    for x in range(events):
        count = cause_start[x + 1] - cause_start[x]
        merges += count > 1
        wide += count > 2
        forks += effects[x] > 1
        tips += effects[x] == 0
    return forks, merges, wide, tips


def main(argv: list[str] | None = None) -> None:
    """Write a history as an event log."""
    parser = argparse.ArgumentParser(description="Write a real history as an event log.")
    parser.add_argument("kind", choices=READERS, help="a git repository, a Matrix room or an IRC channel")
    parser.add_argument(
        "path", type=Path, help="the repository, the file of JSON lines, or the folder of annotated logs"
    )
    parser.add_argument("--out", type=Path, required=True, help="the file")
    parser.add_argument("--timeline", help="the name of the timeline (default: the kind)")
    parser.add_argument("--arrival", choices=ARRIVALS, default="time", help="the order of arrival (default time)")
    chosen = parser.parse_args(argv)
    try:
        events = READERS[chosen.kind](chosen.path)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    with chosen.out.open("wb") as out:
        out.writelines(json_lines(events, arrive(events, chosen.arrival), chosen.timeline or chosen.kind))


if __name__ == "__main__":
    main()
