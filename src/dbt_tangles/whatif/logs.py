"""Reads the events of event logs, and the messages of SSB logs with their causes, in the order of receipt."""

from collections import Counter
from collections.abc import Iterator
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.timeline.edits import Timelines
from dbt_tangles.algorithms.timeline.order import UNPROVEN_FEED, order_timelines
from dbt_tangles.columns.arrays import starts
from dbt_tangles.formats.events import verify_lines as events
from dbt_tangles.formats.ssb import verify_lines as ssb
from dbt_tangles.formats.ssb.options import hmac_key
from dbt_tangles.kernel_runtime.row_schema import Int64, batch_of
from dbt_tangles.reasons import EventReason
from dbt_tangles.whatif.deliveries import Items

#: The ways to order events of equal rank: by name as the protocol, from the greatest name on, and by author, then name.
TIE_BREAKS = NAME, REVERSED, AUTHOR = "name", "reversed", "author"
#: The timeline of all messages of an SSB log.
LOG_TIMELINE = "ssb:log"


class Event(NamedTuple):
    """A row of `timeline.schemas.Arrival`; columns that it lacks are null. The two times are in seconds."""

    timeline_id: str
    event_id: str
    causes: list[str]
    cause_kinds: list[str] | None
    author: str | None
    arrival: Int64
    refusal: str | None = None
    received_s: float | None = None
    published_s: float | None = None


def read_events(batches: Iterator[pa.RecordBatch], max_previous: int | None) -> list[Event]:
    """Read an event log, in the order of arrival numbers, then lines; batches are of `LINE_SCHEMA`."""
    found = []
    for batch in events.verify_batches(batches):
        columns = batch.filter(batch["reject_reason"].is_null()).select(
            ["timeline_id", "event_id", "causes", "author", "arrival"]
        )
        for timeline, event, causes, author, arrival in zip(*map(pa.Array.to_pylist, columns), strict=True):
            is_long = max_previous is not None and len(causes) - (event in causes) > max_previous
            refusal = EventReason.TOO_MANY_PREVIOUS.value if is_long else None
            found.append(Event(timeline, event, causes, None, author, arrival, refusal))
    return sorted(found, key=lambda each: each.arrival)


def read_messages(batches: Iterator[pa.RecordBatch], max_previous: int | None) -> list[Event]:
    """Read an SSB log, in the order of receive times, messages without one last; batches are of `LINE_SCHEMA`.

    Raises:
        ValueError: The network key in the environment is not valid.
    """
    found: dict[str, Event] = {}
    names = ["message_id", "author", "previous_id", "claims", "received_ms", "asserted_ms", "is_usable"]
    for batch in ssb.verify_batches(batches, ssb.VerifyOptions(hmac_key=hmac_key())):
        for row in zip(*map(pa.Array.to_pylist, batch.select(names)), strict=True):
            message_id, author, previous_id, claims, received, asserted, is_usable = row
            if is_usable and message_id not in found:
                causes, kinds = causes_of(message_id, previous_id, claims, max_previous)
                times = [None if each is None else each / 1_000 for each in (received, asserted)]
                found[message_id] = Event(LOG_TIMELINE, message_id, causes, kinds, author, 0, None, *times)
    ordered = sorted(found.values(), key=lambda each: inf if each.received_s is None else each.received_s)
    return [each._replace(arrival=place) for place, each in enumerate(ordered)]


def causes_of(
    message_id: str, previous_id: str | None, claims: list[dict[str, Any]], max_previous: int | None
) -> tuple[list[str], list[str]]:
    """List the causes of a message and their kinds, as `macros/timelines/define_log_arrivals.sql` does.

    Of more than `max_previous` causes, the backlink comes first, then the least ids, then roots that others imply.
    """
    counted, implied = set(), set()
    for claim in claims:
        if claim["defect"] is None:
            root, listed = {claim["root_id"]} - {None}, {*(claim["previous"] or ())}
            counted |= listed - root or root
            implied |= root
    chosen = [*sorted(counted - {previous_id}), *sorted(implied - counted - {previous_id})]
    own = [previous_id] if previous_id is not None else []
    if max_previous is not None:
        others = [each for each in chosen if each != message_id]
        chosen = others[: max(max_previous - len(own), 0)]
    kinds = ["tangle"] * len(chosen)
    if own:
        kinds.append("both" if previous_id in counted | implied else UNPROVEN_FEED)
    return chosen + own, kinds


def admit(found: list[Event], tie_break: str | None) -> tuple[Items, Timelines, np.ndarray]:
    """Admit events in the order of receipt as the kernel of builds does; number them by timeline and tie-break.

    Returns:
        The accepted events in the order of receipt; the timelines; int32[items], the number of each event.
    """
    table = pa.Table.from_batches([batch_of(Event, found)])
    columns = [*Event._fields, "reason", "rank", "cyclic_causes"]
    batches = [batch.select(columns).to_pylist() for batch in order_timelines(table, batch_size=0)]
    rows = [row for batch in batches for row in batch if row["reason"] is None]
    order = sorted(range(len(rows)), key=lambda at: rows[at]["event_id"], reverse=tie_break == REVERSED)
    order.sort(key=lambda at: (rows[at]["timeline_id"], (rows[at]["author"] or "") if tie_break == AUTHOR else ""))
    number = {(rows[at]["timeline_id"], rows[at]["event_id"]): place for place, at in enumerate(order)}
    links = []
    for at in order:
        row, left_out = rows[at], {*rows[at]["cyclic_causes"]}
        listed = (number.get((row["timeline_id"], each)) for each in row["causes"] if each not in left_out)
        links.append([each for each in listed if each is not None])
    sizes = Counter(rows[at]["timeline_id"] for at in order)
    timelines = Timelines(
        starts([*sizes.values()]),
        starts([len(each) for each in links]),
        np.array([cause for each in links for cause in each], np.int32),
        np.array([rows[at]["rank"] for at in order], np.int32),
    )
    event = np.empty(len(rows), np.int32)
    event[order] = np.arange(len(rows))
    times = [[row[name] for row in rows] for name in ("received_s", "published_s")]
    stated = [None if None in each else np.array(each) for each in times]
    return Items(*number_feeds([row["author"] for row in rows]), *stated), timelines, event


def number_feeds(authors: list[str | None]) -> tuple[np.ndarray, list[str | None]]:
    """Number the feeds of authors: int32[items], and the author of each feed.

    An item without an author is a feed of its own.
    """
    keys: list[Any] = [author or (place,) for place, author in enumerate(authors)]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    feed = np.array([numbers[key] for key in keys], np.int32)
    return feed, [key if isinstance(key, str) else None for key in numbers]
