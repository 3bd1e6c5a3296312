"""Reduces many private groups: epochs, members, missing and dropped members.

Source: seed 000/001, "Members tangle", "Epoch tangle"; private group specification, 4; ssb-tribes2, `lib/epochs`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.arrays import first_rows, flags, sums
from dbt_tangles.algorithms.graph.dense_ids import group_rows
from dbt_tangles.algorithms.graph.orders import Dag
from dbt_tangles.algorithms.graph.strings import lists_of
from dbt_tangles.algorithms.graph.topological_generations import child_counts
from dbt_tangles.algorithms.private_group.dropped_members import DroppedMembers, find_dropped, find_witnesses
from dbt_tangles.algorithms.private_group.epoch_feed_pairs import (
    FeedColumns,
    Pairs,
    Statements,
    build_pairs,
    sort_by_feed,
)
from dbt_tangles.algorithms.private_group.epochs import Epochs, number_epochs
from dbt_tangles.algorithms.private_group.group_rows import OutputNames, make_batch, prepare_names, split_rows
from dbt_tangles.algorithms.private_group.missing_adds import WORD, count_missing, list_missing
from dbt_tangles.algorithms.private_group.preference import PREFERENCES, choose_preferred
from dbt_tangles.algorithms.private_group.schemas import DROPPED, EPOCH, MEMBER
from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH

#: The most steps (of some nanoseconds) for one group; a larger group has null in the columns that depend on ancestors.
STEP_LIMIT = 2**33
#: The most missing feeds of one group, all epochs together, that are listed; beyond it they are only counted.
MISSING_LIMIT = 10_000_000
#: The most dropped members of one group, all epochs together; beyond it the group is treated as beyond `STEP_LIMIT`.
DROPPED_LIMIT = 10_000_000


class _MissingMembers(NamedTuple):
    """The missing and returned members."""

    is_swept: np.ndarray  # bool[groups], whether the group was searched
    is_listed: np.ndarray  # bool[groups], whether all missing members have a row
    group_missing: np.ndarray  # int64[groups]
    missing: np.ndarray  # int32[epochs]
    returned: np.ndarray  # int32[epochs]
    pair_missing: np.ndarray  # bool[pairs]
    pair_returned: np.ndarray  # bool[pairs]


def reduce_groups(
    table: pa.Table,
    step_limit: int = STEP_LIMIT,
    missing_limit: int = MISSING_LIMIT,
    dropped_limit: int = DROPPED_LIMIT,
    chunk_rows: int = ROWS_PER_BATCH,
) -> Iterator[pa.RecordBatch]:
    """Compute the epochs and members of many groups.

    An init is an epoch of its group if it is the root, or if it lists previous epochs and all of them are epochs of the
    group. Statements (adds and excludes) count for the epoch that they name, connected or not, as peers read them.
    Other inits, and statements about other epochs, are ignored. The order of the rows does not matter.

    Args:
        table: One row per valid message, in any order, whole groups only (`INPUT_SCHEMA`; further columns are
            ignored).
        step_limit: The bound on the time for columns that depend on ancestors: missing, returned and dropped members.
            A group beyond it has null in these columns, and its dropped members are left out.
        missing_limit: The bound on the listed missing feeds of one group.
        dropped_limit: The bound on the dropped members of one group; a group beyond it counts as beyond `step_limit`.
        chunk_rows: The most rows of a batch.

    Yields:
        Rows of `OUTPUT_SCHEMA`. First one per epoch; then one per epoch and feed that is added, excluded or missing;
        last, one per feed that an old exclude keeps out and the first epoch that drops it (see `dropped_members`).

    Raises:
        ValueError: A `message_id` is null, a kind is unknown, a message occurs twice in a group, an init's `epoch_id`
            is not its own, or its key is not of 32 bytes. The messages contain no value of the table.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    epochs = number_epochs(table)
    dag = epochs.dag
    pairs, feed_entry = _pair_statements(table, epochs)
    columns = sort_by_feed(pairs, dag.graph_start, len(feed_entry))
    is_tip = child_counts(dag.start, dag.previous, epochs.depth) == 0
    choice = choose_preferred(dag.graph_start, is_tip, epochs.key_order, pairs, len(feed_entry))

    contested_adds = _count_contested_adds(pairs, columns)
    is_swept = _sweep_steps(dag, columns, contested_adds) <= step_limit
    found = find_dropped(dag, pairs, columns, contested_adds, is_swept, dropped_limit)
    is_swept &= found.is_whole
    counts = count_missing(dag, pairs, columns, is_swept)
    group_missing = sums(counts[0], dag.graph_start)
    missing = _MissingMembers(is_swept, is_swept & (group_missing <= missing_limit), group_missing, *counts)

    sizes = np.diff(pairs.add_start) + np.diff(pairs.exclude_start) + 1
    names = prepare_names(table, epochs.row, feed_entry, chunk_rows, int(sizes.max(initial=0)))
    yield from _epoch_rows(names, epochs, pairs, is_tip, choice, missing)
    yield from _named_member_rows(names, dag, pairs, sizes, missing)
    yield from _unnamed_missing_rows(names, dag, pairs, columns, missing)
    witnesses = find_witnesses(dag, pairs, columns, found.epoch, found.column)
    yield from _dropped_rows(names, pairs, columns, found, *witnesses)


def _pair_statements(table: pa.Table, epochs: Epochs) -> tuple[Pairs, np.ndarray]:
    """Pair epochs with the feeds that statements name; also int64[codes], an entry of each feed in all lists."""
    lists = lists_of(table["feeds"])
    feed, feed_count = group_rows(lists.items)
    feed_entry = first_rows(feed, feed_count)
    feed[~lists.items.valid] = -1
    row, epoch, is_connected = epochs.statement_row, epochs.statement_epoch, flags(table, "is_connected")
    statements = Statements(row, epoch, epochs.is_add, is_connected, lists.starts, feed)
    return build_pairs(statements, len(epochs.row), feed_count), feed_entry


def _count_contested_adds(pairs: Pairs, columns: FeedColumns) -> np.ndarray:
    """Count the epochs that each feed of a group is added to, or 0 if it is never excluded: int64[columns]."""
    adds = sums(pairs.is_added[columns.pair], columns.start)
    return np.where(sums(pairs.is_excluded[columns.pair], columns.start) > 0, adds, 0)


def _sweep_steps(dag: Dag, columns: FeedColumns, contested_adds: np.ndarray) -> np.ndarray:
    """Bound the steps of each group: float64[groups].

    A sweep takes a step for each epoch and edge. There is one sweep for each word of feeds, one for each word of
    contested adds, and for each contested feed one for its last exclude and one for each word of its adds.
    """
    sizes = np.diff(dag.graph_start) + np.diff(dag.start[dag.graph_start])
    feed_words = -(-np.diff(columns.group_start) // WORD)
    add_words = -(-sums(contested_adds, columns.group_start) // WORD)
    own_words = sums((contested_adds > 0) + -(-contested_adds // WORD), columns.group_start)
    return (feed_words + add_words + own_words).astype(np.float64) * sizes


def _group_of_epochs(dag: Dag) -> np.ndarray:
    return np.repeat(np.arange(len(dag.graph_start) - 1, dtype=np.int32), np.diff(dag.graph_start))


def _epoch_rows(
    names: OutputNames,
    epochs: Epochs,
    pairs: Pairs,
    is_tip: np.ndarray,
    choice: tuple[np.ndarray, np.ndarray],
    missing: _MissingMembers,
) -> Iterator[pa.RecordBatch]:
    group = _group_of_epochs(epochs.dag)
    preference, preferred = choice
    tip_count = sums(is_tip, epochs.dag.graph_start).astype(np.int32)
    added, excluded = (sums(flag, pairs.start).astype(np.int32) for flag in (pairs.is_added, pairs.is_excluded))
    for begin, end in split_rows(np.ones(len(group), np.int64), names.most):
        epoch = np.arange(begin, end)
        of = group[epoch]
        unknown = ~missing.is_swept[of]
        yield make_batch(
            EPOCH,
            end - begin,
            names.of(epoch)
            | {
                "depth": pa.array(epochs.depth[epoch]),
                "is_tip": pa.array(is_tip[epoch]),
                "is_preferred": pa.array(preferred[of] == epoch),
                "preference": pa.array(PREFERENCES, pa.string()).take(pa.array(preference[of])),
                "tip_count": pa.array(tip_count[of]),
                "added_count": pa.array(added[epoch]),
                "excluded_count": pa.array(excluded[epoch]),
                "missing_count": pa.array(missing.missing[epoch], mask=unknown),
                "returned_count": pa.array(missing.returned[epoch], mask=unknown),
                "are_missing_listed": pa.array(missing.is_listed[of]),
            },
        )


def _named_member_rows(
    names: OutputNames, dag: Dag, pairs: Pairs, sizes: np.ndarray, missing: _MissingMembers
) -> Iterator[pa.RecordBatch]:
    """Yield the members that a statement names."""
    group = _group_of_epochs(dag)
    for begin, end in split_rows(sizes, names.most):
        epoch = pairs.epoch[begin:end]
        unknown = ~missing.is_swept[group[epoch]]
        yield make_batch(
            MEMBER,
            end - begin,
            names.of(epoch, pairs.feed[begin:end])
            | {
                "is_added": pa.array(pairs.is_added[begin:end]),
                "is_excluded": pa.array(pairs.is_excluded[begin:end]),
                "is_member": pa.array(pairs.is_member[begin:end]),
                "added_by": names.lists(pairs.add_start[begin : end + 1], pairs.added_by),
                "excluded_by": names.lists(pairs.exclude_start[begin : end + 1], pairs.excluded_by),
                "is_missing": pa.array(missing.pair_missing[begin:end], mask=unknown),
                "is_returned": pa.array(missing.pair_returned[begin:end], mask=unknown),
            },
        )


def _unnamed_missing_rows(
    names: OutputNames, dag: Dag, pairs: Pairs, columns: FeedColumns, missing: _MissingMembers
) -> Iterator[pa.RecordBatch]:
    """Yield the missing members that are named by statements about other epochs only."""
    is_wanted = missing.is_listed & (missing.group_missing > 0)
    if not is_wanted.any():
        return
    of_a_word = np.minimum(missing.group_missing, WORD * np.diff(dag.graph_start))
    room = max(min(names.most, int(missing.group_missing[is_wanted].sum())), int(of_a_word[is_wanted].max()))
    epoch, feed = np.empty(room, np.int32), np.empty(room, np.int32)
    state = np.zeros(2, np.int64)
    while state[0] < len(dag.graph_start) - 1:
        count = list_missing(dag, pairs, columns, is_wanted, state, epoch, feed)
        for begin, end in split_rows(np.ones(count, np.int64), names.most):
            no, yes = (pa.array(np.full(end - begin, answer)) for answer in (False, True))
            nobody = names.lists(np.zeros(end - begin + 1, np.int64), np.empty(0, np.int32))
            rows = {"is_added": no, "is_excluded": no, "is_member": no, "added_by": nobody, "excluded_by": nobody}
            rows |= {"is_missing": yes, "is_returned": no}
            yield make_batch(MEMBER, end - begin, names.of(epoch[begin:end], feed[begin:end]) | rows)


def _dropped_rows(
    names: OutputNames, pairs: Pairs, columns: FeedColumns, found: DroppedMembers, add: np.ndarray, exclude: np.ndarray
) -> Iterator[pa.RecordBatch]:
    feed = pairs.feed[columns.pair[columns.start[found.column]]]
    # The statements of a pair ascend by id: take the first.
    added_by = pairs.added_by[pairs.add_start[add]]
    excluded_by = pairs.excluded_by[pairs.exclude_start[exclude]]
    for begin, end in split_rows(np.ones(len(feed), np.int64), names.most):
        one_each = np.arange(begin, end + 1)
        witnesses = {"added_by": names.lists(one_each, added_by), "excluded_by": names.lists(one_each, excluded_by)}
        yield make_batch(DROPPED, end - begin, names.of(found.epoch[begin:end], feed[begin:end]) | witnesses)
