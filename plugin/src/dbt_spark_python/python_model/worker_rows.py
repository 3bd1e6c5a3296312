"""Runs on a worker between Spark and the function of a model: restores null lists, sorts rows, casts results.

Spark does not tell Arrow that a list is null, and asks at each row for the size of the batch (4.3, with Arrow 19).
Arrow then walks all rows since the last list that is not null, so the time grows with the square of the batch size.
Null lists are therefore sent as empty lists, beside a column that marks them.
"""

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

#: The marker column, the last one: bit n is set if the n-th list of the row is null.
NULL_LISTS = "__null_lists"

#: Rows of the batches that a kernel gets after sorting.
ROWS_PER_BATCH = 10_000

Batches = Iterator[pa.RecordBatch]


def with_null_lists(batches: Batches, function: Callable[[Batches], Batches], lists: Sequence[str]) -> Batches:
    """Call a function with the original batches; `lists` has the names of list columns in the order of the bits."""
    return function(_restore(batch, lists) for batch in batches)


def _restore(batch: pa.RecordBatch, lists: Sequence[str]) -> pa.RecordBatch:
    *fields, _ = batch.schema
    *columns, bits = batch.columns
    for place, field in enumerate(fields):
        if field.name in lists:
            fields[place] = field.with_nullable(True)  # in every batch, so that all batches have the same schema
            is_null = pc.not_equal(pc.bit_wise_and(bits, 1 << lists.index(field.name)), 0)
            if is_null.true_count:
                columns[place] = pc.if_else(is_null, pa.scalar(None, field.type), columns[place])
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def sort_first(batches: Batches, kernel: Callable[[Batches], Batches], order: list[str]) -> Batches:
    """Call a kernel with the rows sorted by some columns."""
    found = [batch for batch in batches if batch.num_rows]
    if found:
        rows = pa.Table.from_batches(found).sort_by([(name, "ascending") for name in order])
        yield from kernel(iter(rows.to_batches(ROWS_PER_BATCH)))


def run(batches: Batches, kernel: Callable[[Batches], Batches], schema: pa.Schema) -> Batches:
    """Yield a kernel's rows with the columns and types of a schema."""
    for batch in kernel(batches):
        columns = [batch.column(field.name).cast(field.type) for field in schema]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
