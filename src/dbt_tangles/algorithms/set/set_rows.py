"""Nests items and writer faults as Arrow lists in the rows of their messages."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.arrays import keep_entries, runs, starts
from dbt_tangles.algorithms.graph.members import single_chunk
from dbt_tangles.algorithms.set.deciding_messages import DecidingMessages
from dbt_tangles.algorithms.set.reachability import Reachability
from dbt_tangles.algorithms.set.writer_faults import NO_ITEM, Faults
from dbt_tangles.algorithms.set.writer_rules import RULES
from dbt_tangles.formats.pzp.items import are_strings, item_texts


class OutputTexts(NamedTuple):
    """The texts that nested columns refer to, and the row order."""

    place: np.ndarray  # int64[messages], the message of each output row
    ids: pa.Array  # string[messages], by message
    items: pa.Array  # string[codes], as the tables show them
    is_string: np.ndarray  # bool[shared codes], whether the item is a string


class PlacedItems(NamedTuple):
    """The present items of many sets."""

    message: np.ndarray  # int32[items], the message that inserted each item, ascending
    code: np.ndarray  # int32[items]
    position: np.ndarray  # int64[items], the position in the set
    position_left: np.ndarray  # int32[items], the position after pruning, or -1


def output_texts(ids: pa.ChunkedArray, row: np.ndarray, tokens: pa.Array, named: int) -> OutputTexts:
    """Collect the texts of ids and items.

    Args:
        ids: The id of each row.
        row: int32[messages].
        tokens: The token of each code.
        named: The codes below this number name items that can occur in several messages.
    """
    place = np.empty(len(row), np.int64)
    place[row] = np.arange(len(row))
    # 64-bit offsets: lists may repeat a text any number of times.
    wide = pa.large_string()
    ids = single_chunk(ids, len(row)).take(pa.array(row)).cast(wide)
    return OutputTexts(place, ids, item_texts(tokens).cast(wide), are_strings(tokens[:named]))


def item_column(texts: OutputTexts, items: PlacedItems, found: Reachability) -> pa.Array:
    """List the present items that each message inserted.

    Args:
        texts: The texts of the sets.
        items: The present items.
        found: The holders of the same items.
    """
    left = items.position_left
    return _nested(
        texts,
        items.message,
        item_position=lambda at: pa.array(items.position[at].astype(np.int32)),
        item=lambda at: texts.items.take(pa.array(items.code[at])),
        position_left=lambda at: pa.array(left[at], mask=left[at] < 0),
        kept_by=lambda at: _id_lists(texts, found.held_start, found.held_by, at),
    )


def fault_column(texts: OutputTexts, faults: Faults) -> pa.Array:
    """List the writer faults of each message."""
    rules = pa.array(RULES, pa.string())
    return _nested(
        texts,
        faults.message,
        item=lambda at: texts.items.take(pa.array(faults.code[at], mask=faults.code[at] == NO_ITEM)),
        rule=lambda at: rules.take(pa.array(faults.rule[at])),
        left_out_ids=lambda at: _id_lists(texts, faults.left_start, faults.left_out, at),
    )


def next_column(texts: OutputTexts, deciding: DecidingMessages) -> pa.Array:
    """List the messages that the next message on an item has to supersede, at the message that decides the item."""
    named = np.flatnonzero(deciding.code < len(texts.is_string))
    code = deciding.code[named]
    open_start, still_open = keep_entries(deciding.deepest_start, deciding.deepest, deciding.is_open)
    return _nested(
        texts,
        deciding.message[named],
        item=lambda at: texts.items.take(pa.array(code[at])),
        is_string=lambda at: pa.array(texts.is_string[code[at]]),
        deepest=lambda at: _id_lists(texts, deciding.deepest_start, deciding.deepest, named[at]),
        open_deletions=lambda at: _id_lists(texts, open_start, still_open, named[at]),
    )


def _nested(texts: OutputTexts, owner: np.ndarray, **fields: Callable[[np.ndarray], pa.Array]) -> pa.Array:
    """Nest entries in the output rows of their messages.

    Args:
        texts: The texts of the sets.
        owner: int32[entries], the message of each entry, ascending.
        fields: For each field, a function from entries to their column.
    """
    start, entry = runs(starts(np.bincount(owner, minlength=len(texts.place))), texts.place)
    columns = [column(entry) for column in fields.values()]
    return pa.ListArray.from_arrays(start.astype(np.int32), pa.StructArray.from_arrays(columns, list(fields)))


def _id_lists(texts: OutputTexts, start: np.ndarray, messages: np.ndarray, lists: np.ndarray) -> pa.Array:
    """Make lists of message ids.

    Args:
        texts: The texts of the sets.
        start: int64[all lists + 1], into `messages`.
        messages: int32[...].
        lists: int64[lists], the lists to take.
    """
    taken_start, at = runs(start, lists)
    return pa.ListArray.from_arrays(taken_start.astype(np.int32), texts.ids.take(pa.array(messages[at])))
