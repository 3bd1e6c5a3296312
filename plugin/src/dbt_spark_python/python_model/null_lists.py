"""Passes null lists to Python quickly: as empty lists, beside a column that marks the null ones.

Spark does not tell Arrow that a list is null, and asks at each row for the size of the batch (4.3, with Arrow 19).
Arrow then walks all rows since the last list that is not null, so the time grows with the square of the batch size.
This module restores the nulls on the worker.
"""

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

#: The marker column: bit n is set if the n-th list of the row is null.
NULL_LISTS = "__null_lists"

Batches = Iterator[pa.RecordBatch]


def call(batches: Batches, function: Callable[[Batches], Batches], lists: Sequence[str]) -> Batches:
    """Call a function with the original batches, in which null lists are null again.

    Args:
        batches: Batches with `NULL_LISTS` as their last column.
        function: Takes batches without that column.
        lists: The list columns, in the order of the bits.
    """
    return function(restore(batch, lists) for batch in batches)


def restore(batch: pa.RecordBatch, lists: Sequence[str]) -> pa.RecordBatch:
    """Set the marked lists to null; the arguments are those of `call`."""
    bits = batch.column(NULL_LISTS)
    fields, columns = [], []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if field.name in lists:
            field = field.with_nullable(True)  # in every batch, so that all batches have the same schema
            is_null = pc.not_equal(pc.bit_wise_and(bits, 1 << lists.index(field.name)), 0)
            if is_null.true_count:
                column = pc.if_else(is_null, pa.scalar(None, column.type), column)
        if field.name != NULL_LISTS:
            fields.append(field)
            columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
