"""Casts the rows of a kernel to the columns of a table, on a worker."""

from collections.abc import Callable, Iterator

import pyarrow as pa


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


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)
