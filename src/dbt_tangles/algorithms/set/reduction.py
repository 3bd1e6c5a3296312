"""A table of messages in; orders, items and what is still needed out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.arrays import first_rows, flags, keep_entries, runs
from dbt_tangles.algorithms.graph.dense_ids import Nodes, group_rows, number_ids, number_nodes
from dbt_tangles.algorithms.graph.links import link, look_up
from dbt_tangles.algorithms.graph.members import whole
from dbt_tangles.algorithms.graph.orders import in_order
from dbt_tangles.algorithms.graph.strings import Lists, Strings, lists_of, strings_of
from dbt_tangles.algorithms.set.backlinks import NO_BACKLINK, backlink_depths
from dbt_tangles.algorithms.set.chain_clocks import CLOCK_ENTRIES_PER_SET
from dbt_tangles.algorithms.set.deciding_messages import find_deciding_messages, positions_after_pruning
from dbt_tangles.algorithms.set.item_touches import Touches
from dbt_tangles.algorithms.set.live_items import item_roots, list_live_items
from dbt_tangles.algorithms.set.oldest_live_message import CLOCK_ENTRIES, find_oldest_live
from dbt_tangles.algorithms.set.purposes import ACTIONS, PURPOSES, pruning_actions, purposes, required_depths
from dbt_tangles.algorithms.set.reachability import find_reachability
from dbt_tangles.algorithms.set.schemas import OUTPUT_SCHEMA
from dbt_tangles.algorithms.set.set_rows import fault_column, item_column, next_column, output_texts
from dbt_tangles.algorithms.set.writer_faults import with_backlinks, writer_faults
from dbt_tangles.formats.pzp.collation import collation_keys
from dbt_tangles.formats.pzp.items import are_unique
from dbt_tangles.formats.pzp.rules import SET_DOMAIN

GHOST_SPAN = 32


class SetMessages(NamedTuple):
    """The messages of many sets, numbered by set, then reduction order.

    Attributes:
        start: int64[sets + 1], into the messages.
        row: int32[messages]; the row each came from.
        set_of: int32[messages].
        root: int32[sets], the message that is a set's root, or -1.
        is_rooted: bool[messages]; whether the root of its set is there.
        depth: int64[messages], as declared; 0 for roots.
    """

    start: np.ndarray
    row: np.ndarray
    set_of: np.ndarray
    root: np.ndarray
    is_rooted: np.ndarray
    depth: np.ndarray


def reduce_sets(table: pa.Table, ghost_span: int = GHOST_SPAN, clock_entries: int = CLOCK_ENTRIES) -> pa.Table:
    """Reduce many sets, each by its own messages.

    The messages of a set are ordered by declared depth, then id (see `dbt_tangles.formats.pzp.collation`), and applied
    one after another; see `list_live_items`. Nothing depends on the order of the rows. What a message lists and is not there, be
    it as previous or as superseded, does not keep it out; it just leads nowhere. A message whose data was erased is
    still in the order and in the tangle, but neither adds, deletes nor supersedes.

    Args:
        table: One row per set and message that is in it, in any order, whole sets only (`INPUT_SCHEMA`; more columns
            are passed over; null is false, and an empty list):
            `set_id`, `message_id` strings, together unique;
            `account`, `domain`: the message's; additions and deletions count in domains of sets only;
            `depth` as declared; `prev` list<string>; both are ignored for the root;
            `is_moot`: whether this is the set's root. A set without it has no order and no items, and all its messages
            are needed;
            `has_data`: whether its data is there;
            `is_set_shape`: whether that is an object with three arrays; only then `add` and `del` are looked at,
            tokens both (see `dbt_tangles.formats.pzp.items`);
            `supersedes`: what can be iterated in the data's field of that name, whatever shape the rest has.
        ghost_span: How many depths below the required one messages are remembered.
        clock_entries: Bounds the memory of one step; see `squeeze`. It does not change any result.

    Returns:
        One row per row of the input, in its order (`OUTPUT_SCHEMA`, but that its strings may have wide offsets):
            `position` int32 from 0, null in a set without root;
            `is_item_root`: no later message supersedes it;
            `purpose`: see `purposes`;
            `is_tip`: no message lists it; false in a set without root;
            `is_oldest_standing`: of all messages that stand behind an item of their set, the oldest; see `squeeze`;
            `items`: the present items that it put where they are, in the set's order, with their place in it, their
            place after pruning (`position_left`), and what holds them in the set (`kept_by`, see `find_reachability`);
            `writer_faults`: the items on which it breaks a rule for writers, and the messages that its supersedes
            leaves out; see `faults`;
            `are_writers_checked`: false, and then without faults, in sets that are too tangled for that check;
            `action`: what may become of it, see `pruning_actions`;
            `is_pruning_safe`: whether its set has the same items if only item roots are left;
            `backlink_depth`: the depth at which it should list what its writer knew, null where there is none;
            `is_next_prev`: whether a message must list it that follows all there is; false in a set without root;
            `next_items`: of the items it decides on, those that others can name: the messages that are as deep as it
            (`deepest`), and those of them that delete the item and that nothing supersedes.

    Raises:
        ValueError: An id is null, a message is there twice, a depth is missing, or a set has two roots.
        OverflowError: There are more than 2^31 - 1 rows, items or listed ids.
    """
    messages, ids = _number_messages(table)
    shaped = flags(table, "is_set_shape") & flags(table, "has_data") & _in_set_domain(table)
    has_data = flags(table, "has_data")[messages.row] & messages.is_rooted
    is_entry = shaped[messages.row]

    # The tangle.
    nodes = Nodes(messages.start, messages.row)
    every = np.ones(len(messages.row), np.bool_)
    is_root = np.zeros(len(messages.row), np.bool_)
    is_root[messages.root[messages.root >= 0]] = True
    links = link(nodes, ids, lists_of(table["prev"]), every, is_root)
    is_tip = messages.is_rooted.copy()
    is_tip[links.previous] = False
    start, previous = _backward_links(links.start, links.previous)

    # What is in each set.
    touches, tokens, named = _touches(table, messages.row)
    counted = is_entry & messages.is_rooted
    item_start, entry, added_by = list_live_items(messages.start, counted, touches)

    # What is still needed.
    supersedes = lists_of(table["supersedes"])
    list_start, list_entry = runs(supersedes.starts, messages.row)
    superseded = look_up(nodes, ids, supersedes, has_data, ~every)[list_entry]
    is_item_root = item_roots(has_data, list_start, superseded)
    required = required_depths(messages.start, messages.root, is_item_root, messages.depth)
    purpose = purposes(messages.start, messages.root, start, previous, messages.depth, required, ghost_span)
    is_own = is_entry & _is_by_owner(table, messages)
    oldest = find_oldest_live(messages.start, messages.root, start, previous, is_own, touches, clock_entries)
    is_oldest = np.zeros(len(messages.row), np.bool_)
    is_oldest[oldest[oldest >= 0]] = True

    # What may go, and what is there after that.
    is_superseded = counted & ~item_roots(counted, list_start, superseded)
    decided = find_deciding_messages(messages.start, messages.depth, counted, is_item_root, is_superseded, touches)
    left_start, left_entry, _ = list_live_items(messages.start, counted & decided.decides, touches)
    place_left = positions_after_pruning(item_start, entry, left_start, left_entry, touches.added, touches.count)
    backlink = backlink_depths(messages.depth)
    next_backlink = backlink_depths(messages.depth + 1)
    followed = find_reachability(
        messages.start,
        start,
        previous,
        messages.depth,
        backlink,
        next_backlink,
        counted,
        item_start,
        touches.added[entry],
        touches,
        CLOCK_ENTRIES_PER_SET,
    )
    action = pruning_actions(decided.decides | is_root | ~messages.is_rooted, followed.is_bridged, start, previous)

    # What writers left out, and what the next one should not.
    faults = writer_faults(
        messages.start,
        start,
        previous,
        messages.depth,
        counted,
        touches,
        list_start,
        superseded,
    )
    faults = with_backlinks(faults, followed, messages.set_of)
    deepest = messages.depth[np.maximum(messages.start[1:], 1) - 1]
    is_next_prev = is_tip | (messages.is_rooted & (messages.depth == backlink_depths(deepest + 1)[messages.set_of]))

    # All that is by message goes back to where its row is.
    of = output_texts(table["message_id"], messages.row, tokens, named)
    place = of.place
    position = np.arange(len(place)) - messages.start[messages.set_of]
    item_position = np.arange(len(entry)) - item_start[messages.set_of[added_by]]
    has_no_backlink = (backlink == NO_BACKLINK) | ~messages.is_rooted
    columns = [
        pa.array(position[place].astype(np.int32), mask=~messages.is_rooted[place]),
        pa.array(is_item_root[place]),
        pa.array(PURPOSES, pa.string()).take(pa.array(purpose[place])),
        pa.array(is_tip[place]),
        pa.array(is_oldest[place]),
        item_column(of, added_by, touches.added[entry], item_position, place_left, followed),
        fault_column(of, faults),
        pa.array(faults.is_checked[messages.set_of[place]]),
        pa.array(ACTIONS, pa.string()).take(pa.array(action[place])),
        pa.array(decided.is_pruning_safe[messages.set_of[place]]),
        pa.array(backlink[place], mask=has_no_backlink[place]),
        pa.array(is_next_prev[place]),
        next_column(of, decided),
    ]
    return pa.table(columns, names=OUTPUT_SCHEMA.names)


def _in_set_domain(table: pa.Table) -> np.ndarray:
    return pc.starts_with(table["domain"], SET_DOMAIN).fill_null(False).to_numpy()


def _number_messages(table: pa.Table) -> tuple[SetMessages, Strings]:
    """Number the messages, and lay their ids open."""
    ids = strings_of(table["message_id"])
    if not ids.valid.all() or table["set_id"].null_count:
        raise ValueError("a set_id or message_id is null")
    group, set_count = group_rows(strings_of(table["set_id"]))
    keys = strings_of(collation_keys(table["message_id"]))
    nodes = number_nodes(group, set_count, keys)
    numbers = number_ids(nodes, keys)
    twice = np.flatnonzero(numbers[1:] == numbers[:-1])
    if len(twice):
        at = int(nodes.row[twice[0]])
        raise ValueError(f"message {table['message_id'][at]} is in set {table['set_id'][at]} twice")

    is_moot = flags(table, "is_moot")
    has_depth = table["depth"].is_valid().to_numpy() | is_moot
    if not has_depth.all():
        raise ValueError(f"message {table['message_id'][int(np.argmin(has_depth))]} has no depth")
    depth = np.where(is_moot, 0, table["depth"].cast(pa.int64()).fill_null(0).to_numpy())
    _, node = in_order(nodes.graph_start, depth[nodes.row], np.ones(len(table), np.bool_))
    row = nodes.row[node]
    set_of = group[row]
    moots = np.flatnonzero(is_moot[row])
    root = np.full(set_count, np.int32(-1))
    root[set_of[moots]] = moots
    if len(moots) > (root >= 0).sum():
        raise ValueError("a set has two roots")
    return SetMessages(nodes.graph_start, row, set_of, root, root[set_of] >= 0, depth[row]), ids


def _backward_links(start: np.ndarray, previous: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drop the links that do not lead to an earlier message; valid messages have none."""
    down = previous < np.repeat(np.arange(len(start) - 1), np.diff(start))
    if down.all():
        return start, previous
    return keep_entries(start, previous, down)


def _touches(table: pa.Table, row: np.ndarray) -> tuple[Touches, pa.Array, int]:
    """Give items codes, and lay what each message adds and deletes where the kernels come by in turn.

    Returns:
        The touches, the token of each code, and how many codes are of items that several messages can name: they come
        first.
    """
    add, delete = lists_of(table["add"]), lists_of(table["del"])
    codes, named = group_rows(_joined(add, delete))
    entries = [chunk.flatten() for column in (table["add"], table["del"]) for chunk in column.chunks]
    tokens = whole(pa.chunked_array(entries, table["add"].type.value_type), len(codes))
    shared = tokens.take(pa.array(first_rows(codes, named)))
    # What nothing else is equal to gets a code of its own.
    unique = np.flatnonzero(are_unique(shared)[codes])
    count = named + len(unique)
    codes[unique] = np.arange(named, count)
    middle = add.starts[-1]
    add_start, add_entry = runs(add.starts, row)
    del_start, del_entry = runs(delete.starts, row)
    touches = Touches(add_start, codes[add_entry], del_start, codes[middle + del_entry], count)
    return touches, pa.concat_arrays([shared, tokens.take(pa.array(unique))]), named


def _joined(first: Lists, second: Lists) -> Strings:
    """Put the entries of two columns of lists behind each other."""
    a, b = first.items, second.items
    data = np.concatenate([a.data, b.data])
    data.flags.writeable = False
    return Strings(np.concatenate([a.offsets, b.offsets[1:] + a.offsets[-1]]), data, np.concatenate([a.valid, b.valid]))


def _is_by_owner(table: pa.Table, messages: SetMessages) -> np.ndarray:
    """Say of each message whether it is by the account of its set's root; of all in a set without root."""
    account = group_rows(strings_of(table["account"]))[0][messages.row]
    return ~messages.is_rooted | (account == account[messages.root[messages.set_of]])
