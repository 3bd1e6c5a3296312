"""Reduces many pzp sets: order, items, item roots, purposes, pruning and writer faults of each message.

Source: protospec.md ("Feed tangle", "Msg content"); pzp-set 1.0.1, pzp-db 1.0.4 and pzp-goals 1.0.1 for what it omits.
"""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.set.backlinks import NO_BACKLINK, backlink_depths
from dbt_tangles.algorithms.set.chain_clocks import CLOCK_ENTRIES_PER_SET
from dbt_tangles.algorithms.set.oldest_live_message import find_oldest_live
from dbt_tangles.algorithms.set.purposes import ACTIONS, PURPOSES, find_purposes, pruning_actions
from dbt_tangles.algorithms.set.schemas import OUTPUT_SCHEMA
from dbt_tangles.algorithms.set.set_columns import fault_column, item_column, make_output, next_column
from dbt_tangles.algorithms.set.set_messages import (
    SetMessages,
    SetTangles,
    Superseding,
    find_superseded,
    link_messages,
    number_messages,
)
from dbt_tangles.algorithms.set.set_search import Backlinks, Findings, search_sets
from dbt_tangles.algorithms.set.touches import Touches, insertions, list_touches
from dbt_tangles.algorithms.set.writer_rules import LATER, NO_ITEM, Supersedes
from dbt_tangles.columns.arrays import flags, runs, starts
from dbt_tangles.columns.dense_ids import group_rows
from dbt_tangles.columns.strings import strings_of
from dbt_tangles.formats.pzp.items import are_unique
from dbt_tangles.formats.pzp.rules import SET_DOMAIN
from dbt_tangles.kernel_runtime.output import Texts, batches_of

GHOST_SPAN = 32


class _Items(NamedTuple):
    """The items of many sets."""

    touches: Touches
    tokens: pa.Array  # large_string[items]
    is_shared: np.ndarray  # bool[items], whether another message can name the item
    is_named_by: np.ndarray  # bool[messages], whether the message names items, counted or not


def reduce_sets(table: pa.Table, ghost_span: int = GHOST_SPAN) -> pa.Table:
    """Reduce sets of given messages: `reduce_rows` for all rows, as a table of `schemas.OUTPUT_SCHEMA`."""
    columns = reduce_rows(table, np.ones(len(table), np.bool_), ghost_span)
    return pa.Table.from_batches(batches_of(columns, OUTPUT_SCHEMA), OUTPUT_SCHEMA)


def reduce_rows(table: pa.Table, is_in: np.ndarray, ghost_span: int) -> dict[str, Any]:
    """Reduce many sets, each by its own messages.

    The messages of a set are applied in reduction order. The order of the rows does not matter. Unknown ids in `prev`
    and `supersedes` are ignored. A message with erased data stays in the order and in the tangle, but does not add,
    delete or supersede.

    Args:
        table: Rows of `schemas.SetEntry` in any order, whole sets only.
        is_in: bool[rows], whether the message is in its set.
        ghost_span: The number of depths below the required depth at which messages are ghosts.

    Returns:
        The columns of `schemas.SetMessage` from `position` on, null for rows that are not in their set.

    Raises:
        ValueError: A message occurs twice in a set, a depth is missing, or a set has two roots.
        OverflowError: There are more than 2^31 - 1 rows, items or listed ids.
    """
    inside = table.filter(pa.array(is_in))
    messages = number_messages(inside)
    tangles, is_tip = link_messages(inside, messages)
    is_rooted, sets = messages.is_rooted, messages.set_of
    has_data = flags(inside, "has_data")[messages.row] & is_rooted
    is_entry = _are_entries(inside)[messages.row]
    items = _list_items(inside, messages, is_entry & is_rooted)
    touches = items.touches
    superseding = find_superseded(inside, messages, has_data)
    is_earlier = superseding.other < superseding.message
    is_item_root = has_data & ~messages.flags_at(superseding.other[is_earlier])
    is_counted = is_earlier & (is_entry & is_rooted)[superseding.message]
    superseded = Superseding(superseding.message[is_counted], superseding.other[is_counted])

    inserted = insertions(touches, is_entry)
    decides = messages.flags_at(touches.message[touches.latest])
    is_unsafe = (insertions(touches, is_item_root) < 0) != (inserted < 0)
    unsafe = messages.flags_at(messages.start[sets[touches.message[touches.latest[is_unsafe]]]])
    backlinks = Backlinks(backlink_depths(messages.depth), backlink_depths(messages.depth + 1))
    found = search_sets(
        tangles, backlinks, touches, _both_ways(superseded, len(sets)), inserted >= 0, CLOCK_ENTRIES_PER_SET
    )
    is_kept = decides | messages.flags_at(messages.root) | ~is_rooted
    actions = pruning_actions(is_kept, found.is_bridged, tangles.start, tangles.previous)
    oldest = _oldest_live(inside, messages, tangles, is_entry, items)

    output = make_output(table, is_in, messages.row, items.tokens)
    values, names = output.values, output.names
    no_backlink = (backlinks.own == NO_BACKLINK) | ~is_rooted
    faults = _with_later(found, superseding, is_item_root, sets)
    return {
        "position": values((np.arange(len(sets)) - messages.start[sets]).astype(np.int32), ~is_rooted),
        "is_item_root": values(is_item_root),
        "is_item_root_by_document": values(has_data & ~messages.flags_at(superseding.other)),
        "purpose": names(find_purposes(messages, tangles, is_item_root, ghost_span), PURPOSES),
        "is_tip": values(is_tip),
        "is_oldest_standing": values(messages.flags_at(oldest)),
        "items": item_column(output, touches, inserted, insertions(touches, decides), found.holds),
        "writer_faults": fault_column(output, faults),
        "are_writers_checked": values(found.is_checked[sets]),
        "action": names(actions, ACTIONS),
        "is_pruning_safe": values(~unsafe[messages.start[sets]]),
        "backlink_depth": values(backlinks.own, no_backlink),
        "is_next_prev": values(is_tip | _is_next_backlink(messages)),
        "next_items": next_column(
            output, touches, messages.depth, messages.flags_at(superseded.other), items.is_shared
        ),
    }


def _are_entries(table: pa.Table) -> np.ndarray:
    """Say of each row whether its additions and deletions count: bool[rows]."""
    in_set_domain = pc.starts_with(table["domain"], SET_DOMAIN).fill_null(False).to_numpy()
    return flags(table, "is_set_shape") & flags(table, "has_data") & in_set_domain


def _list_items(table: pa.Table, messages: SetMessages, counted: np.ndarray) -> _Items:
    """Number the items that the messages add and delete; those of messages that do not count are ignored."""
    chunks = [chunk.flatten() for name in ("add", "del") for chunk in table[name].chunks]
    tokens = Texts(pa.chunked_array(chunks, table["add"].type.value_type)).array
    code, count = group_rows(strings_of(tokens))
    # Items that equal no other item get a code of their own.
    alone = np.flatnonzero(are_unique(tokens))
    code[alone] = np.arange(count, count + len(alone))
    lengths = [pc.list_value_length(table[name]).fill_null(0).to_numpy() for name in ("add", "del")]
    add, delete = (runs(starts(length), messages.row) for length in lengths)
    lists = add, (delete[0], delete[1] + lengths[0].sum())
    touches = list_touches(messages.start, counted, lists, code, count + len(alone))
    is_named_by = ((lengths[0] + lengths[1]) > 0)[messages.row]
    return _Items(touches, tokens.take(pa.array(touches.entry)), code[touches.entry] < count, is_named_by)


def _both_ways(superseded: Superseding, count: int) -> Supersedes:
    """Group pairs of messages by the first, and by the second."""
    message, other = superseded
    starts_of = (starts(np.bincount(part, minlength=count)) for part in superseded)
    return Supersedes(next(starts_of), other, next(starts_of), message[np.argsort(other, kind="stable")])


def _oldest_live(
    table: pa.Table, messages: SetMessages, tangles: SetTangles, is_entry: np.ndarray, items: _Items
) -> np.ndarray:
    """Find the oldest live message of each set: int32[sets], or -1. The tangle of a set without root is unknown."""
    account = group_rows(strings_of(table["account"]))[0][messages.row]
    is_own = is_entry & (account == account[messages.root[messages.set_of]])
    oldest = find_oldest_live(tangles, is_own, items.touches)
    rootless = np.flatnonzero(is_entry & items.is_named_by & ~messages.is_rooted)
    sets, first = np.unique(messages.set_of[rootless], return_index=True)
    oldest[sets] = rootless[first]
    return oldest


def _with_later(found: Findings, superseding: Superseding, is_item_root: np.ndarray, set_of: np.ndarray) -> np.ndarray:
    """Add the item roots that an earlier message supersedes to the faults of checked sets: int32[rows, 4]."""
    message, other = superseding
    is_later = (other > message) & is_item_root[other] & found.is_checked[set_of[message]]
    message, other = message[is_later], other[is_later]
    later = [message, np.full_like(message, LATER), np.full_like(message, NO_ITEM), other]
    return np.concatenate([found.fault.reshape(-1, 4), np.stack(later, axis=1)])


def _is_next_backlink(messages: SetMessages) -> np.ndarray:
    """Say of each message whether a message on top of all others has its backlink to it: bool[messages]."""
    deepest = messages.depth[np.maximum(messages.start[1:], 1) - 1]
    return messages.is_rooted & (messages.depth == backlink_depths(deepest + 1)[messages.set_of])
