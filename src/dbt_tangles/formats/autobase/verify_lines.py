"""Verifies the lines of an Autobase log: one row per line (Autobase Design, "Linearisation" and "Writer Roles").

A line is a JSON object that names its `base`, and is of one of two kinds: a node (`writer`, `length`, `heads`,
optionally `batch` and `value`) or, without the first three fields, a base (`indexers`, optionally `relayed` and
`start`). Other fields are ignored, and a null field counts as missing. Any line is allowed: an unusable line becomes a
row with a reason.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

import pyarrow as pa

from dbt_tangles.formats.json.numbers import MAX_INT32, whole_number
from dbt_tangles.formats.json.parse import LineError, LineReasons, parse_object
from dbt_tangles.formats.json.printing import Style, number_text, sorted_bytes
from dbt_tangles.formats.json.strings import SURROGATE
from dbt_tangles.ingest.line_checks import MAX_LINE_BYTES, check_in_turns, schema_of
from dbt_tangles.kernel_runtime.row_schema import Int32, columns_of
from dbt_tangles.reasons import AutobaseReason as Reason
from dbt_tangles.reasons import Reasons

BASE, NODE = "base", "node"
_TURN_ROWS = 2048
_WRITER = re.compile("[0-9A-Fa-f]+")
_WRITER_DIGITS = 64
_LINE_REASONS = LineReasons(Reason.TOO_LONG, Reason.INVALID_UTF8, Reason.MALFORMED_JSON, Reason.NOT_AN_OBJECT)


class Length(NamedTuple):
    """A writer, and a length of its log."""

    writer: str
    length: Int32


@dataclass(slots=True)
class Row:
    """The result of a line; see `verify_batches`."""

    base_id: str | None = None
    kind: str | None = None
    indexers: list[str] | None = None
    relayed: list[str] | None = None
    start: list[Length] | None = None
    writer: str | None = None
    length: Int32 | None = None
    heads: list[Length] | None = None
    batch: Int32 | None = None
    value: str | None = None
    is_ack: bool | None = None
    reject_reason: Reasons | None = None
    detail: str | None = None


OUTPUT_SCHEMA = schema_of(Row)


def verify_batches(batches: Iterator[pa.RecordBatch], max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[pa.RecordBatch]:
    """Verify the lines of an Autobase log.

    Args:
        batches: Record batches with the columns of `INPUT_SCHEMA`, in any order.
        max_line_bytes: Longer lines are rejected unread.

    Returns:
        Record batches of `OUTPUT_SCHEMA`: one row for each input row, in the same order.
        Writers are in lower case. The columns:
            `kind`: `base`, `node`, or null if the line is neither;
            `indexers`, `relayed`: of a base, distinct and sorted; `relayed` defaults to empty;
            `start`: of a base, one entry for each writer, sorted, lengths of 0 included; null if missing;
            `heads`: of a node, sorted, at most one for each writer, without the writer's own previous node;
            `batch`: of a node, 1 if missing;
            `value`: of a node, its JSON with sorted keys and without white space, so that equal values have equal
            texts. Numbers are doubles, printed as JavaScript prints them: 1, 1.0 and 1e0 are 1. Those beyond the
            doubles are 1e999 and -1e999. Null for an ack (`is_ack`);
            `reject_reason`, `detail`: null for a usable line. A rejected line has at most `base_id`, `kind`, `writer`
            and `length`.
    """

    def check(lines: list[bytes | None], lengths: list[int | None]) -> dict[str, Sequence[Any]]:
        return columns_of(Row, [_read(*line, max_line_bytes) for line in zip(lines, lengths, strict=True)])

    return check_in_turns(batches, check, _TURN_ROWS, OUTPUT_SCHEMA)


def _read(raw: bytes | None, raw_length: int | None, max_line_bytes: int) -> Row:
    row = Row()
    try:
        document, is_exact = parse_object(raw, raw_length, max_line_bytes, _LINE_REASONS)
        _read_document(row, document, is_exact)
    except LineError as error:
        row.reject_reason, row.detail = error.args
    return row


def _read_document(row: Row, document: dict[str, Any], is_exact: bool) -> None:
    base_id = document.get("base")
    if type(base_id) is str and base_id and not (is_exact and SURROGATE.search(base_id)):
        row.base_id = base_id
    writer, length, heads = document.get("writer"), document.get("length"), document.get("heads")
    if writer is not None or length is not None or heads is not None:
        row.kind, row.writer, row.length = NODE, _writer_of(writer), _length_of(length)
    elif document.get("indexers") is not None:
        row.kind = BASE
    if row.base_id is None:
        _reject(Reason.NO_BASE, _wrong(base_id, "base", "a non-empty string"))
    if row.kind is None:
        _reject(Reason.NEITHER, "neither a base nor a node")
    if row.kind == BASE:
        row.indexers, row.relayed, row.start = _read_base(document)
        return
    if row.writer is None:
        _reject(Reason.BAD_WRITER, _wrong(writer, "writer", "64 hex digits"))
    if row.length is None:
        _reject(Reason.BAD_LENGTH, _wrong(length, "length", "a whole number from 1"))
    if type(heads) is not list:
        _reject(Reason.BAD_HEADS, _wrong(heads, "heads", "a list"))
    heads = _read_heads(heads, row.writer, row.length)
    batch = document.get("batch")
    batch = 1 if batch is None else _length_of(batch)
    if batch is None:
        _reject(Reason.BAD_BATCH, "batch is not a whole number from 1")
    value = document.get("value")
    row.heads, row.batch, row.is_ack = heads, batch, value is None
    if value is not None:
        row.value = sorted_bytes(value, _VALUE_STYLE).decode()


def _read_base(document: dict[str, Any]) -> tuple[list[str], list[str], list[Length] | None]:
    """Read indexers, relayed and start."""
    indexers = _writers_of(document["indexers"], "indexers", Reason.BAD_INDEXERS)
    relayed = document.get("relayed")
    relayed = [] if relayed is None else _writers_of(relayed, "relayed", Reason.BAD_RELAYED)
    if not set(indexers).isdisjoint(relayed):
        _reject(Reason.BAD_ROLES, "a writer is in both indexers and relayed")
    start = document.get("start")
    if start is None:
        return indexers, relayed, None
    if type(start) is not dict:
        _reject(Reason.BAD_START, "start is not an object")
    lengths = {_writer_of(name): _length_of(length, least=0) for name, length in start.items()}
    if None in lengths:
        _reject(Reason.BAD_START, "start names something other than 64 hex digits")
    if len(lengths) < len(start):
        _reject(Reason.BAD_START, "start has two lengths of one writer")
    if None in lengths.values():
        _reject(Reason.BAD_START, "a length in start is not a whole number from 0")
    return indexers, relayed, sorted(map(Length._make, lengths.items()))


def _writers_of(values: Any, name: str, reason: Reason) -> list[str]:
    if type(values) is not list:
        _reject(reason, f"{name} is not a list")
    writers = set(map(_writer_of, values))
    if None in writers:
        _reject(reason, f"an entry of {name} is not 64 hex digits")
    return sorted(writers)


def _read_heads(values: list[Any], writer: str, length: int) -> list[Length]:
    heads = []
    for pair in values:
        is_pair = type(pair) is list and len(pair) == 2
        name, head_length = (_writer_of(pair[0]), _length_of(pair[1])) if is_pair else (None, None)
        if name is None or head_length is None:
            _reject(Reason.BAD_HEADS, "a head is not a writer and a length")
        heads.append(Length(name, head_length))
    heads.sort()
    if len({head.writer for head in heads}) < len(heads):
        _reject(Reason.BAD_HEADS, "two heads are of one writer")
    if any(name == writer and head_length >= length for name, head_length in heads):
        _reject(Reason.BAD_HEADS, "a head is the node itself or a later one of its writer")
    previous = (writer, length - 1)  # the implicit previous node, which may be listed too
    return [head for head in heads if head != previous]


def _reject(reason: Reason, detail: str) -> NoReturn:
    raise LineError(reason, detail)


def _wrong(value: Any, name: str, expected: str) -> str:
    return f"no {name}" if value is None else f"{name} is not {expected}"


def _writer_of(value: Any) -> str | None:
    # Caching longer strings would waste memory.
    return _lower_case(value) if type(value) is str and len(value) == _WRITER_DIGITS else None


@lru_cache(maxsize=2**16)
def _lower_case(digits: str) -> str | None:
    return digits.lower() if _WRITER.fullmatch(digits) else None


def _length_of(value: Any, least: int = 1) -> int | None:
    return whole_number(value, least, MAX_INT32)


def _number_text(number: int | float) -> str:
    if type(number) is float and math.isinf(number):
        return "1e999" if number > 0 else "-1e999"
    return number_text(number)


# By code point, as orjson sorts.
_VALUE_STYLE = Style(items_of=lambda value: sorted(value.items()), number_text=_number_text)
