"""Rows of `results`: their schema, and the ids of nodes and writers in them."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase.base_graphs import Bases
from dbt_tangles.algorithms.autobase.bases import NumberedBases
from dbt_tangles.kernel_runtime.output import ROWS_PER_BATCH

SETTLED = pa.list_(pa.struct([("node_id", pa.string()), ("contender", pa.string())]))
RESULT_SCHEMA = pa.schema(
    [
        ("base_id", pa.string()),
        ("row_kind", pa.string()),
        ("observer", pa.string()),
        ("node_id", pa.string()),
        ("degree", pa.int32()),
        ("position", pa.int32()),
        ("is_confirmed", pa.bool_()),
        ("reached_by", pa.string()),
        ("writers", pa.list_(pa.string())),
        ("old_length", pa.int32()),
        ("kept", pa.int32()),
        ("undone", pa.int32()),
        ("appended", pa.int32()),
        ("settled", SETTLED),
        ("left_out", pa.int32()),
        ("reason", pa.string()),
        ("contender", pa.string()),
        ("awaited_merge", pa.string()),
    ]
)

#: The observer that knows all nodes of a base.
ALL = "all"


class Part(NamedTuple):
    """Some neighbouring bases with clocks, and the columns that name their nodes and writers."""

    table: pa.Table  # All input rows
    numbered: NumberedBases  # All bases
    begin: int  # The number of the first base
    bases: Bases  # The bases
    follower: np.ndarray  # int32[...], of `base_graphs.first_followers`

    def rows_of(self, base: np.ndarray | int, node: np.ndarray) -> np.ndarray:
        """Return the input rows of nodes of bases, and -1 for -1."""
        low = self.numbered.graphs.base_start[self.begin]
        row = self.numbered.row[low + self.bases.base_start[base] + np.maximum(node, 0)]
        return np.where(node < 0, -1, row)


def rows(part: Part, kind: str, count: int, make: Callable[[np.ndarray], dict]) -> Iterator[pa.RecordBatch]:
    """Make rows of a kind; `make` returns the columns of some of them: `base_id` and other rows to take ids from."""
    ids, base_ids = part.table["node_id"], part.table["base_id"]
    for begin in range(0, count, ROWS_PER_BATCH):
        at = np.arange(begin, min(begin + ROWS_PER_BATCH, count))
        columns = {"observer": pa.repeat(ALL, len(at)), "degree": pa.repeat(0, len(at)), **make(at)}
        columns["base_id"] = base_ids.take(pa.array(columns["node_id"]))
        columns["row_kind"] = pa.repeat(kind, len(at))
        found = []
        for field in RESULT_SCHEMA:
            column = columns.get(field.name)
            if column is None:
                column = pa.nulls(len(at), field.type)
            elif isinstance(column, np.ndarray):
                column = ids.take(pa.array(column, mask=column < 0)) if field.type == pa.string() else pa.array(column)
            found.append(column)
        yield from pa.table(found, RESULT_SCHEMA.names).cast(RESULT_SCHEMA).combine_chunks().to_batches()


def lists(values: pa.Array, start: np.ndarray, at: np.ndarray) -> pa.Array:
    """Make the lists number `at`, which ascend by 1, of values that begin with the first of them."""
    bounds = start[at[0] : at[-1] + 2]
    return pa.ListArray.from_arrays(pa.array((bounds - bounds[0]).astype(np.int32)), values)


def ids_of(part: Part, row: np.ndarray) -> pa.Array:
    """Return the ids of input rows, null for -1."""
    found = part.table["node_id"].take(pa.array(row, mask=row < 0)).combine_chunks()
    return found if isinstance(found, pa.Array) else pa.concat_arrays(found.chunks)
