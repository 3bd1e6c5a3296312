"""Lists that are null, on their way to Python as empty ones beside a column that says which of them are null.

Spark tells Arrow of no list that is null, and asks at each row how large the batch is (4.3, with Arrow 19). Each time
Arrow goes through all rows since the last list that is not null, so the time of such rows grows with the square of a
batch. This is what a worker does about it.
"""

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

#: The column: its bits say of which of the lists the row has none.
NULL_LISTS = "__null_lists"

Batches = Iterator[pa.RecordBatch]


def call(batches: Batches, function: Callable[[Batches], Batches], lists: Sequence[str]) -> Batches:
    """Call a function with batches as they were before null lists were replaced.

    Args:
        batches: With `NULL_LISTS` as their last column.
        function: Takes batches without it.
        lists: The columns of lists, in the order of the bits.
    """
    return function(restore(batch, lists) for batch in batches)


def restore(batch: pa.RecordBatch, lists: Sequence[str]) -> pa.RecordBatch:
    """Put null where a row has no list; the arguments are those of `call`."""
    bits = batch.column(NULL_LISTS)
    fields, columns = [], []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if field.name in lists:
            field = field.with_nullable(True)  # in every batch, whether it has such rows or not
            is_null = pc.not_equal(pc.bit_wise_and(bits, 1 << lists.index(field.name)), 0)
            if is_null.true_count:
                column = pc.if_else(is_null, pa.scalar(None, column.type), column)
        if field.name != NULL_LISTS:
            fields.append(field)
            columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
