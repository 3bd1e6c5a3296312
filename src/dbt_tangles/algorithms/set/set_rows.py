"""Items and faults as columns of the answer, nested in the rows of their messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.arrays import keep_entries, runs, starts
from dbt_tangles.algorithms.graph.members import whole
from dbt_tangles.algorithms.set.deciding_messages import DecidingMessages
from dbt_tangles.algorithms.set.reachability import Reachability
from dbt_tangles.algorithms.set.writer_faults import NO_ITEM, Faults
from dbt_tangles.algorithms.set.writer_rules import RULES
from dbt_tangles.formats.pzp.items import are_strings, item_texts


class OutputTexts(NamedTuple):
    """What the answer quotes, and where it goes.

    Attributes:
        place: int64[messages]; the message that each row of the answer is about.
        ids: string[messages], by message.
        items: string[codes], as the tables show them.
        is_string: bool[codes of items that several messages can name].
    """

    place: np.ndarray
    ids: pa.Array
    items: pa.Array
    is_string: np.ndarray


def output_texts(ids: pa.ChunkedArray, row: np.ndarray, tokens: pa.Array, named: int) -> OutputTexts:
    """Collect what the answer quotes.

    Args:
        ids: The id of each row.
        row: int32[messages].
        tokens: The token of each code.
        named: The codes below are of items that several messages can name.
    """
    place = np.empty(len(row), np.int64)
    place[row] = np.arange(len(row))
    # Wide, as any of them may be quoted any number of times.
    wide = pa.large_string()
    ids = whole(ids, len(row)).take(pa.array(row)).cast(wide)
    return OutputTexts(place, ids, item_texts(tokens).cast(wide), are_strings(tokens[:named]))


def item_column(
    of: OutputTexts,
    by: np.ndarray,
    code: np.ndarray,
    position: np.ndarray,
    place_left: np.ndarray,
    followed: Reachability,
) -> pa.Array:
    """List the present items that each message put where they are.

    Args:
        of: What is quoted.
        by: int32[items], the message, ascending.
        code: int32[items].
        position: int64[items], the place in the order of the set.
        place_left: int32[items], the place in the order that is left after pruning, or -1.
        followed: What `known` found.
    """
    return _nested(
        of,
        by,
        item_position=lambda at: pa.array(position[at].astype(np.int32)),
        item=lambda at: of.items.take(pa.array(code[at])),
        position_left=lambda at: pa.array(place_left[at], mask=place_left[at] < 0),
        kept_by=lambda at: _id_lists(of, followed.held_start, followed.held_by, at),
    )


def fault_column(of: OutputTexts, faults: Faults) -> pa.Array:
    """List the faults of each message.

    Args:
        of: What is quoted.
        faults: What was found, by message.
    """
    rules = pa.array(RULES, pa.string())
    return _nested(
        of,
        faults.message,
        item=lambda at: of.items.take(pa.array(faults.code[at], mask=faults.code[at] == NO_ITEM)),
        rule=lambda at: rules.take(pa.array(faults.rule[at])),
        left_out=lambda at: _id_lists(of, faults.left_start, faults.left_out, at),
    )


def next_column(of: OutputTexts, deciding: DecidingMessages) -> pa.Array:
    """List what whoever touches an item next supersedes, at the message that decides on it.

    Args:
        of: What is quoted.
        deciding: What was found, by message.
    """
    named = np.flatnonzero(deciding.code < len(of.is_string))
    code = deciding.code[named]
    open_start, still_open = keep_entries(deciding.deepest_start, deciding.deepest, deciding.is_open)
    return _nested(
        of,
        deciding.message[named],
        item=lambda at: of.items.take(pa.array(code[at])),
        is_string=lambda at: pa.array(of.is_string[code[at]]),
        deepest=lambda at: _id_lists(of, deciding.deepest_start, deciding.deepest, named[at]),
        open_deletions=lambda at: _id_lists(of, open_start, still_open, named[at]),
    )


def _nested(of: OutputTexts, owner: np.ndarray, **fields: Callable[[np.ndarray], pa.Array]) -> pa.Array:
    """List what messages own, row by row of the answer.

    Args:
        of: Where the messages go.
        owner: int32[entries], ascending.
        fields: What makes a column out of the entries that are to follow each other.
    """
    start, entry = runs(starts(np.bincount(owner, minlength=len(of.place))), of.place)
    columns = [column(entry) for column in fields.values()]
    return pa.ListArray.from_arrays(start.astype(np.int32), pa.StructArray.from_arrays(columns, list(fields)))


def _id_lists(of: OutputTexts, start: np.ndarray, messages: np.ndarray, lists: np.ndarray) -> pa.Array:
    """List ids.

    Args:
        of: What is quoted.
        start: int64[all lists + 1], into `messages`.
        messages: int32[...].
        lists: int64[lists], which of them.
    """
    taken_start, at = runs(start, lists)
    return pa.ListArray.from_arrays(taken_start.astype(np.int32), of.ids.take(pa.array(messages[at])))
