"""Columns of a result: arrays, texts by row, lists and structs, as Arrow batches of bounded size."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: Maximum number of rows and list entries of a batch, and of bytes of its texts. A larger row has a batch of its own.
ROWS_PER_BATCH = 50_000
MAX_BYTES = 2**30


class Taken(NamedTuple):
    """A column of texts taken from other rows."""

    texts: "Texts"
    row: np.ndarray  # int[rows]; a negative number is null


class Texts:
    """A column of texts that columns of the result take theirs from."""

    def __init__(self, column: pa.ChunkedArray | pa.Array) -> None:
        """Take the texts of a column of any string type."""
        self.array = in_one_piece(column)
        self.longest: int = pc.max(pc.binary_length(self.array)).as_py() or 1

    def at(self, row: np.ndarray) -> Taken:
        """Take the texts of rows: int[rows]; a negative number is null."""
        return Taken(self, row)


def in_one_piece(column: pa.ChunkedArray | pa.Array) -> pa.LargeStringArray:
    """Make one array of a column of texts, with 64-bit offsets: a column may exceed two gigabytes."""
    column = column.cast(pa.large_string())
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


class Nested(NamedTuple):
    """A column of lists."""

    start: np.ndarray  # int64[rows + 1], into the entries
    entries: Any  # Any column; a mapping of columns is a struct
    is_null: np.ndarray | None = None  # bool[rows], lists that are null


def batches_of(columns: Mapping[str, Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Make batches from columns.

    Args:
        columns: By name: a numpy array (if masked, masked values are null), an Arrow array, `Taken`, `Nested`, or one
            value for all rows. Without its column, a field of the schema is null.
        schema: The columns of the result. Values are cast to its types.

    Raises:
        ValueError: A column is not in the schema, or columns differ in length.
    """
    for begin, end in cuts(columns, 0, length_of(columns, schema)):
        yield pa.RecordBatch.from_arrays(arrays_of(columns, schema, begin, end), schema=schema)


def length_of(columns: Mapping[str, Any], schema: pa.Schema, rows: int | None = None) -> int:
    """Return the number of rows of columns, which is `rows` if given; raise an error as `batches_of` does."""
    if unknown := columns.keys() - {*schema.names}:
        raise ValueError(f"{', '.join(sorted(unknown))}: no such column of the result, of {', '.join(schema.names)}")
    lengths = {name: length for name, column in columns.items() if (length := _length(column)) is not None}
    rows = next(iter(lengths.values())) if rows is None else rows
    if {*lengths.values()} - {rows}:
        raise ValueError(f"the columns of a result of {rows} rows differ in length: {lengths}")
    return rows


def cuts(columns: Mapping[str, Any], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a range of rows into ranges of batches."""
    ends, longest = np.arange(begin, end + 1), 1
    for column, before in _levels(columns, ends):
        if isinstance(column, Nested):
            ends = ends + column.start[before]
        elif isinstance(column, Taken):
            longest = max(longest, column.texts.longest)
    room = max(min(ROWS_PER_BATCH, MAX_BYTES // longest), 1)
    at = 0
    while at < end - begin:
        stop = max(int(np.searchsorted(ends, ends[at] + room, side="right")) - 1, at + 1)
        yield begin + at, begin + stop
        at = stop


def arrays_of(columns: Mapping[str, Any], schema: pa.Schema, begin: int, end: int) -> list[pa.Array]:
    """Make the Arrow arrays of a range of rows."""
    return [_array(columns.get(field.name), field.type, begin, end) for field in schema]


def _length(column: Any) -> int | None:
    if isinstance(column, Nested):
        return len(column.start) - 1
    column = column.row if isinstance(column, Taken) else column
    return len(column) if isinstance(column, np.ndarray | pa.Array | pa.ChunkedArray) else None


def _levels(column: Any, places: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
    """List a column and those within it, each with the number of its values before some places: int64[places]."""
    yield column, places
    if isinstance(column, Nested):
        yield from _levels(column.entries, column.start[places])
    elif isinstance(column, Mapping):
        for part in column.values():
            yield from _levels(part, places)


def _array(column: Any, kind: pa.DataType, begin: int, end: int) -> pa.Array:
    """Make the Arrow array of some rows of a column."""
    if isinstance(column, Nested):
        bounds = column.start[begin : end + 1]
        entries = _array(column.entries, kind.value_type, int(bounds[0]), int(bounds[-1]))
        mask = None if column.is_null is None else pa.array(column.is_null[begin:end])
        return pa.ListArray.from_arrays(pa.array((bounds - bounds[0]).astype(np.int32)), entries, kind, mask=mask)
    if isinstance(column, Mapping):
        parts = [_array(column[field.name], field.type, begin, end) for field in kind]
        return pa.StructArray.from_arrays(parts, fields=list(kind))
    if isinstance(column, Taken):
        row = column.row[begin:end]
        return column.texts.array.take(pa.array(row, mask=row < 0)).cast(kind)
    if isinstance(column, np.ndarray):
        return pa.array(column[begin:end]).cast(kind)
    if isinstance(column, pa.Array | pa.ChunkedArray):
        # A cast decodes all values below a list, so chunks are first combined into an array of these rows alone.
        part = column.slice(begin, end - begin)
        return (part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part).cast(kind)
    return pa.repeat(pa.scalar(column, kind), end - begin)
