"""Helpers for functions over the Arrow batches of a Spark partition: collect rows, append columns."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

#: Rows per batch returned to Spark.
ROWS_PER_BATCH = 50_000


def collect(batches: Iterator[pa.RecordBatch]) -> pa.Table | None:
    """Collect the rows of a partition as one table, if it has rows; for an empty one Spark may omit the columns."""
    found = [batch for batch in batches if batch.num_rows]
    return pa.Table.from_batches(found) if found else None


def run_on_partition(
    kernel: Callable[..., Iterator[pa.RecordBatch]], batches: Iterator[pa.RecordBatch], *arguments: Any, **options: Any
) -> Iterator[pa.RecordBatch]:
    """Apply a kernel on whole tables to the rows of a partition, if it has rows; the other arguments are passed on."""
    table = collect(batches)
    if table is not None:
        yield from kernel(table, *arguments, **options)


def append_columns(
    batches: Iterable[pa.RecordBatch], table: pa.Table, schema: pa.Schema | None = None
) -> Iterator[pa.RecordBatch]:
    """Append the columns of a table to batches, row by row; cast them to the types of a schema, if one is given."""
    schema = table.schema if schema is None else schema
    begin = 0
    for batch in batches:
        found = table.slice(begin, len(batch)).columns
        # A cast decodes all values below a list, so chunks are first combined into an array of this batch alone.
        columns = [column.combine_chunks().cast(field.type) for column, field in zip(found, schema, strict=True)]
        yield pa.RecordBatch.from_arrays([*batch.columns, *columns], schema=pa.schema([*batch.schema, *schema]))
        begin += len(batch)
