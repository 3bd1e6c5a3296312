"""Reduces many pzp sets: order, items, item roots, purposes, pruning and writer faults of each message.

Source: protospec.md ("Feed tangle", "Msg content"); pzp-set 1.0.1, pzp-db 1.0.4 and pzp-goals 1.0.1 for what it omits.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.set.backlinks import NO_BACKLINK, backlink_depths
from dbt_tangles.algorithms.set.chain_clocks import CLOCK_ENTRIES_PER_SET
from dbt_tangles.algorithms.set.oldest_live_message import find_oldest_live
from dbt_tangles.algorithms.set.operations import Entries, Operations, insertions, list_operations, read_entries
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
from dbt_tangles.algorithms.set.set_search import Findings, both_ways, search_sets
from dbt_tangles.algorithms.set.writer_rules import LATER, NO_ITEM
from dbt_tangles.columns.arrays import flags
from dbt_tangles.columns.dense_ids import group_rows
from dbt_tangles.columns.strings import strings_of
from dbt_tangles.kernel_runtime.output import batches_of

GHOST_SPAN = 32
#: The beginning of the domain of each message that changes a set.
SET_DOMAIN = "set_v1__"


def reduce_sets(table: pa.Table, ghost_span: int = GHOST_SPAN) -> pa.Table:
    """Reduce sets of given messages: `reduce_rows` for all rows, as a table of `schemas.OUTPUT_SCHEMA`."""
    columns = reduce_rows(table, np.ones(len(table), np.bool_), ghost_span)
    return pa.Table.from_batches(batches_of(columns, OUTPUT_SCHEMA), OUTPUT_SCHEMA)


def reduce_rows(table: pa.Table, is_in: np.ndarray, ghost_span: int) -> dict[str, Any]:
    """Reduce many sets, each by its own messages.

    The messages of a set are applied in reduction order. Unknown ids in `prev` and `supersedes` are ignored. A message
    with erased data stays in the order and in the tangle, but does not add, delete or supersede.

    Args:
        table: Rows of `schemas.SetEntry` in any order, whole sets only.
        is_in: bool[rows], whether the message is in its set; those of a set have distinct ids, and at most one root.
        ghost_span: The number of depths below the required depth at which messages are ghosts.

    Returns:
        The columns of `schemas.SetMessage` from `position` on, null for rows that are not in their set.

    Raises:
        OverflowError: There are more than 2^31 - 1 rows, items or listed ids.
    """
    inside = table if is_in.all() else table.filter(pa.array(is_in))
    messages = number_messages(inside)
    is_rooted, set_of, sets = messages.is_rooted, messages.set_of, len(messages.root)
    tangles, is_tip = link_messages(inside, messages)
    is_entry = _are_entries(inside)[messages.row]
    entries, tokens = read_entries(inside, messages.row, is_entry)
    operations = list_operations(entries.where(is_rooted[entries.owner]), set_of, sets)
    has_data = flags(inside, "has_data")[messages.row] & is_rooted
    superseding = find_superseded(inside, messages, has_data)
    earlier = superseding.where(superseding.other < superseding.message)
    is_item_root = has_data & ~messages.flags_at(earlier.other)
    earlier = earlier.where(is_entry[earlier.message])

    inserted = insertions(operations, is_entry)
    decides = messages.flags_at(operations.message[operations.latest])
    is_lost = (insertions(operations, is_item_root) < 0) != (inserted < 0)
    is_safe = np.ones(sets, np.bool_)
    is_safe[set_of[operations.message[operations.latest[is_lost]]]] = False
    backlinks = np.stack([backlink_depths(messages.depth), backlink_depths(messages.depth + 1)])
    pairs = both_ways(earlier, tangles)
    found = search_sets(tangles, backlinks, operations, pairs, inserted >= 0, CLOCK_ENTRIES_PER_SET)
    is_kept = decides | messages.flags_at(messages.root) | ~is_rooted
    account = group_rows(strings_of(inside["account"]))[0][messages.row]
    is_own = is_entry & (account == account[messages.root[set_of]])

    output = make_output(table, is_in, messages.row, tokens.take(pa.array(operations.token)))
    values, names = output.values, output.names
    return {
        "position": values((np.arange(len(set_of)) - messages.start[set_of]).astype(np.int32), ~is_rooted),
        "is_item_root": values(is_item_root),
        "is_item_root_by_document": values(has_data & ~messages.flags_at(superseding.other)),
        "purpose": names(find_purposes(messages, tangles, is_item_root, ghost_span), PURPOSES),
        "is_tip": values(is_tip),
        "is_oldest_standing": values(messages.flags_at(_first_live(tangles, messages, is_own, operations, entries))),
        "items": item_column(output, operations, inserted, insertions(operations, decides), found.holds),
        "writer_faults": fault_column(output, _with_later(found, superseding, is_item_root, set_of)),
        "are_writers_checked": values(found.is_checked[set_of]),
        "action": names(pruning_actions(is_kept, found.is_bridged, tangles.start, tangles.previous), ACTIONS),
        "is_pruning_safe": values(is_safe[set_of]),
        "backlink_depth": values(backlinks[0], (backlinks[0] == NO_BACKLINK) | ~is_rooted),
        "is_next_prev": values(is_tip | _is_next_backlink(messages)),
        "next_items": next_column(output, operations, messages.depth, messages.flags_at(earlier.other)),
    }


def _are_entries(table: pa.Table) -> np.ndarray:
    """Say of each row whether its additions and deletions count: bool[rows]."""
    in_set_domain = pc.starts_with(table["domain"], SET_DOMAIN).fill_null(False).to_numpy()
    return flags(table, "is_set_shape") & flags(table, "has_data") & in_set_domain


def _first_live(
    tangles: SetTangles, messages: SetMessages, is_own: np.ndarray, operations: Operations, entries: Entries
) -> np.ndarray:
    """Find the oldest live message of each set: int32[sets], or -1; in a set without root, the first with an item."""
    oldest = find_oldest_live(tangles, is_own, operations)
    rootless = entries.owner[~messages.is_rooted[entries.owner]]
    sets, first = np.unique(messages.set_of[rootless], return_index=True)
    oldest[sets] = rootless[first]
    return oldest


def _with_later(found: Findings, superseding: Superseding, is_item_root: np.ndarray, set_of: np.ndarray) -> np.ndarray:
    """Add the item roots that an earlier message supersedes to the faults of checked sets: int32[rows, 4]."""
    message, other = superseding
    is_later = (other > message) & is_item_root[other] & found.is_checked[set_of[message]]
    message, other = superseding.where(is_later)
    later = [message, np.full_like(message, LATER), np.full_like(message, NO_ITEM), other]
    return np.concatenate([found.fault.reshape(-1, 4), np.stack(later, axis=1)])


def _is_next_backlink(messages: SetMessages) -> np.ndarray:
    """Say of each message whether a message on top of all others has its backlink to it: bool[messages]."""
    deepest = messages.depth[np.maximum(messages.start[1:], 1) - 1]
    return messages.is_rooted & (messages.depth == backlink_depths(deepest + 1)[messages.set_of])
