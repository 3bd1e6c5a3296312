"""What every check of a log's lines takes, and how it goes through them."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: The longest line that is read, in bytes.
MAX_LINE_BYTES = 2**21

#: Where a line is; what the checks pass on.
PLACE = (
    pa.field("source_file", pa.string()),
    pa.field("block_start", pa.int64()),
    pa.field("row_id", pa.int64()),
)

#: `raw` may be cut by the caller where `raw_length`, in bytes, exceeds the longest line that is read.
INPUT_SCHEMA = pa.schema([*PLACE, pa.field("raw", pa.binary()), pa.field("raw_length", pa.int64())])

#: May come with the lines. Where `fault` is not null a row is no line: it says what is wrong with its file.
FAULT = (pa.field("fault", pa.string()), pa.field("fault_detail", pa.string()))

# A batch of more bytes is worked on in slices of few rows, so that no column outgrows Arrow's 32-bit offsets.
SLICE_BYTES = 2**26
SLICE_ROWS = 32


def check_in_turns(
    batches: Iterator[pa.RecordBatch],
    check_turn: Callable[[pa.Array, pa.Array], list[pa.Array]],
    turn_rows: int,
    schema: pa.Schema,
    reason: str = "reject_reason",
) -> Iterator[pa.RecordBatch]:
    """Check the lines of a log, some at a time.

    Args:
        batches: Record batches with the columns of `INPUT_SCHEMA`, and perhaps those of `FAULT`.
        check_turn: Takes some lines and their lengths, and returns the columns of `schema` behind `PLACE`.
        turn_rows: How many lines at most it is given.
        schema: Of the result, `PLACE` first.
        reason: The column of the result that says why a line is not used.

    Yields:
        Record batches of `schema`: one row for each input row, in the same order. A very large batch comes back as
        several. A row about a file is that of an empty line, but for `reason`, which is the fault, and `detail` if the
        result has that column.
    """
    for batch in batches:
        rows = SLICE_ROWS if batch.nbytes > SLICE_BYTES else max(batch.num_rows, 1)
        for start in range(0, max(batch.num_rows, 1), rows):
            part = batch.slice(start, rows)
            places = [_cast(part.column(field.name), field.type) for field in PLACE]
            lines, lengths = part.column("raw"), part.column("raw_length")
            turns = [
                check_turn(lines.slice(first, turn_rows), lengths.slice(first, turn_rows))
                for first in range(0, max(len(lines), 1), turn_rows)
            ]
            results = [pa.concat_arrays(column) for column in zip(*turns, strict=True)]
            checked = pa.RecordBatch.from_arrays(places + results, schema=schema)
            yield _with_faults(checked, part, {reason: "fault", "detail": "fault_detail"})


def _with_faults(checked: pa.RecordBatch, part: pa.RecordBatch, columns: dict[str, str]) -> pa.RecordBatch:
    if "fault" not in part.schema.names or part.column("fault").null_count == part.num_rows:
        return checked
    arrays = dict(zip(checked.schema.names, checked.columns, strict=True))
    for name in columns.keys() & arrays.keys():
        arrays[name] = pc.coalesce(_cast(part.column(columns[name]), pa.string()), arrays[name])
    return pa.RecordBatch.from_arrays(list(arrays.values()), schema=checked.schema)


def column_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Make a column of some values.

    Args:
        values: One for each row. Lists are lists or tuples, or None; structs are tuples, in the order of their fields.
        kind: Its type. A nested column is built from its flat parts, which is much cheaper than value by value.
    """
    if pa.types.is_list(kind):
        offsets = np.zeros(len(values) + 1, np.int32)
        np.cumsum([len(entries) if entries else 0 for entries in values], out=offsets[1:])
        # Arrow takes a list to be null where its first offset is.
        is_null = np.array([entries is None for entries in values] + [False])
        flat = column_of(list(chain.from_iterable(filter(None, values))), kind.value_type)
        starts = pa.array(offsets, mask=is_null) if is_null.any() else pa.array(offsets)
        return pa.ListArray.from_arrays(starts, flat, type=kind)
    if pa.types.is_struct(kind):
        parts = zip(*values, strict=True) if values else [()] * kind.num_fields
        arrays = [column_of(part, field.type) for part, field in zip(parts, kind, strict=True)]
        return pa.StructArray.from_arrays(arrays, fields=list(kind))
    return pa.array(values, kind)


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)
