"""Parses a line of a JSON log: length limit, UTF-8, JSON as V8 reads it, one object per line.

The four formats share this step, and the two formats without signatures share the choice between whole columns and
single lines.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.formats.ssb.canonical import InvalidUtf8Error, MalformedJsonError, parse_exact
from dbt_tangles.ingest.line_framing import array_mistake, refusal, too_long
from dbt_tangles.kernel_runtime.row_schema import columns_of
from dbt_tangles.reasons import Reasons


class LineReasons(NamedTuple):
    """The reasons of a format for lines without a JSON object, and the detail of the last."""

    too_long: Reasons | str
    invalid_utf8: Reasons | str
    malformed_json: Reasons | str
    not_an_object: Reasons | str
    not_an_object_detail: str | None = "not a JSON object"


class LineError(Exception):
    """The line is unusable; the arguments are the reason and the detail."""


def parse_object(
    raw: bytes | None,
    raw_length: int | None,
    max_line_bytes: int,
    reasons: LineReasons,
    parse: Callable[[bytes], Any] = parse_exact,
) -> tuple[dict[str, Any], bool]:
    """Parse a line that should be a JSON object.

    Args:
        raw: The bytes of the line, possibly truncated; null like empty.
        raw_length: The length of the whole line in bytes, if known.
        max_line_bytes: Longer lines are rejected unread.
        reasons: The reasons of the format.
        parse: The parser for lines that orjson rejects; it raises as `canonical.parse_exact` does.

    Returns:
        The object, and whether `parse` made it.

    Raises:
        LineError: The line is too long, or not a JSON object.
    """
    raw = raw or b""
    if len(raw) > max_line_bytes or (raw_length or 0) > max_line_bytes:
        raise LineError(*too_long(raw, reasons.too_long, max_line_bytes))
    is_exact = False
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError:
        is_exact = True
        try:
            document = parse(raw)
        except InvalidUtf8Error as error:
            raise LineError(*refusal(raw, reasons.invalid_utf8, str(error))) from None
        except MalformedJsonError as error:
            raise LineError(*refusal(raw, reasons.malformed_json, str(error))) from None
    if type(document) is not dict:
        raise LineError(*(array_mistake(document) or (reasons.not_an_object, reasons.not_an_object_detail)))
    return document, is_exact


def parse_with_types(raw: bytes) -> Any:
    """Parse JSON that `JSON.parse` accepts and `orjson.loads` rejects, with orjson's types; see `parse_exact`."""
    return parse_exact(raw, _number_of)


def _number_of(token: str) -> int | float:
    try:
        return orjson.loads(token)
    except orjson.JSONDecodeError:  # beyond the doubles
        return float(token)


def read_turn(
    lines: pa.Array,
    lengths: pa.Array,
    max_line_bytes: int,
    read_columns: Callable[[list[bytes | None]], Mapping[str, pa.Array | Sequence[Any]] | None],
    read_row: Callable[[bytes | None, int | None, int], Any],
    row: type,
) -> Mapping[str, pa.Array | Sequence[Any]]:
    """Read some lines column by column if all are valid, else line by line.

    Args:
        lines: The lines.
        lengths: Their lengths in bytes.
        max_line_bytes: Longer lines are rejected unread.
        read_columns: Reads the columns of valid lines; it returns null if a line is invalid.
        read_row: Reads any line, given its length and the limit.
        row: The class of rows.

    Returns:
        The columns of `row`.
    """
    raws = lines.to_pylist()
    if (pc.max(lengths).as_py() or 0) <= max_line_bytes >= (pc.max(pc.binary_length(lines)).as_py() or 0):
        columns = read_columns(raws)
        if columns is not None:
            return columns
    rows = [read_row(raw, length, max_line_bytes) for raw, length in zip(raws, lengths.to_pylist(), strict=True)]
    return columns_of(row, rows)
