"""The operations of pzp sets: an operation is a message together with an item that it adds or deletes.

Items are numbered by set, then first operation, and operations by message, so that an item belongs to one set.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.columns.arrays import starts
from dbt_tangles.columns.dense_ids import group_rows
from dbt_tangles.columns.item_tokens import are_unique
from dbt_tangles.columns.strings import strings_of
from dbt_tangles.kernel_runtime.compiled import compiled
from dbt_tangles.kernel_runtime.output import Texts


class Entries(NamedTuple):
    """The additions and deletions of messages, by message; additions come first."""

    owner: np.ndarray  # int64[entries], the message
    deletes: np.ndarray  # bool[entries]
    code: np.ndarray  # int32[entries]; equal codes are equal items, in every set
    token: np.ndarray  # int64[entries], into the tokens

    def where(self, is_kept: np.ndarray) -> "Entries":
        """Select entries, by bool[entries] or their numbers."""
        return Entries(*(part[is_kept] for part in self))


class Operations(NamedTuple):
    """The items of many sets, and the operations on them."""

    item_start: np.ndarray  # int64[sets + 1], into the items
    token: np.ndarray  # int64[items], a token of each item
    first: np.ndarray  # int32[items], the first operation on each item
    latest: np.ndarray  # int32[items], the last one
    adds: np.ndarray  # bool[messages], whether it counts and adds an item
    start: np.ndarray  # int64[messages + 1], into the operations
    message: np.ndarray  # int32[operations]
    item: np.ndarray  # int32[operations]
    deletes: np.ndarray  # bool[operations], whether the message deletes the item, as well if it adds it first
    before: np.ndarray  # int32[operations], the previous operation on the item, or -1


def read_entries(table: pa.Table, row: np.ndarray, counts: np.ndarray) -> tuple[Entries, pa.Array]:
    """Read the additions and deletions of the messages that count, bool[messages]; and the tokens of all messages."""
    chunks = [chunk.flatten() for name in ("add", "del") for chunk in table[name].chunks]
    tokens = Texts(pa.chunked_array(chunks, table["add"].type.value_type)).array
    code, count = group_rows(strings_of(tokens))
    # Items that equal no other item get a code of their own.
    alone = np.flatnonzero(are_unique(tokens))
    code[alone] = np.arange(count, count + len(alone))
    place = np.empty(len(row), np.int64)
    place[row] = np.arange(len(row))
    lengths = [pc.list_value_length(table[name]).fill_null(0).to_numpy() for name in ("add", "del")]
    owner = np.concatenate([np.repeat(place, length) for length in lengths])
    deletes = np.repeat([False, True], [length.sum() for length in lengths])
    order = np.argsort(owner, kind="stable")
    return Entries(owner, deletes, code, np.arange(len(owner))).where(order[counts[owner[order]]]), tokens


def list_operations(entries: Entries, set_of: np.ndarray, sets: int) -> Operations:
    """List the operations of messages by their additions and deletions, each item of a message once.

    Args:
        entries: The additions and deletions, by ascending message.
        set_of: int[messages], the set of each message, ascending.
        sets: The number of sets.
    """
    owner, deletes, code, token = entries
    item_of_entry, first_of_item = _number(set_of[owner].astype(np.int64) * (int(code.max(initial=0)) + 1) + code)
    operation_of_entry, first_of_operation = _number(owner * len(first_of_item) + item_of_entry)
    message = owner[first_of_operation].astype(np.int32)
    item = item_of_entry[first_of_operation].astype(np.int32)
    is_deletion, adds = np.zeros(len(message), np.bool_), np.zeros(len(set_of), np.bool_)
    is_deletion[operation_of_entry[deletes]] = True
    adds[owner[~deletes]] = True
    by_item = np.argsort(item, kind="stable").astype(np.int32)
    is_first = np.diff(item[by_item], prepend=-1) > 0
    before = np.full(len(message), np.int32(-1))
    before[by_item[~is_first]] = by_item[np.flatnonzero(~is_first) - 1]
    is_last = np.append(is_first[1:], True)[: len(is_first)]  # without operations there is no last one
    first, latest = by_item[is_first], by_item[is_last]
    item_start = np.searchsorted(set_of[message[first]], np.arange(sets + 1))
    start = np.searchsorted(message, np.arange(len(set_of) + 1))
    return Operations(item_start, token[first_of_item], first, latest, adds, start, message, item, is_deletion, before)


def _number(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number keys by first appearance: int64[keys], the number of each; int64[distinct], the first of each number."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return number[inverse], first[order]


@compiled
def insertions(operations, counted):
    """Find the operation that put each item into its set: int32[items], -1 for an item that is not in the set.

    The additions, then the deletions of each message are applied in reduction order. Adding a present item changes
    nothing. An item that is deleted and added again moves to the end. Only messages that are `counted` bool[messages]
    are applied.

    Source: pzp-set 1.0.1, values.
    """
    inserted = np.full(len(operations.latest), np.int32(-1))
    for t in range(len(operations.message)):
        if counted[operations.message[t]]:
            i = operations.item[t]
            if operations.deletes[t]:
                inserted[i] = -1
            elif inserted[i] < 0:
                inserted[i] = t
    return inserted


def positions(operations: Operations, inserted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order the present items by insertion: int64[present]; int32[items], the position of each in its set, or -1."""
    present = np.argsort(inserted, kind="stable")[np.count_nonzero(inserted < 0) :]
    owner = np.searchsorted(operations.item_start, present, side="right")
    position = np.full(len(inserted), np.int32(-1))
    position[present] = np.arange(len(present)) - np.searchsorted(owner, owner)
    return present, position


def messages_by_item(operations: Operations, is_listed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List the messages of some operations by item, ascending: int64[items + 1], offsets into int32[...]."""
    listed = np.flatnonzero(is_listed)
    item = operations.item[listed]
    by_item = listed[np.argsort(item, kind="stable")]
    return starts(np.bincount(item, minlength=len(operations.latest))), operations.message[by_item]
