"""Verifies the lines of an event log: one row per line.

A line is a JSON object: `timeline`, `event`, `after` (the ids of the event's causes), `arrival` (a whole number) and
optionally an `author`. Other fields are ignored. Any line is allowed: an unusable line becomes a row with a reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dbt_tangles.formats.json.numbers import int64
from dbt_tangles.formats.json.parse import LineError, LineReasons, parse_object
from dbt_tangles.formats.json.strings import SURROGATE
from dbt_tangles.ingest.line_checks import MAX_LINE_BYTES, check_in_turns, schema_of
from dbt_tangles.kernel_runtime.row_schema import Int64, columns_of
from dbt_tangles.reasons import EventReason

_TURN_ROWS = 2048
#: The reason of every rejected line; `detail` says more.
MALFORMED = EventReason.MALFORMED.value
_LINE_REASONS = LineReasons(MALFORMED, MALFORMED, MALFORMED, MALFORMED)
_NEEDED = ("timeline", "event", "after", "arrival")
_NEEDED_KEYS = frozenset(_NEEDED)


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
        Record batches of `OUTPUT_SCHEMA`: one row for each input row, in the same order.
        In the row of a usable line `detail` is null and `causes` are the distinct ids of `after` by first occurrence.
        In any other row `reject_reason` and `detail` give the fault, and only the ids of the
        timeline and the event may be filled.
    """

    def check(lines: list[bytes | None], lengths: list[int | None]) -> Mapping[str, Sequence[Any]]:
        return columns_of(Row, [_read(*line, max_line_bytes) for line in zip(lines, lengths, strict=True)])

    return check_in_turns(batches, check, _TURN_ROWS, OUTPUT_SCHEMA)


def _read(raw: bytes | None, length: int | None, max_line_bytes: int) -> Row:
    try:
        document, is_exact = parse_object(raw, length, max_line_bytes, _LINE_REASONS)
    except LineError as error:
        return Row(reject_reason=MALFORMED, detail=error.args[1])
    timeline, event, after, arrival = map(document.get, _NEEDED)
    author = document.get("author")
    # Only the exact parser returns lone surrogates, which Arrow cannot store.
    is_id = _is_storable_id if is_exact else _is_id
    if not document.keys() >= _NEEDED_KEYS:
        detail = f"no {next(name for name in _NEEDED if name not in document)}"
    elif not is_id(timeline):
        detail = "timeline is not a non-empty string"
    elif not is_id(event):
        detail = "event is not a non-empty string"
    elif type(after) is not list or not all(map(is_id, after)):
        detail = "after is not a list of non-empty strings"
    elif (arrival := int64(arrival)) is None:
        detail = "arrival is not a whole number of 64 bits"
    elif author not in (None, "") and not is_id(author):
        detail = "author is not a string"
    else:
        return Row(timeline, event, list(dict.fromkeys(after)), author, arrival)
    return Row(
        timeline if is_id(timeline) else None, event if is_id(event) else None, reject_reason=MALFORMED, detail=detail
    )


def _is_id(value: Any) -> bool:
    return type(value) is str and value != ""


def _is_storable_id(value: Any) -> bool:
    return _is_id(value) and not SURROGATE.search(value)
