"""Reduces many pzp sets: order, items, item roots, purposes, pruning and writer faults of each message.

Source: protospec.md ("Feed tangle", "Msg content"); pzp-set 1.0.1, pzp-db 1.0.4 and pzp-goals 1.0.1 for what it omits.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.arrays import first_rows, flags, keep_entries, runs
from dbt_tangles.algorithms.graph.dense_ids import Nodes, group_rows, number_ids, number_nodes
from dbt_tangles.algorithms.graph.links import link, look_up
from dbt_tangles.algorithms.graph.members import single_chunk
from dbt_tangles.algorithms.graph.orders import in_order
from dbt_tangles.algorithms.graph.strings import Lists, Strings, lists_of, strings_of
from dbt_tangles.algorithms.set.backlinks import NO_BACKLINK, backlink_depths
from dbt_tangles.algorithms.set.chain_clocks import CLOCK_ENTRIES_PER_SET
from dbt_tangles.algorithms.set.deciding_messages import (
    DecidingMessages,
    find_deciding_messages,
    positions_after_pruning,
)
from dbt_tangles.algorithms.set.item_touches import Touches
from dbt_tangles.algorithms.set.live_items import LiveItems, item_roots, list_live_items
from dbt_tangles.algorithms.set.oldest_live_message import CLOCK_ENTRIES, find_oldest_live
from dbt_tangles.algorithms.set.purposes import ACTIONS, PURPOSES, pruning_actions, purposes, required_depths
from dbt_tangles.algorithms.set.reachability import Backlinks, Reachability, find_reachability
from dbt_tangles.algorithms.set.schemas import OUTPUT_SCHEMA
from dbt_tangles.algorithms.set.set_arrays import SetEntries, SetTangles
from dbt_tangles.algorithms.set.set_rows import PlacedItems, fault_column, item_column, next_column, output_texts
from dbt_tangles.algorithms.set.writer_faults import superseding_pairs, with_backlinks, with_later, writer_faults
from dbt_tangles.formats.pzp.collation import collation_keys
from dbt_tangles.formats.pzp.items import are_unique
from dbt_tangles.formats.pzp.rules import SET_DOMAIN

GHOST_SPAN = 32


class SetMessages(NamedTuple):
    """The messages of many sets, numbered by set, then reduction order."""

    start: np.ndarray  # int64[sets + 1], into the messages
    row: np.ndarray  # int32[messages], the input row of each message
    set_of: np.ndarray  # int32[messages]
    root: np.ndarray  # int32[sets], the root of each set, or -1
    is_rooted: np.ndarray  # bool[messages], whether the set has a root
    depth: np.ndarray  # int64[messages], as declared; 0 for roots
    ids: Strings  # The id of each input row

    @property
    def nodes(self) -> Nodes:
        """The messages as nodes of one graph for each set."""
        return Nodes(self.start, self.row)

    @property
    def position(self) -> np.ndarray:
        """The place of each message in its set, from 0: int64[messages]."""
        return np.arange(len(self.row)) - self.start[self.set_of]

    def flags_at(self, messages: np.ndarray) -> np.ndarray:
        """Mark messages; negative numbers are ignored: bool[messages]."""
        is_marked = np.zeros(len(self.row), np.bool_)
        is_marked[messages[messages >= 0]] = True
        return is_marked


class _Items(NamedTuple):
    """The additions and deletions of all messages, and the items they name."""

    touches: Touches  # By message; their codes name items
    tokens: pa.Array  # The token of each code
    shared_count: int  # The codes below this number name items that can occur in several messages


def reduce_sets(table: pa.Table, ghost_span: int = GHOST_SPAN, clock_entries: int = CLOCK_ENTRIES) -> pa.Table:
    """Reduce many sets, each by its own messages.

    The messages of a set are applied in the order of declared depth, then collated id (`formats.pzp.collation`); see
    `list_live_items`. The order of the rows does not matter. Unknown ids in `prev` and `supersedes` are ignored. A
    message with erased data stays in the order and in the tangle, but does not add, delete or supersede.

    Args:
        table: One row per set and message of it, in any order, whole sets only (`INPUT_SCHEMA`; further columns are
            ignored).
        ghost_span: The number of depths below the required depth at which messages are ghosts.
        clock_entries: The memory bound of `find_oldest_live`. It does not change the result.

    Returns:
        One row per input row, in the same order (`OUTPUT_SCHEMA`, with 64-bit string offsets where needed).

    Raises:
        ValueError: An id is null, a message occurs twice in a set, a depth is missing, or a set has two roots.
        OverflowError: There are more than 2^31 - 1 rows, items or listed ids.
    """
    messages = _number_messages(table)
    tangles, is_tip = _link_messages(table, messages)
    items = _number_items(table, messages.row)
    has_data = flags(table, "has_data")[messages.row] & messages.is_rooted
    is_entry = _count_entries(table)[messages.row]
    counted = is_entry & messages.is_rooted
    entries = SetEntries(counted, items.touches, *_superseded(table, messages, has_data))
    live = list_live_items(messages.start, counted, items.touches)
    is_item_root = item_roots(has_data, entries.list_start, entries.superseded)
    is_superseded = counted & ~item_roots(counted, entries.list_start, entries.superseded)
    decided = find_deciding_messages(tangles, counted, is_item_root, is_superseded, items.touches)
    backlinks = Backlinks(backlink_depths(messages.depth), backlink_depths(messages.depth + 1))
    item = items.touches.added[live.entry]
    found = find_reachability(tangles, backlinks, counted, live.start, item, items.touches, CLOCK_ENTRIES_PER_SET)
    superseding = (entries.list_start, np.where(_by_message(has_data, entries.list_start), entries.superseded, -1))
    is_root_by_document = has_data & ~messages.flags_at(superseding_pairs(*superseding)[1])
    faults = with_backlinks(writer_faults(tangles, entries), found, messages.set_of)
    faults = with_later(faults, is_item_root, *superseding, messages.set_of)
    is_own = is_entry & _is_by_owner(table, messages)
    oldest = find_oldest_live(tangles, messages.root, is_own, items.touches, clock_entries)

    texts = output_texts(table["message_id"], messages.row, items.tokens, items.shared_count)
    at = texts.place
    columns = [
        pa.array(messages.position[at].astype(np.int32), mask=~messages.is_rooted[at]),
        pa.array(is_item_root[at]),
        pa.array(is_root_by_document[at]),
        pa.array(PURPOSES, pa.string()).take(pa.array(_purposes(messages, tangles, is_item_root, ghost_span)[at])),
        pa.array(is_tip[at]),
        pa.array(messages.flags_at(oldest)[at]),
        item_column(texts, _placed_items(messages, items.touches, live, counted & decided.decides), found),
        fault_column(texts, faults),
        pa.array(faults.is_checked[messages.set_of[at]]),
        pa.array(ACTIONS, pa.string()).take(pa.array(_actions(messages, tangles, decided, found)[at])),
        pa.array(decided.is_pruning_safe[messages.set_of[at]]),
        pa.array(backlinks.own[at], mask=((backlinks.own == NO_BACKLINK) | ~messages.is_rooted)[at]),
        pa.array((is_tip | _is_next_backlink(messages))[at]),
        next_column(texts, decided),
    ]
    return pa.table(columns, names=OUTPUT_SCHEMA.names)


def _count_entries(table: pa.Table) -> np.ndarray:
    """Say of each row whether its additions and deletions count: bool[rows]."""
    in_set_domain = pc.starts_with(table["domain"], SET_DOMAIN).fill_null(False).to_numpy()
    return flags(table, "is_set_shape") & flags(table, "has_data") & in_set_domain


def _link_messages(table: pa.Table, messages: SetMessages) -> tuple[SetTangles, np.ndarray]:
    """Link the messages of each set to their previous ones; also bool[messages], which messages are tips."""
    every = np.ones(len(messages.row), np.bool_)
    links = link(messages.nodes, messages.ids, lists_of(table["prev"]), every, messages.flags_at(messages.root))
    is_tip = messages.is_rooted.copy()
    is_tip[links.previous] = False
    return SetTangles(messages.start, *_backward_links(links.start, links.previous), messages.depth), is_tip


def _superseded(table: pa.Table, messages: SetMessages, has_data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Look up `supersedes`: int64[messages + 1] into int32[...], a message with data, or -1."""
    supersedes = lists_of(table["supersedes"])
    list_start, list_entry = runs(supersedes.starts, messages.row)
    no_root = np.zeros(len(messages.row), np.bool_)
    return list_start, look_up(messages.nodes, messages.ids, supersedes, has_data, no_root)[list_entry]


def _by_message(values: np.ndarray, list_start: np.ndarray) -> np.ndarray:
    """Repeat the value of each message for each entry of its list."""
    return np.repeat(values, np.diff(list_start))


def _purposes(messages: SetMessages, tangles: SetTangles, is_item_root: np.ndarray, ghost_span: int) -> np.ndarray:
    required = required_depths(messages.start, messages.root, is_item_root, messages.depth)
    return purposes(tangles, messages.root, required, ghost_span)


def _placed_items(messages: SetMessages, touches: Touches, live: LiveItems, decides: np.ndarray) -> PlacedItems:
    """Find the positions of the present items, now and after pruning."""
    left = list_live_items(messages.start, decides, touches)
    position_left = positions_after_pruning(live, left, touches.added, touches.count)
    position = np.arange(len(live.entry)) - live.start[messages.set_of[live.message]]
    return PlacedItems(live.message, touches.added[live.entry], position, position_left)


def _actions(messages: SetMessages, tangles: SetTangles, decided: DecidingMessages, found: Reachability) -> np.ndarray:
    is_kept = decided.decides | messages.flags_at(messages.root) | ~messages.is_rooted
    return pruning_actions(is_kept, found.is_bridged, tangles.start, tangles.previous)


def _is_next_backlink(messages: SetMessages) -> np.ndarray:
    """Say of each message whether a message on top of all others has its backlink to it: bool[messages]."""
    deepest = messages.depth[np.maximum(messages.start[1:], 1) - 1]
    return messages.is_rooted & (messages.depth == backlink_depths(deepest + 1)[messages.set_of])


def _number_messages(table: pa.Table) -> SetMessages:
    """Number the messages by set and reduction order."""
    ids = strings_of(table["message_id"])
    if not ids.valid.all() or table["set_id"].null_count:
        raise ValueError("a row of the set messages has a null set_id or message_id; fill both in")
    group, set_count = group_rows(strings_of(table["set_id"]))
    keys = strings_of(collation_keys(table["message_id"]))
    nodes = number_nodes(group, set_count, keys)
    numbers = number_ids(nodes, keys)
    twice = np.flatnonzero(numbers[1:] == numbers[:-1])
    if len(twice):
        at = int(nodes.row[twice[0]])
        raise ValueError(
            f"message {table['message_id'][at]} occurs twice in set {table['set_id'][at]}; pass each message once"
        )

    is_moot = flags(table, "is_moot")
    has_depth = table["depth"].is_valid().to_numpy() | is_moot
    if not has_depth.all():
        at = int(np.argmin(has_depth))
        raise ValueError(f"message {table['message_id'][at]} has no depth; only the root of a set may omit it")
    depth = np.where(is_moot, 0, table["depth"].cast(pa.int64()).fill_null(0).to_numpy())
    _, node = in_order(nodes.graph_start, depth[nodes.row], np.ones(len(table), np.bool_))
    row = nodes.row[node]
    set_of = group[row]
    moots = np.flatnonzero(is_moot[row])
    root = np.full(set_count, np.int32(-1))
    root[set_of[moots]] = moots
    if len(moots) > (root >= 0).sum():
        twice = moots[root[set_of[moots]] != moots][0]
        raise ValueError(f"set {table['set_id'][int(row[twice])]} has two roots; pass one row with is_moot per set")
    return SetMessages(nodes.graph_start, row, set_of, root, root[set_of] >= 0, depth[row], ids)


def _backward_links(start: np.ndarray, previous: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drop links to messages that are not earlier; valid messages have none."""
    down = previous < np.repeat(np.arange(len(start) - 1), np.diff(start))
    if down.all():
        return start, previous
    return keep_entries(start, previous, down)


def _number_items(table: pa.Table, row: np.ndarray) -> _Items:
    """Number the items, and order the additions and deletions by message."""
    add, delete = lists_of(table["add"]), lists_of(table["del"])
    codes, named = group_rows(_joined(add, delete))
    entries = [chunk.flatten() for column in (table["add"], table["del"]) for chunk in column.chunks]
    tokens = single_chunk(pa.chunked_array(entries, table["add"].type.value_type), len(codes))
    shared = tokens.take(pa.array(first_rows(codes, named)))
    # Items that equal no other item get a code of their own.
    unique = np.flatnonzero(are_unique(shared)[codes])
    count = named + len(unique)
    codes[unique] = np.arange(named, count)
    middle = add.starts[-1]
    add_start, add_entry = runs(add.starts, row)
    del_start, del_entry = runs(delete.starts, row)
    touches = Touches(add_start, codes[add_entry], del_start, codes[middle + del_entry], count)
    return _Items(touches, pa.concat_arrays([shared, tokens.take(pa.array(unique))]), named)


def _joined(first: Lists, second: Lists) -> Strings:
    """Concatenate the entries of two list columns."""
    a, b = first.items, second.items
    data = np.concatenate([a.data, b.data])
    data.flags.writeable = False
    return Strings(np.concatenate([a.offsets, b.offsets[1:] + a.offsets[-1]]), data, np.concatenate([a.valid, b.valid]))


def _is_by_owner(table: pa.Table, messages: SetMessages) -> np.ndarray:
    """Say of each message whether the account of its set's root wrote it; always true in a set without root."""
    account = group_rows(strings_of(table["account"]))[0][messages.row]
    return ~messages.is_rooted | (account == account[messages.root[messages.set_of]])
