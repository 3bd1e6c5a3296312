"""Items and faults as columns of the answer, nested in the rows of their messages, which stand by place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbt_tangles.graph.arrays import starts, sums
from dbt_tangles.graph.members import whole
from dbt_tangles.pzp.items import are_strings, item_texts
from dbt_tangles.sets.deciding import Deciding
from dbt_tangles.sets.faults import NO_ITEM, RULES, Faults


def item_column(
    add: pa.ChunkedArray,
    row_count: int,
    set_of: np.ndarray,
    item_start: np.ndarray,
    entry: np.ndarray,
    by: np.ndarray,
    place_left: np.ndarray,
    kept_by: pa.Array,
) -> pa.Array:
    """List the present items that each message put where they are.

    Args:
        add: The column of added tokens, by row.
        row_count: How many messages there are.
        set_of: int32[messages].
        item_start: int64[sets + 1], into the items.
        entry: int64[items], into the tokens of `add`; the items of a set in their order.
        by: int32[items], the message, ascending.
        place_left: int32[items], the place in the order that is left after pruning, or -1.
        kept_by: list<string>[items].
    """
    position = np.arange(len(entry)) - item_start[set_of[by]]
    tokens = pa.chunked_array(_entries(add), add.type.value_type)
    texts = item_texts(whole(tokens, len(entry)).take(pa.array(entry)))
    items = pa.StructArray.from_arrays(
        [
            pa.array(position.astype(np.int32)),
            texts.cast(pa.large_string()),
            pa.array(place_left, mask=place_left < 0),
            kept_by,
        ],
        ["item_position", "item", "position_left", "kept_by"],
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
    has_none = faults.code == NO_ITEM
    entry = np.zeros(count, np.int64)
    entry[~has_none] = first_entry[faults.code[~has_none]]
    texts = item_texts(whole(tokens, count).take(pa.array(entry, mask=has_none)))
    left_out = id_lists(ids, row, faults.left_start, faults.left_out)
    rules = pa.array(RULES, pa.string()).take(pa.array(faults.rule))
    rows = pa.StructArray.from_arrays([texts.cast(pa.large_string()), rules, left_out], ["item", "rule", "left_out"])
    return pa.ListArray.from_arrays(_offsets(faults.message, len(row)), rows)


def next_column(
    add: pa.ChunkedArray,
    deleted: pa.ChunkedArray,
    ids: pa.ChunkedArray,
    row: np.ndarray,
    first_entry: np.ndarray,
    named: int,
    deciding: Deciding,
) -> pa.Array:
    """List what whoever touches an item next supersedes, at the message that decides on it.

    Args:
        add: The column of added tokens, by row.
        deleted: The column of deleted ones.
        ids: The column of message ids, by row.
        row: int32[messages].
        first_entry: int64[codes], an entry of each item among those of `add`, then `deleted`.
        named: The codes below are of items that another message can name.
        deciding: What was found, by message.
    """
    is_named = deciding.code < named
    items = deciding.code[is_named]
    tokens = pa.chunked_array([*_entries(add), *_entries(deleted)], add.type.value_type)
    tokens = whole(tokens, len(items)).take(pa.array(first_entry[items]))
    is_of_named = np.repeat(is_named, np.diff(deciding.deepest_start))
    is_open = is_of_named & deciding.is_open
    lists = [
        id_lists(ids, row, starts(sums(kept, deciding.deepest_start)[is_named]), deciding.deepest[kept])
        for kept in (is_of_named, is_open)
    ]
    columns = [item_texts(tokens).cast(pa.large_string()), pa.array(are_strings(tokens)), *lists]
    rows = pa.StructArray.from_arrays(columns, ["item", "is_string", "deepest", "open_deletions"])
    return pa.ListArray.from_arrays(_offsets(deciding.message[is_named], len(row)), rows)


def id_lists(ids: pa.ChunkedArray, row: np.ndarray, start: np.ndarray, messages: np.ndarray) -> pa.Array:
    """Make lists of ids out of lists of messages.

    Args:
        ids: The column of message ids, by row.
        row: int32[messages of all sets].
        start: int64[lists + 1], into `messages`.
        messages: int32[...].
    """
    names = whole(ids, len(messages)).take(pa.array(row[messages]))
    return pa.ListArray.from_arrays(pa.array(start.astype(np.int32)), names.cast(pa.large_string()))


def _entries(column: pa.ChunkedArray) -> list[pa.Array]:
    return [chunk.flatten() for chunk in column.chunks]


def _offsets(owner: np.ndarray, owners: int) -> pa.Array:
    offsets = np.zeros(owners + 1, np.int32)
    np.cumsum(np.bincount(owner, minlength=owners), out=offsets[1:])
    return pa.array(offsets)
