"""Runs a check over batches of a log's lines: input and output schemas, turns, and rows about files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.kernel_runtime import row_schema

#: The longest line that is read, in bytes.
MAX_LINE_BYTES = 2**21

#: Of UTF-8.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: The place of a line; checks pass it on.
PLACE = (
    pa.field("source_file", pa.string()),
    pa.field("line", pa.int64()),
)

#: An optional input column that is passed on: the digest of a line's bytes, null if unknown.
DIGEST = pa.field("line_digest", pa.binary())

#: The required input. The caller may cut `raw` if `raw_length`, in bytes, exceeds the longest line that is read.
INPUT_SCHEMA = pa.schema([*PLACE, pa.field("raw", pa.binary()), pa.field("raw_length", pa.int64())])

# The turns of a larger batch have few rows, so that columns stay within Arrow's 32-bit offsets.
LARGE_BYTES = 2**26
LARGE_ROWS = 32

#: Checks some lines, given their lengths: returns columns by name, as arrays or as Python values. Missing columns
#: are null.
CheckTurn = Callable[[list[bytes | None], list[int | None]], Mapping[str, pa.Array | Sequence[Any]]]


def schema_of(row: type) -> pa.Schema:
    """Return the schema of checked lines: place, digest, and the fields of the row class."""
    return pa.schema([*PLACE, DIGEST, *row_schema.schema_of(row)])


def check_in_turns(
    batches: Iterator[pa.RecordBatch],
    check_turn: CheckTurn,
    turn_rows: int,
    schema: pa.Schema,
    reason: str = "reject_reason",
) -> Iterator[pa.RecordBatch]:
    """Check the lines of a log, a limited number at a time.

    Args:
        batches: Record batches with the columns of `INPUT_SCHEMA`, and optionally `DIGEST`, `fault` and `fault_detail`.
            A row with a `fault` is about a file instead of a line, and states the fault. A byte order mark before a
            line, as where files were joined, is taken off.
        check_turn: See `CheckTurn`.
        turn_rows: The most lines per call.
        schema: The schema of the result, see `schema_of`.
        reason: The column of the result with the reason why a line is rejected.

    Yields:
        A record batch of `schema` for each turn: one row per input row, in the same order. A row about a file equals
            that of an empty line, except that `reason` is the fault, and `detail` its detail.
    """
    for batch in batches:
        rows = LARGE_ROWS if batch.nbytes > LARGE_BYTES else turn_rows
        for start in range(0, max(batch.num_rows, 1), rows):
            yield _check(batch.slice(start, rows), check_turn, schema, reason)


def _check(turn: pa.RecordBatch, check_turn: CheckTurn, schema: pa.Schema, reason: str) -> pa.RecordBatch:
    given = dict(zip(turn.schema.names, turn.columns, strict=True))
    lines = _without_marks(given["raw"])
    columns = {field.name: pa.nulls(len(lines), field.type) for field in schema}
    columns |= check_turn(lines, given["raw_length"].to_pylist())
    columns |= {field.name: given[field.name] for field in (*PLACE, DIGEST) if field.name in given}
    if "fault" in given and given["fault"].null_count < len(lines):
        for name, fault in ((reason, "fault"), ("detail", "fault_detail")):
            columns[name] = pc.coalesce(given[fault].cast(pa.string()), pa.array(columns[name], pa.string()))
    return pa.RecordBatch.from_pydict(columns, schema)


def _without_marks(lines: pa.Array) -> list[bytes | None]:
    raws = lines.to_pylist()
    if pc.any(pc.starts_with(lines, BYTE_ORDER_MARK)).as_py():
        # A mark alone stays, so that the detail of its rejection names it.
        raws = [(raw and raw.removeprefix(BYTE_ORDER_MARK)) or raw for raw in raws]
    return raws
