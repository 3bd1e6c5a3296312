"""The contract of kernels: whole groups of rows in, rows out, each declared once as a named tuple.

A kernel is a function of a table. `kernel` makes of it the function that an engine calls for each partition: it gathers
the rows, casts them, checks nulls, leaves out groups above a limit, and makes batches of the result.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import chain, groupby
from typing import Any

import numpy as np
import pyarrow as pa

from dbt_tangles.kernel_runtime import output, row_schema
from dbt_tangles.kernel_runtime.rows_on_disk import NO_LIMIT, hold_rows

#: Rows that become named tuples at once.
ROWS_AT_ONCE = 1_000

Rows = pa.Table | Iterable[pa.RecordBatch]


def kernel(
    keys: Sequence[str],
    reads: type,
    writes: type,
    order: Sequence[str] | None = None,
    appends: bool = False,
    too_large: Callable[[pa.RecordBatch], Mapping[str, Any]] | None = None,
    context: str | None = None,
) -> Callable[[Callable], Callable]:
    """Make a kernel from a function of a table, or of the rows of a group.

    The function gets the rows of whole groups in any order: the columns of `reads`, with its types; a column that may
    be null and is absent from the input is null. It returns or yields mappings of columns (see `output.batches_of`).
    For a kernel that appends, it returns one mapping, with a value for each row of the table. With an `order`, it gets
    a list of instances of `reads` instead, the rows of one group at a time, and yields instances of `writes`.

    The kernel takes a table or batches, `group_limit` (the maximum number of rows of a group), `rows_in_memory`, and
    the options of the function. Its attributes `keys`, `reads` and `writes` are the key columns and the schemas.

    Args:
        keys: The key columns of a group; null is a value.
        reads: The named tuple of an input row. A field without None among its types must not be null.
        writes: The named tuple of a result row.
        order: The columns by which the rows of a group are sorted. The keys are the first fields of `reads` then.
        appends: Whether the result is each input row, with all its columns, and the columns of `writes`. Columns of
            `writes` that the function leaves out are those of the input.
        too_large: Makes columns of the results of rows of groups above the limit, which the function does not get;
            other columns are null. By default, these groups have no result.
        context: A column. Rows where it is true, or has a value of another type, belong to their group, but do not
            count for the limit, and the result leaves them out.
    """
    read, written = row_schema.schema_of(reads), row_schema.schema_of(writes)

    def decorate(function: Callable) -> Callable:
        @wraps(function)
        def run(
            rows: Rows, *arguments: Any, group_limit: int = NO_LIMIT, rows_in_memory: int = NO_LIMIT, **options: Any
        ) -> Iterator[pa.RecordBatch]:
            table = _gather(rows, reads, read, appends, rows_in_memory)
            is_result = ~_is_true(table, context)
            is_large = _are_large(table, keys, group_limit, is_result)
            if is_large.any():
                for batch in _filtered(table, is_large & is_result) if too_large else ():
                    yield from _append(pa.Table.from_batches([batch]), too_large(batch), written)
                table = hold_rows(_filtered(table, ~is_large), table.schema, rows_in_memory)
                is_result = is_result[~is_large]
            if len(table) and order is not None:
                groups = _sorted_groups(table, reads, len(keys), order)
                found = chain.from_iterable(function(group, *arguments, **options) for group in groups)
                yield from row_schema.batches_of_rows(writes, found)
            elif len(table):
                found = function(table, *arguments, **options)
                for each in [found] if isinstance(found, Mapping) else found:
                    yield from _append(table, each, written, is_result) if appends else output.batches_of(each, written)

        run.keys, run.reads, run.writes = list(keys), read, written
        return run

    return decorate


def _gather(rows: Rows, row: type, schema: pa.Schema, keep_all: bool, rows_in_memory: int) -> pa.Table:
    """Collect the rows with the types of the schema, and further columns if they are to be kept."""
    required = row_schema.required_columns(row)

    def conform(batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True)) if keep_all else {}
        for field in schema:
            is_given = field.name in batch.schema.names
            column = batch[field.name] if is_given else pa.nulls(len(batch), field.type)
            columns[field.name] = column if column.type == field.type else column.cast(field.type)
            if field.name in required and columns[field.name].null_count:
                raise ValueError(f"a {field.name} is null or absent: each {row.__name__} needs one")
        return pa.RecordBatch.from_pydict(columns)

    batches = rows.to_batches() if isinstance(rows, pa.Table) else rows
    conformed = map(conform, filter(len, batches))
    first = next(conformed, None)
    if first is None:  # for an empty partition Spark may omit the columns
        return schema.empty_table()
    return hold_rows(chain([first], conformed), first.schema, rows_in_memory)


def _is_true(table: pa.Table, name: str | None) -> np.ndarray:
    """Say of each row whether a column is true, or has a value if it is of another type: bool[rows]."""
    if name not in table.column_names:
        return np.zeros(len(table), np.bool_)
    column = table[name]
    return (column.fill_null(False) if pa.types.is_boolean(column.type) else column.is_valid()).to_numpy()


def _are_large(table: pa.Table, keys: Sequence[str], limit: int, is_counted: np.ndarray) -> np.ndarray:
    """Mark the rows of groups with more rows that count than a limit: bool[rows]."""
    if len(table) <= limit:
        return np.zeros(len(table), np.bool_)
    group = np.zeros(len(table), np.int64)
    for name in keys:
        column = table[name].dictionary_encode("encode").combine_chunks()
        code = column.indices.to_numpy().astype(np.int64)
        group = np.unique(group * len(column.dictionary) + code, return_inverse=True)[1]
    return np.bincount(group, is_counted)[group] > limit


def _filtered(table: pa.Table, is_kept: np.ndarray) -> Iterator[pa.RecordBatch]:
    begin = 0
    for batch in table.to_batches():
        part = batch.filter(pa.array(is_kept[begin : begin + len(batch)]))
        begin += len(batch)
        if len(part):
            yield part


def _append(
    table: pa.Table, columns: Mapping[str, Any], written: pa.Schema, is_result: np.ndarray | None = None
) -> Iterator[pa.RecordBatch]:
    """Append the columns of the result to the rows of a table; leave out rows that are not of the result."""
    kept = [name for name in table.column_names if name not in written.names or name not in columns]
    added = pa.schema([field for field in written if field.name not in kept])
    output.length_of(columns, added, len(table))
    at = 0
    for batch in table.to_batches():
        rows = batch.select(kept)
        for begin, end in output.cuts(columns, at, at + len(batch)):
            arrays = [*rows.slice(begin - at, end - begin).columns, *output.arrays_of(columns, added, begin, end)]
            made = pa.RecordBatch.from_arrays(arrays, schema=pa.schema([*rows.schema, *added]))
            made = made if is_result is None else made.filter(pa.array(is_result[begin:end]))
            if len(made):
                yield made
        at += len(batch)


def _sorted_groups(table: pa.Table, row: Any, keys: int, order: Sequence[str]) -> Iterator[list[Any]]:
    """Yield the rows of each group, sorted."""
    # Sorting joins the chunks of a column, which may have two gigabytes.
    wide = table.cast(pa.schema([(field.name, _wide(field.type)) for field in table.schema]))
    ordered = wide.sort_by([(name, "ascending") for name in (*row._fields[:keys], *order)])
    rows = row_schema.rows_of(ordered.to_batches(ROWS_AT_ONCE), row)
    for _, group in groupby(rows, key=lambda each: each[:keys]):
        yield list(group)


def _wide(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_list(kind):
        return pa.large_list(_wide(kind.value_type))
    return pa.large_string() if pa.types.is_string(kind) else kind
