"""Sorts the rows for a kernel and casts its results to the columns of a table, on a worker."""

from collections.abc import Callable, Iterator

import pyarrow as pa

#: Rows of the batches that a kernel gets after sorting.
ROWS_PER_BATCH = 10_000


def run(
    batches: Iterator[pa.RecordBatch],
    kernel: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Yield a kernel's rows with the columns and types of a schema."""
    for batch in kernel(batches):
        yield pa.RecordBatch.from_arrays(
            [_cast(batch.column(field.name), field.type) for field in schema], schema=schema
        )


def sort_first(
    batches: Iterator[pa.RecordBatch],
    kernel: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    order: list[str],
) -> Iterator[pa.RecordBatch]:
    """Call a kernel with the rows sorted by some columns."""
    found = [batch for batch in batches if batch.num_rows]
    if found:
        rows = pa.Table.from_batches(found).sort_by([(name, "ascending") for name in order])
        yield from kernel(iter(rows.to_batches(ROWS_PER_BATCH)))


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)
