"""The whole groups of a table as rows in Python, one group at a time."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa

from dbt_tangles.kernel_runtime.row_schema import rows_of

#: Rows that are converted at once.
ROWS_AT_ONCE = 1_000


def sorted_groups(table: pa.Table, row: Any, keys: int, order: Sequence[str]) -> Iterator[list[Any]]:
    """Yield the rows of each group, sorted.

    Args:
        table: Rows of whole groups, in any order.
        row: The named tuple of a row. Its first fields are the key of a group.
        keys: The number of fields of the key.
        order: The columns by which the rows of a group are sorted.
    """
    # Sorting joins the chunks of a column, which may have two gigabytes.
    wide = table.cast(pa.schema([(field.name, _wide(field.type)) for field in table.schema]))
    ordered = wide.sort_by([(name, "ascending") for name in (*row._fields[:keys], *order)])
    for _, rows in groupby(rows_of(ordered.to_batches(ROWS_AT_ONCE), row), key=lambda each: each[:keys]):
        yield list(rows)


def _wide(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_list(kind):
        return pa.large_list(_wide(kind.value_type))
    return pa.large_string() if pa.types.is_string(kind) else kind
