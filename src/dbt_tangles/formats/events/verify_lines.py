"""Verifies the lines of an event log: one row per line.

A line is a JSON object: `timeline`, `event`, `after` (the ids of the event's causes), `arrival` (a whole number) and
optionally an `author`. Other fields are ignored. Any line is allowed: an unusable line becomes a row with a reason.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

import orjson
import pyarrow as pa

from dbt_tangles.formats.json_line import LineError, LineReasons, parse_object, parse_with_types, read_turn
from dbt_tangles.ingest.json_numbers import int64
from dbt_tangles.ingest.line_checks import MAX_LINE_BYTES, check_in_turns, schema_of
from dbt_tangles.kernel_runtime.row_schema import Int64
from dbt_tangles.reasons import EventReason

# Lines per turn: few enough for their objects to stay in the processor's caches, and for one bad line to delay few good
# ones.
_TURN_ROWS = 256

# Lone surrogates have no UTF-8 form, so Arrow cannot store them.
_SURROGATE = re.compile("[\ud800-\udfff]")
_INT64 = range(-(2**63), 2**63)
#: The reason of every rejected line; `detail` says more.
MALFORMED = EventReason.MALFORMED.value
_LINE_REASONS = LineReasons(MALFORMED, MALFORMED, MALFORMED, MALFORMED)

_NEEDED = ("timeline", "event", "after", "arrival")
_needed_of = itemgetter(*_NEEDED)


@dataclass(slots=True)
class Row:
    """The result of a line; see `verify_batches`."""

    timeline_id: str | None = None
    event_id: str | None = None
    causes: list[str] | None = None
    author: str | None = None
    arrival: Int64 | None = None
    reject_reason: str | None = None
    detail: str | None = None


OUTPUT_SCHEMA = schema_of(Row)


def verify_batches(batches: Iterator[pa.RecordBatch], max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[pa.RecordBatch]:
    """Verify the lines of an event log.

    Args:
        batches: Record batches with the columns of `INPUT_SCHEMA`, in any order.
        max_line_bytes: Longer lines are rejected unread.

    Returns:
        Record batches of `OUTPUT_SCHEMA`: one row for each input row, in the same order. A very large batch is split.
        In the row of a usable line `detail` is null and `causes` are the distinct ids of `after` by first occurrence.
        In any other row `reject_reason` and `detail` give the fault, and only the ids of the
        timeline and the event may be filled.
    """

    def verify(lines: pa.Array, lengths: pa.Array) -> Mapping[str, pa.Array | Sequence[Any]]:
        return read_turn(lines, lengths, max_line_bytes, _read_columns, _read, Row)

    return check_in_turns(batches, verify, _TURN_ROWS, OUTPUT_SCHEMA)


def _read_columns(raws: list[bytes | None]) -> dict[str, Sequence[Any]] | None:
    """Read lines if all are valid, checking each column as a whole; give up at the first invalid one.

    The result equals that of `_read`, in half the time.
    """
    try:
        documents = list(map(orjson.loads, raws))
        timelines, events, after, arrivals = zip(*map(_needed_of, documents), strict=True)
        if not _are(after, list):
            return None
        authors = [document.get("author") for document in documents]
        listed = list(chain.from_iterable(after))
    except (ValueError, LookupError, TypeError):  # not JSON, a field missing, not an object
        return None
    is_sound = (
        _are_ids(timelines)
        and _are_ids(events)
        and _are_ids(listed)
        and _are(authors, str, type(None))
        and _are(arrivals, int)
        and min(arrivals) in _INT64
        and max(arrivals) in _INT64
    )
    if not is_sound:
        return None
    causes = [ids if len({*ids}) == len(ids) else _distinct(ids) for ids in after]
    return {"timeline_id": timelines, "event_id": events, "causes": causes, "author": authors, "arrival": arrivals}


def _are(values: Sequence[Any], *kinds: type) -> bool:
    return set(kinds).issuperset(map(type, values))


def _are_ids(values: Sequence[Any]) -> bool:
    return _are(values, str) and all(values)


def _read(raw: bytes | None, length: int | None, max_line_bytes: int) -> Row:
    """Read any line."""
    try:
        document, _ = parse_object(raw, length, max_line_bytes, _LINE_REASONS, parse_with_types)
    except LineError as error:
        return _rejected(error.args[1])
    return _read_document(document)


def _read_document(document: dict[str, Any]) -> Row:
    timeline, event, after = map(document.get, _NEEDED[:-1])
    arrival = int64(document.get("arrival"))
    author = document.get("author")
    detail = None
    if missing := [name for name in _NEEDED if name not in document]:
        detail = f"no {missing[0]}"
    elif not _is_id(timeline):
        detail = "timeline is not a non-empty string"
    elif not _is_id(event):
        detail = "event is not a non-empty string"
    elif type(after) is not list or not all(map(_is_id, after)):
        detail = "after is not a list of ids"
    elif arrival is None:
        detail = "arrival is not a whole number of 64 bits"
    elif author is not None and (type(author) is not str or _SURROGATE.search(author)):
        detail = "author is not a string"
    if detail is not None:
        return _rejected(detail, timeline if _is_id(timeline) else None, event if _is_id(event) else None)
    return Row(timeline_id=timeline, event_id=event, causes=_distinct(after), author=author, arrival=arrival)


def _rejected(detail: str, timeline: str | None = None, event: str | None = None) -> Row:
    return Row(timeline_id=timeline, event_id=event, reject_reason=MALFORMED, detail=detail)


def _is_id(value: Any) -> bool:
    return type(value) is str and value != "" and not _SURROGATE.search(value)


def _distinct(ids: list[str]) -> list[str]:
    return list(dict.fromkeys(ids))
