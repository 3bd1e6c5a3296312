"""Items and faults as columns of the answer, nested in the rows of their messages, which stand by place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbt_tangles.graph.members import whole
from dbt_tangles.pzp.items import item_texts
from dbt_tangles.sets.faults import RULES, Faults


def item_column(
    add: pa.ChunkedArray, row_count: int, set_of: np.ndarray, item_start: np.ndarray, entry: np.ndarray, by: np.ndarray
) -> pa.Array:
    """List the present items that each message put where they are.

    Args:
        add: The column of added tokens, by row.
        row_count: How many messages there are.
        set_of: int32[messages].
        item_start: int64[sets + 1], into the items.
        entry: int64[items], into the tokens of `add`; the items of a set in their order.
        by: int32[items], the message, ascending.
    """
    position = np.arange(len(entry)) - item_start[set_of[by]]
    tokens = pa.chunked_array(_entries(add), add.type.value_type)
    texts = item_texts(whole(tokens, len(entry)).take(pa.array(entry)))
    items = pa.StructArray.from_arrays(
        [pa.array(position.astype(np.int32)), texts.cast(pa.large_string())], ["item_position", "item"]
    )
    return pa.ListArray.from_arrays(_offsets(by, row_count), items)


def fault_column(
    add: pa.ChunkedArray,
    deleted: pa.ChunkedArray,
    ids: pa.ChunkedArray,
    row: np.ndarray,
    first_entry: np.ndarray,
    faults: Faults,
) -> pa.Array:
    """List the faults of each message.

    Args:
        add: The column of added tokens, by row.
        deleted: The column of deleted ones.
        ids: The column of message ids, by row.
        row: int32[messages].
        first_entry: int64[codes], an entry of each item among those of `add`, then `deleted`.
        faults: What `writer_faults` found, by message.
    """
    count = len(faults.code)
    tokens = pa.chunked_array([*_entries(add), *_entries(deleted)], add.type.value_type)
    texts = item_texts(whole(tokens, count).take(pa.array(first_entry[faults.code])))
    names = whole(ids, len(faults.left_out)).take(pa.array(row[faults.left_out]))
    left_out = pa.ListArray.from_arrays(pa.array(faults.left_start.astype(np.int32)), names.cast(pa.large_string()))
    rules = pa.array(RULES, pa.string()).take(pa.array(faults.rule))
    rows = pa.StructArray.from_arrays([texts.cast(pa.large_string()), rules, left_out], ["item", "rule", "left_out"])
    return pa.ListArray.from_arrays(_offsets(faults.message, len(row)), rows)


def _entries(column: pa.ChunkedArray) -> list[pa.Array]:
    return [chunk.flatten() for chunk in column.chunks]


def _offsets(owner: np.ndarray, owners: int) -> pa.Array:
    offsets = np.zeros(owners + 1, np.int32)
    np.cumsum(np.bincount(owner, minlength=owners), out=offsets[1:])
    return pa.array(offsets)
