"""What a partition of whole groups does on a worker: digest each group, and hand all of them to a kernel."""

import hashlib
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Batches = Iterator[pa.RecordBatch]


def reduce_partition(
    batches: Batches,
    keys: list[str],
    row: str,
    kernel: Callable[[Batches], Batches],
    schema: pa.Schema,
    looked_at: Callable[[Batches], Batches] | None = None,
) -> Batches:
    """Yield what a kernel makes of whole groups of rows, each row of it with the digest of its group.

    Args:
        batches: The rows of a partition. Those of a group are all here.
        keys: The columns that name a group; what the kernel returns has them too.
        row: The column with the digest of a row, binary, which the kernel does not get. A row without one does not
            count in the digest of its group.
        kernel: Takes the rows and returns rows; of columns that the result does not have no use is made.
        schema: Of the result; the digest is the last column.
        looked_at: Leaves groups out of the rows of which the kernel would make none, before all rows are held.

    Raises:
        ValueError: The kernel returned a row of a group that is not here.
    """
    found = [batch for batch in (looked_at(batches) if looked_at else batches) if batch.num_rows]
    if not found:
        return
    table = pa.Table.from_batches(found)
    names, digests = digest_groups(table, keys, row)
    groups = _Groups(names, keys)
    for batch in kernel(iter(table.drop_columns(row).to_batches())):
        place = groups.find(batch)
        if place.null_count:
            raise ValueError(f"a kernel returned a row of a group that it was not given: {', '.join(keys)}")
        columns = [_cast(batch.column(field.name), field.type) for field in list(schema)[:-1]]
        yield pa.RecordBatch.from_arrays([*columns, digests.take(place)], schema=schema)


def digest_groups(table: pa.Table, keys: list[str], row: str) -> tuple[pa.Table, pa.Array]:
    """Digest the groups of a table: the SHA-256 of the digests of their rows, in order, whatever the order of the rows.

    Returns:
        The names of the groups, and a digest of each.
    """
    grouped = table.select([*keys, row]).group_by(keys).aggregate([(row, "list")])
    lists = grouped[f"{row}_list"].combine_chunks()
    lists = lists.chunk(0) if isinstance(lists, pa.ChunkedArray) else lists
    offsets = lists.offsets.to_numpy()
    rows = lists.values.to_pylist()
    digests = [
        hashlib.sha256(b"".join(sorted(filter(None, rows[start:end])))).digest() for start, end in pairwise(offsets)
    ]
    return grouped.select(keys), pa.array(digests, pa.binary())


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)


class _Groups:
    """Finds groups by their keys, each of which is looked up by itself: no two groups get one name."""

    def __init__(self, names: pa.Table, keys: list[str]) -> None:
        self._keys = keys
        self._values = [pc.unique(names[key]) for key in keys]
        self._codes = pa.array(self._encode(names))

    def find(self, batch: pa.RecordBatch) -> pa.Array:
        """The place of each row's group, null for a group that is not here."""
        return pc.index_in(pa.array(self._encode(batch)), self._codes)

    def _encode(self, rows: pa.Table | pa.RecordBatch) -> np.ndarray:
        codes = np.zeros(rows.num_rows, np.int64)
        is_known = np.ones(rows.num_rows, bool)
        for key, values in zip(self._keys, self._values, strict=True):
            place = pc.index_in(rows.column(key), values)
            place = pc.fill_null(place, -1).to_numpy(zero_copy_only=False).astype(np.int64)
            is_known &= place >= 0
            codes = codes * len(values) + place
        return np.where(is_known, codes, -1)
