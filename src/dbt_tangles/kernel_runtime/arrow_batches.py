"""What every function over the batches of a Spark partition does."""

from collections.abc import Iterable, Iterator

import pyarrow as pa

#: How many rows go back to Spark at a time.
ROWS_PER_BATCH = 50_000


def collect(batches: Iterator[pa.RecordBatch]) -> pa.Table | None:
    """Collect the rows of a partition as one table; None where it has none, as Spark may not even name the columns."""
    found = [batch for batch in batches if batch.num_rows]
    return pa.Table.from_batches(found) if found else None


def beside(batches: Iterable[pa.RecordBatch], table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yield batches with the columns of a table behind theirs, row by row."""
    begin = 0
    for batch in batches:
        found = table.slice(begin, len(batch))
        columns = [*batch.columns, *(column.combine_chunks() for column in found.columns)]
        yield pa.RecordBatch.from_arrays(columns, schema=pa.schema([*batch.schema, *table.schema]))
        begin += len(batch)


def refused(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, reason: str, known: str, code: str
) -> Iterator[pa.RecordBatch]:
    """Yield batches with columns behind theirs that are null, but for the reason.

    Args:
        batches: Some rows.
        schema: Of the columns behind.
        reason: Which of them is the reason.
        known: The column that has a reason already, or null.
        code: The reason where it is null.
    """
    for batch in batches:
        columns = [pa.nulls(len(batch), field.type) for field in schema]
        columns[schema.get_field_index(reason)] = batch[known].cast(pa.string()).fill_null(code)
        yield from beside([batch], pa.table(columns, schema=schema))
