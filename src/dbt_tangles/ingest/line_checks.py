"""Runs a check over batches of a log's lines: input and output schemas, slices, and rows about files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.kernel_runtime.row_schema import array_of, fields_of

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

#: Optional input columns. A row with a `fault` is about a file instead of a line, and states the fault.
FAULT = (pa.field("fault", pa.string()), pa.field("fault_detail", pa.string()))

# A larger batch is processed in slices of few rows, so that columns stay within Arrow's 32-bit offsets.
SLICE_BYTES = 2**26
SLICE_ROWS = 32


@dataclass(frozen=True, kw_only=True)
class LineOptions:
    """Options for checking the lines of any log."""

    max_line_bytes: int = MAX_LINE_BYTES  # Longer lines are rejected unread


def schema_of(row: type) -> pa.Schema:
    """Return the schema of checked lines: place, digest, and the fields of the row class."""
    return pa.schema([*PLACE, DIGEST, *fields_of(row)])


def check_in_turns(
    batches: Iterator[pa.RecordBatch],
    check_turn: Callable[[pa.Array, pa.Array], Mapping[str, pa.Array | Sequence[Any]]],
    turn_rows: int,
    schema: pa.Schema,
    reason: str = "reject_reason",
) -> Iterator[pa.RecordBatch]:
    """Check the lines of a log, a limited number at a time.

    Args:
        batches: Record batches with the columns of `INPUT_SCHEMA`, and optionally `DIGEST` and those of `FAULT`. A byte
            order mark before a line, as where files were joined, is taken off.
        check_turn: Takes some lines and their lengths, and returns columns by name, as arrays or as inputs of
            `array_of`. Missing columns are null.
        turn_rows: The most lines per call.
        schema: The schema of the result, see `schema_of`.
        reason: The column of the result with the reason why a line is rejected.

    Yields:
        Record batches of `schema`: one row per input row, in the same order; a very large batch is divided. A row about
            a file equals that of an empty line, except that `reason` is the fault, and `detail`, if the result has this
            column, its detail.
    """
    results = list(schema)[len(PLACE) + 1 :]
    for batch in batches:
        rows = SLICE_ROWS if batch.nbytes > SLICE_BYTES else max(batch.num_rows, 1)
        for start in range(0, max(batch.num_rows, 1), rows):
            part = batch.slice(start, rows)
            places = [_cast(part.column(field.name), field.type) for field in PLACE]
            digests = part.column(DIGEST.name) if DIGEST.name in part.schema.names else pa.nulls(len(part))
            places.append(_cast(digests, DIGEST.type))
            lines, lengths = _without_marks(part.column("raw")), part.column("raw_length")
            turns = []
            for first in range(0, max(len(lines), 1), turn_rows):
                turn = lines.slice(first, turn_rows)
                turns.append(_arrays(check_turn(turn, lengths.slice(first, turn_rows)), results, len(turn)))
            joined = [pa.concat_arrays(column) for column in zip(*turns, strict=True)]
            checked = pa.RecordBatch.from_arrays(places + joined, schema=schema)
            yield _with_faults(checked, part, {reason: "fault", "detail": "fault_detail"})


def _without_marks(lines: pa.Array) -> pa.Array:
    if not pc.any(pc.starts_with(lines, BYTE_ORDER_MARK)).as_py():
        return lines
    # A mark alone stays, so that the detail of its rejection names it.
    rests = ((line, line and line.removeprefix(BYTE_ORDER_MARK)) for line in lines.to_pylist())
    return pa.array([rest or line for line, rest in rests], lines.type)


def _arrays(columns: Mapping[str, pa.Array | Sequence[Any]], fields: Sequence[pa.Field], count: int) -> list[pa.Array]:
    arrays = []
    for field in fields:
        values = columns.get(field.name)
        if values is None:
            arrays.append(pa.nulls(count, field.type))
        else:
            arrays.append(values if isinstance(values, pa.Array) else array_of(values, field.type))
    return arrays


def _with_faults(checked: pa.RecordBatch, part: pa.RecordBatch, columns: dict[str, str]) -> pa.RecordBatch:
    if "fault" not in part.schema.names or part.column("fault").null_count == part.num_rows:
        return checked
    arrays = dict(zip(checked.schema.names, checked.columns, strict=True))
    for name in columns.keys() & arrays.keys():
        arrays[name] = pc.coalesce(_cast(part.column(columns[name]), pa.string()), arrays[name])
    return pa.RecordBatch.from_arrays(list(arrays.values()), schema=checked.schema)


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)
