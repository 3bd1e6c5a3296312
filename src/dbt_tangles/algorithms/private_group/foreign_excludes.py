"""Foreign excludes of private groups: an epoch is charged with them although its init does not descend from them.

Peers do not expect a feed that an exclude of an epoch names in the later epochs. The excludes of all forks lie in the
members tangle of the same parent epoch, so each branch of a fork is charged with the excludes of the other branches.
An exclude belongs to a branch only if the init of the branch descends from it in the group tangle. Peers write in that
order: the exclude first, then the init. The specification has the init first; an exclude written that way is foreign
even to its own epoch, since it looks like one of a sibling.

Sources: ssb-tribes2, `getMissingMembers` in `lib/epochs` (all excludes of earlier epochs count) and `excludeMembers` in
`index.js` (the order of writing); ssb-group-exclusion-spec, 4.1 (the order of the steps) and 4.6 (in a fork, the
excludes of the other branch need an epoch of their own).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.arrays import flags, keep_entries, sums
from dbt_tangles.algorithms.graph.dense_ids import Nodes, group_rows, number_nodes
from dbt_tangles.algorithms.graph.links import Links, link, look_up
from dbt_tangles.algorithms.graph.members import single_chunk
from dbt_tangles.algorithms.graph.orders import Dag, in_order, renumber
from dbt_tangles.algorithms.graph.strings import Lists, lists_of, strings_of
from dbt_tangles.algorithms.structures.bits import lowest_bit
from dbt_tangles.kernel_runtime.compiled import compiled, inner

FOREIGN_INPUT_SCHEMA = pa.schema(
    [
        ("group_id", pa.string()),
        ("message_id", pa.string()),
        ("previous", pa.list_(pa.string())),
        ("is_member", pa.bool_()),
        ("depth", pa.int32()),
        ("previous_epochs", pa.list_(pa.string())),
        ("excluded_epoch", pa.string()),
    ]
)
FOREIGN_OUTPUT_SCHEMA = pa.schema(
    [
        ("group_id", pa.string()),
        ("epoch_id", pa.string()),
        ("message_ids", pa.list_(pa.string())),
        ("message_count", pa.int32()),
    ]
)
MAX_LISTED = 100
MAX_CHUNK_ROWS = 4096
STEP_LIMIT = 2**33
# The number of epochs in one sweep: the bits of a word.
WORD = 64


class Charges(NamedTuple):
    """The epochs that are charged with excludes, and these excludes, for many groups."""

    dag: Dag  # The members of the group tangles
    epoch_start: np.ndarray  # int64[groups + 1], into `epoch`
    epoch: np.ndarray  # int32[epochs], the members that are inits of charged epochs, ascending
    links: Links  # The distinct previous epochs of each node
    exclude_start: np.ndarray  # int64[groups + 1], into `exclude`
    exclude: np.ndarray  # int32[excludes], their nodes, ascending: by group and id
    member: np.ndarray  # int32[excludes], the member that each exclude is, or -1
    target: np.ndarray  # int32[excludes], the node of the epoch that each names
    steps: np.ndarray  # int64[groups], the most steps of a group


class _Scratch(NamedTuple):
    """Scratch arrays of the search.

    Attributes:
        charged: uint64[nodes], zero between words: which epochs of a word are charged with the excludes of an epoch.
        followers: uint64[members], which of these epochs' inits descend from a member.
        listed: int32[64, `MAX_LISTED`], the foreign excludes of each epoch of the word.
        count: int32[64], their number, listed or not.
    """

    charged: np.ndarray
    followers: np.ndarray
    listed: np.ndarray
    count: np.ndarray


class _Batch(NamedTuple):
    """The rows of one batch."""

    epoch: np.ndarray  # int32[rows], a member
    count: np.ndarray  # int32[rows], its foreign excludes; -1 for a skipped group
    start: np.ndarray  # int32[rows + 1], into `listed`
    listed: np.ndarray  # int32[rows * `MAX_LISTED`], nodes


def foreign_excludes(
    table: pa.Table, step_limit: int = STEP_LIMIT, chunk_rows: int = MAX_CHUNK_ROWS
) -> Iterator[pa.RecordBatch]:
    """List, for each epoch, the excludes of its previous epochs that its init does not descend from.

    Only epochs with an init in the group tangle are searched; an exclude outside the group tangle is foreign to all of
    them. Time is (charged epochs / 64) * (messages + links) plus the excludes that each epoch is charged with; memory
    is linear in the input.

    Args:
        table: Rows of `FOREIGN_INPUT_SCHEMA`, whole groups, in any order, one row per message of a group. `previous`
            and `depth` are those of the group tangle; all its members have a depth. `previous_epochs` is set for the
            inits of the group's epochs, `excluded_epoch` for the excludes that count. Listed ids without such a row are
            ignored, and so are rows without ids and links that do not lead to a lesser depth.
        step_limit: A group that might take more steps is skipped.
        chunk_rows: The most rows of a batch; at least 64.

    Yields:
        Batches of `FOREIGN_OUTPUT_SCHEMA`: the epochs with foreign excludes, up to 100 of these sorted by id, and their
        number. A skipped group has one row with null in all columns but the group.

    Raises:
        ValueError: `chunk_rows` is less than 64.
        OverflowError: There are more than 2^31 - 1 rows, or entries in one of the list columns.
    """
    if chunk_rows < WORD:
        raise ValueError(f"chunk_rows is {chunk_rows}; a batch of foreign excludes needs at least {WORD} rows")
    table, group, group_count = _select_groups(table)
    nodes = number_nodes(group, group_count, strings_of(table["message_id"]))
    charges = _collect_charges(table, nodes)
    member_row = nodes.row[charges.dag.node]
    group_ids, message_ids = (single_chunk(table[name], chunk_rows * MAX_LISTED) for name in ("group_id", "message_id"))
    is_within = charges.steps <= step_limit
    scratch = _Scratch(
        np.zeros(len(nodes.row), np.uint64),
        np.zeros(len(member_row), np.uint64),
        np.empty((WORD, MAX_LISTED), np.int32),
        np.empty(WORD, np.int32),
    )
    # The group and the epoch at which the next batch continues.
    state = np.zeros(2, np.int64)
    room = min(chunk_rows, len(charges.epoch))
    while state[0] < group_count:
        batch = _Batch(
            np.empty(room, np.int32),
            np.empty(room, np.int32),
            np.zeros(room + 1, np.int32),
            np.empty(room * MAX_LISTED, np.int32),
        )
        rows = _fill_batch(charges, is_within, scratch, state, batch)
        if rows:
            listed = nodes.row[batch.listed[: batch.start[rows]]]
            yield _make_record_batch(batch, member_row[batch.epoch[:rows]], listed, group_ids, message_ids)


def _make_record_batch(
    batch: _Batch, row: np.ndarray, listed: np.ndarray, group_ids: pa.Array, message_ids: pa.Array
) -> pa.RecordBatch:
    """Name the epochs of a batch, by their rows, and the listed messages, by theirs."""
    is_known = batch.count[: len(row)] >= 0
    # A null offset makes a null list.
    offsets = pa.array(batch.start[: len(row) + 1], mask=np.append(~is_known, False))
    columns = [
        group_ids.take(pa.array(row)).cast(pa.string()),
        message_ids.take(pa.array(row, mask=~is_known)).cast(pa.string()),
        pa.ListArray.from_arrays(offsets, message_ids.take(pa.array(listed)).cast(pa.string())),
        pa.array(batch.count[: len(row)], mask=~is_known),
    ]
    return pa.record_batch(columns, schema=FOREIGN_OUTPUT_SCHEMA)


def _select_groups(table: pa.Table) -> tuple[pa.Table, np.ndarray, int]:
    """Keep the groups with a successor epoch and an exclude, and number them.

    Returns:
        The remaining rows, int32[remaining rows] their groups, and a number greater than all groups.
    """
    table = table.filter(pc.and_(table["group_id"].is_valid(), table["message_id"].is_valid()))
    group, group_count = group_rows(strings_of(table["group_id"]))
    is_successor = np.diff(lists_of(table["previous_epochs"]).starts) > 0
    is_exclude = table["excluded_epoch"].is_valid().to_numpy()
    has_both = (np.bincount(group[is_successor], minlength=group_count) > 0) & (
        np.bincount(group[is_exclude], minlength=group_count) > 0
    )
    is_wanted = has_both[group]
    return table.filter(pa.array(is_wanted)), group[is_wanted], group_count


def _collect_charges(table: pa.Table, nodes: Nodes) -> Charges:
    """Find the charged epochs and their excludes, and order the members of the group tangles."""
    ids = strings_of(table["message_id"])
    none = np.zeros(len(nodes.row), np.bool_)
    is_epoch = table["previous_epochs"].is_valid().to_numpy()[nodes.row]
    links = link(nodes, ids, lists_of(table["previous_epochs"]), is_epoch, none)
    target = _targets(table, nodes, is_epoch)
    exclude = np.flatnonzero(target >= 0).astype(np.int32)
    target = target[exclude]
    dag = _group_tangles(table, nodes)
    member = np.full(len(nodes.row), np.int32(-1))
    member[dag.node] = np.arange(len(dag.node), dtype=np.int32)

    excludes_of = np.bincount(target, minlength=len(nodes.row))
    charged = sums(excludes_of[links.previous], links.start)[dag.node]
    epoch = np.flatnonzero(charged > 0).astype(np.int32)
    epoch_start = np.searchsorted(epoch, dag.graph_start)
    sweeps = -(-np.diff(epoch_start) // WORD)
    size = np.diff(nodes.graph_start) + np.diff(dag.start[dag.graph_start])
    pairs = sums(charged, dag.graph_start)
    exclude_start = np.searchsorted(exclude, nodes.graph_start)
    steps = sweeps * size + pairs
    return Charges(dag, epoch_start, epoch, links, exclude_start, exclude, member[exclude], target, steps)


def _targets(table: pa.Table, nodes: Nodes, is_epoch: np.ndarray) -> np.ndarray:
    """Find the epoch that each node excludes from: int32[nodes], a node, or -1.

    The node may be an exclude; such a node is never a previous epoch.
    """
    spoken_of = strings_of(table["excluded_epoch"])
    alone = Lists(np.arange(len(nodes.row) + 1), spoken_of)
    candidate = is_epoch | spoken_of.valid[nodes.row]
    return look_up(nodes, strings_of(table["message_id"]), alone, candidate, ~candidate)[nodes.row]


def _group_tangles(table: pa.Table, nodes: Nodes) -> Dag:
    """Order the members of each group tangle by depth, then id."""
    depth = table["depth"].cast(pa.int32())
    is_member = (flags(table, "is_member") & depth.is_valid().to_numpy())[nodes.row]
    depth = depth.fill_null(-1).to_numpy()[nodes.row]
    links = link(nodes, strings_of(table["message_id"]), lists_of(table["previous"]), is_member, ~is_member)
    is_down = depth[links.previous] < np.repeat(depth, np.diff(links.start))
    start, previous = keep_entries(links.start, links.previous, is_down)
    # A rank replaces the depth, which may exceed the number of members of an incomplete group.
    member_start, ordered = in_order(nodes.graph_start, depth, is_member)
    position = np.full(len(nodes.row), np.int32(-1))
    position[ordered] = np.arange(len(ordered)) - np.repeat(member_start[:-1], np.diff(member_start))
    return renumber(nodes.graph_start, start, previous, position)


@compiled
def _fill_batch(charges, is_within, scratch, state, batch):
    """Fill one batch, 64 epochs at a time, in the order of the members.

    Args:
        charges: `Charges`.
        is_within: bool[groups], the groups to search.
        scratch: A `_Scratch`.
        state: int64[2], the group and epoch to continue at; moved on.
        batch: A `_Batch`, to be filled.

    Returns:
        The number of rows filled.
    """
    epoch_start = charges.epoch_start
    graph, at = state
    rows = 0
    while graph < len(epoch_start) - 1:
        if at < epoch_start[graph + 1] and not is_within[graph]:
            if rows == len(batch.count):
                state[:] = graph, at
                return rows
            # A skipped group is named by its first epoch.
            batch.epoch[rows] = charges.epoch[at]
            batch.count[rows] = -1
            batch.start[rows + 1] = batch.start[rows]
            rows += 1
            at = epoch_start[graph + 1]
        while at < epoch_start[graph + 1]:
            epochs = charges.epoch[at : min(at + WORD, epoch_start[graph + 1])]
            if rows + len(epochs) > len(batch.count):
                state[:] = graph, at
                return rows
            _mark_charged(epochs, charges, scratch)
            lowest = _find_lowest(graph, epochs, charges, scratch)
            _sweep_followers(lowest, epochs, charges, scratch)
            _list_foreign(graph, epochs, charges, scratch)
            rows = _write_rows(epochs, rows, charges, scratch, batch)
            at += len(epochs)
        graph += 1
    state[:] = graph, at
    return rows


@inner
def _mark_charged(epochs, charges, scratch):
    """Mark, for each previous epoch, the epochs that are charged with its excludes; `charged` is filled."""
    start, previous = charges.links.start, charges.links.previous
    for k in range(len(epochs)):
        n = charges.dag.node[epochs[k]]
        for e in range(start[n], start[n + 1]):
            scratch.charged[previous[e]] |= np.uint64(1) << np.uint64(k)


@inner
def _find_lowest(graph, epochs, charges, scratch):
    """Find the first member that is an exclude the epochs are charged with; at most the last epoch."""
    lowest = epochs[len(epochs) - 1]
    for x in range(charges.exclude_start[graph], charges.exclude_start[graph + 1]):
        if scratch.charged[charges.target[x]] and 0 <= charges.member[x] < lowest:
            lowest = charges.member[x]
    return lowest


@inner
def _sweep_followers(lowest, epochs, charges, scratch):
    """Sweep from the last epoch down to a member: which epochs' inits descend from each; `followers` is filled."""
    start, previous, followers = charges.dag.start, charges.dag.previous, scratch.followers
    k = len(epochs) - 1
    highest = epochs[k]
    followers[lowest : highest + 1] = 0
    for m in range(highest, lowest - 1, -1):
        bits = followers[m]
        if k >= 0 and epochs[k] == m:
            bits |= np.uint64(1) << np.uint64(k)
            k -= 1
        if bits:
            for e in range(start[m], start[m + 1]):
                if previous[e] >= lowest:
                    followers[previous[e]] |= bits


@inner
def _list_foreign(graph, epochs, charges, scratch):
    """List the excludes that each epoch is charged with and does not descend from; `listed` and `count` are filled."""
    highest = epochs[len(epochs) - 1]
    scratch.count[: len(epochs)] = 0
    for x in range(charges.exclude_start[graph], charges.exclude_start[graph + 1]):
        bits = scratch.charged[charges.target[x]]
        if bits and 0 <= charges.member[x] <= highest:
            bits &= ~scratch.followers[charges.member[x]]
        while bits:
            k = lowest_bit(bits)
            bits &= bits - np.uint64(1)
            if scratch.count[k] < MAX_LISTED:
                scratch.listed[k, scratch.count[k]] = charges.exclude[x]
            scratch.count[k] += 1


@inner
def _write_rows(epochs, rows, charges, scratch, batch):
    """Write the epochs that have foreign excludes, and clear `charged`; the number of rows."""
    start, previous = charges.links.start, charges.links.previous
    for k in range(len(epochs)):
        n = charges.dag.node[epochs[k]]
        for e in range(start[n], start[n + 1]):
            scratch.charged[previous[e]] = 0
        if scratch.count[k] > 0:
            shown = min(scratch.count[k], MAX_LISTED)
            used = batch.start[rows]
            batch.epoch[rows] = epochs[k]
            batch.count[rows] = scratch.count[k]
            batch.listed[used : used + shown] = scratch.listed[k, :shown]
            rows += 1
            batch.start[rows] = used + shown
    return rows
