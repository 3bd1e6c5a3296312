"""Made-up event logs, after the evaluation of ScuttleSort; the same seed gives the same log.

Feeds grow in steps. Each step picks two different feeds at random; each of the two appends one event, which lists its
own feed's last event and the tip of highest rank among the other feeds, both as they were before the step. So every
rank has exactly two events. `dbt_tangles.whatif.deliveries` determines the order of arrival.

Names are random, so an event's name does not depend on its place.
"""

import binascii
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.kernel_runtime.compiled import compiled
from dbt_tangles.whatif.timelines import keep_events

NAME_LENGTH = 64  # digits, as of a SHA-256
LURKS = 2  # the events of a lurker
#: Columns of arrivals that are null without messages.
OF_MESSAGES = ("cause_kinds", "left_out_causes")


class Log(NamedTuple):
    """The events of one timeline, numbered as they were appended."""

    feed: np.ndarray  # int32[events]
    start: np.ndarray  # int64[events + 1], into the causes
    cause: np.ndarray  # int32[...], events; the own feed's last event first
    rank: np.ndarray  # int32[events]


class Timelines(NamedTuple):
    """Timelines in the form that the kernel takes: events numbered by timeline and name."""

    event_start: np.ndarray  # int64[timelines + 1], into the events
    cause_start: np.ndarray  # int64[events + 1], into the causes
    cause: np.ndarray  # int32[...], events
    arrival_start: np.ndarray  # int64[timelines + 1], into the arrivals
    arrived: np.ndarray  # int32[events], in order of arrival


def append(
    events: int,
    feeds: int,
    rng: np.random.Generator,
    references: int | np.ndarray = 1,
    lurkers: int = 0,
) -> Log:
    """Let feeds append events.

    Args:
        events: The number of events, an even number.
        feeds: The number of feeds that append all the time, at least 2.
        rng: The random generator.
        references: How many tips of other feeds an event lists, those of the highest ranks; among equal ranks, any. One
            number for all feeds, or one for each.
        lurkers: The number of further feeds, which append `LURKS` events each, at random steps, paired with others.

    Returns:
        The events, two by two.

    Raises:
        ValueError: The numbers do not fit together.
    """
    steps = events // 2
    if events % 2 or feeds < 2 or LURKS * lurkers > steps:
        raise ValueError(f"{events} events in pairs by {feeds} feeds and {lurkers} lurkers cannot be")
    first = rng.integers(0, feeds, steps)
    second = (first + rng.integers(1, feeds, steps)) % feeds
    visits = rng.choice(steps, LURKS * lurkers, replace=False)
    second[visits] = rng.permutation(np.repeat(np.arange(feeds, feeds + lurkers), LURKS))
    turn = rng.integers(0, feeds + lurkers, events)
    return Log(*_append(first, second, np.broadcast_to(references, feeds + lurkers).astype(np.int64), turn))


@compiled
def _append(first, second, references, turn):
    feeds = len(references)
    events = 2 * len(first)
    most = references.max()
    feed = np.empty(events, np.int32)
    start = np.zeros(events + 1, np.int64)
    cause = np.empty(events * (most + 1), np.int32)
    rank = np.empty(events, np.int32)
    tip = np.full(feeds, np.int32(-1))
    tip_rank = np.full(feeds, np.int32(-1))
    best = np.empty(most + 1, np.int64)
    count = 0
    for e in range(events):
        f = first[e // 2] if e % 2 == 0 else second[e // 2]
        wanted = references[f]
        found = 0
        # Start at a random feed, so that equal ranks prefer no particular one.
        for part in range(2):
            low, high = (turn[e], feeds) if part == 0 else (0, turn[e])
            for g in range(low, high):
                r = tip_rank[g]
                if g == f or r < 0 or (found == wanted and (found == 0 or r <= tip_rank[best[found - 1]])):
                    continue
                at = found
                while at > 0 and tip_rank[best[at - 1]] < r:
                    best[at] = best[at - 1]
                    at -= 1
                best[at] = g
                found = min(found + 1, wanted)
        highest = tip_rank[f]
        if tip[f] >= 0:
            cause[count] = tip[f]
            count += 1
        for i in range(found):
            cause[count] = tip[best[i]]
            count += 1
            highest = max(highest, tip_rank[best[i]])
        feed[e] = f
        rank[e] = highest + 1
        start[e + 1] = count
        if e % 2 == 1:
            for new in (e - 1, e):
                tip[feed[new]] = new
                tip_rank[feed[new]] = rank[new]
    return feed, start, cause[:count].copy(), rank


def numbered(log: Log) -> Timelines:
    """Return a log as one timeline whose events are numbered as they were appended, and arrive so."""
    whole = np.array([0, len(log.feed)])
    return Timelines(whole, log.start, log.cause, whole, np.arange(len(log.feed), dtype=np.int32))


def named(log: Log, arrived: np.ndarray, rng: np.random.Generator) -> Timelines:
    """Name the events of a log at random.

    Args:
        log: The events.
        arrived: The events that arrive, in order of arrival; causes outside them are ignored.
        rng: The random generator for the names.
    """
    count = len(arrived)
    number = rng.permutation(count).astype(np.int32)
    start, cause = keep_events(log.start, log.cause, arrived[np.argsort(number)])
    whole = np.array([0, count])
    return Timelines(whole, start, cause, whole, number)


def small_timelines(count: int, rng: np.random.Generator) -> Timelines:
    """Make many timelines of 5 to 20 events, each of which lists up to two events before it; a third arrives late.

    Args:
        count: The number of timelines.
        rng: The random generator.
    """
    sizes = rng.integers(5, 21, count)
    start = np.concatenate([[0], np.cumsum(sizes)])
    events = start[-1]
    first = np.repeat(start[:-1], sizes)
    place = np.arange(events) - first
    number = first + np.lexsort((rng.random(events), first)) - first  # a random number within the timeline, by place
    # The event before it, and any earlier event.
    lists = np.stack([place - 1, (rng.random(events) * (place - 1)).astype(np.int64)], axis=1)
    lists[place < 1, 0] = -1
    lists[place < 2, 1] = -1
    by_number = np.argsort(number)
    listed = lists[by_number]
    is_cause = listed >= 0
    cause = number[(listed + first[by_number][:, None])[is_cause]]
    cause_start = np.concatenate([[0], np.cumsum(is_cause.sum(axis=1))])
    late = np.where(rng.random(events) < 1 / 3, rng.random(events) * 5, 0)
    arrived = number[np.lexsort((place + late, first))]
    return Timelines(start, cause_start, cause.astype(np.int32), start, arrived.astype(np.int32))


def draw_names(timelines: Timelines, rng: np.random.Generator) -> np.ndarray:
    """Draw a name for each event, ascending within each timeline; bytes, `NAME_LENGTH` lower hexadecimal digits."""
    count = len(timelines.cause_start) - 1
    drawn = np.frombuffer(binascii.b2a_hex(rng.bytes(count * NAME_LENGTH // 2)), f"S{NAME_LENGTH}")
    if len(timelines.event_start) == 2:
        return np.sort(drawn)
    timeline = np.repeat(np.arange(len(timelines.event_start) - 1), np.diff(timelines.event_start))
    return drawn[np.lexsort((drawn, timeline))]


def cause_lists(timelines: Timelines, names: np.ndarray) -> list[list[str]]:
    """List the names of the causes of each event."""
    text = names.astype(str).tolist()
    starts, causes = timelines.cause_start.tolist(), timelines.cause.tolist()
    return [[text[c] for c in causes[low:high]] for low, high in pairwise(starts)]


def arrivals_table(timelines: Timelines, rng: np.random.Generator) -> pa.Table:
    """Return timelines as rows of `int_timeline_arrivals`, one per arrival, with the columns that are not constant."""
    names = draw_names(timelines, rng)
    arrived = timelines.arrived
    sizes = np.diff(timelines.arrival_start)
    timeline = np.repeat(np.arange(len(sizes)), sizes)
    lengths = np.diff(timelines.cause_start)[arrived]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    items = np.arange(offsets[-1]) + np.repeat(timelines.cause_start[arrived] - offsets[:-1], lengths)
    ids = _strings(draw_ids(len(sizes), rng))
    return pa.table(
        {
            "timeline_id": ids.take(pa.array(timeline)),
            "event_id": _strings(names[arrived]),
            "causes": pa.ListArray.from_arrays(
                pa.array(offsets.astype(np.int32)), _strings(names[timelines.cause[items]])
            ),
            **{name: pa.nulls(len(arrived), pa.list_(pa.string())) for name in OF_MESSAGES},
            "author": pa.nulls(len(arrived), pa.string()),
            "arrival": pa.array(np.arange(len(arrived)) - np.repeat(timelines.arrival_start[:-1], sizes) + 1),
            "received_ms": pa.nulls(len(arrived), pa.float64()),
            "refusal": pa.nulls(len(arrived), pa.string()),
            "source_file": pa.repeat(pa.scalar("made.jsonl"), len(arrived)),
            "line": pa.array(np.arange(len(arrived), dtype=np.int64)),
        }
    )


def draw_ids(count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw ids in the form of names."""
    return np.frombuffer(binascii.b2a_hex(rng.bytes(count * NAME_LENGTH // 2)), f"S{NAME_LENGTH}")


def _strings(names: np.ndarray) -> pa.Array:
    names = np.ascontiguousarray(names)
    offsets = (np.arange(len(names) + 1) * NAME_LENGTH).astype(np.int32)
    return pa.StringArray.from_buffers(len(names), pa.py_buffer(offsets), pa.py_buffer(names))
