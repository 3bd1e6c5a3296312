"""Sorts adds and excludes into pairs of an epoch and a feed, by counting sorts.

Statements are adds and excludes; an entry is a statement together with one feed that it names.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.graph.dense_ids import counting_sort
from dbt_tangles.kernel_runtime.compiled import compiled


class Pairs(NamedTuple):
    """The distinct pairs of an epoch and a feed that a statement names, by epoch, then feed."""

    start: np.ndarray  # int64[epochs + 1], into the pairs
    epoch: np.ndarray  # int32[pairs]
    feed: np.ndarray  # int32[pairs]
    is_added: np.ndarray  # bool[pairs], whether a statement adds the feed to the epoch
    is_excluded: np.ndarray  # bool[pairs], whether a statement excludes the feed from the epoch
    is_member: np.ndarray  # bool[pairs], whether a connected statement adds the feed
    add_start: np.ndarray  # int64[pairs + 1], into `added_by`
    added_by: np.ndarray  # int32[...], the rows of adds, in statement order
    exclude_start: np.ndarray  # int64[pairs + 1], into `excluded_by`
    excluded_by: np.ndarray  # int32[...]


class FeedColumns(NamedTuple):
    """The same pairs by group, then feed, then epoch."""

    pair: np.ndarray  # int32[pairs]
    start: np.ndarray  # int64[columns + 1], into `pair`; a column is a feed of a group
    group_start: np.ndarray  # int64[groups + 1], into the columns


class Statements(NamedTuple):
    """Adds and excludes, and the feeds that each names."""

    row: np.ndarray  # int32[statements], the row of each, in the order wanted for `Pairs.added_by`
    epoch: np.ndarray  # int32[statements], the epoch that each names
    is_add: np.ndarray  # bool[rows]; other statements are excludes
    is_connected: np.ndarray  # bool[rows], whether a statement is connected in the members tangle
    feed_start: np.ndarray  # int64[rows + 1], into `feed`
    feed: np.ndarray  # int32[...], codes of feeds; negative ones are ignored


def build_pairs(statements: Statements, epoch_count: int, feed_count: int) -> Pairs:
    """Sort statements into pairs of an epoch and a feed, by three counting sorts in linear time.

    Returns:
        The pairs. A statement that names a feed twice is listed once.
    """
    row, epoch = statements.row, statements.epoch
    entry_statement, entry_feed = _entries(row, statements.feed_start, statements.feed)
    entry_epoch = epoch[entry_statement]
    order = counting_sort(np.arange(len(entry_feed)), entry_feed, feed_count)[1]
    order = counting_sort(order, entry_epoch, epoch_count)[1]
    is_add, is_connected = statements.is_add, statements.is_connected
    return _build_pairs(epoch_count, row[entry_statement], entry_epoch, entry_feed, is_add, is_connected, order)


def sort_by_feed(pairs: Pairs, graph_start: np.ndarray, feed_count: int) -> FeedColumns:
    """Sort pairs by group, feed and epoch.

    Args:
        pairs: The pairs.
        graph_start: int64[groups + 1], into the epochs.
        feed_count: The number of feed codes.

    Returns:
        The columns.
    """
    group_count = len(graph_start) - 1
    group = np.repeat(np.arange(group_count, dtype=np.int32), np.diff(pairs.start[graph_start]))
    order = counting_sort(np.arange(len(pairs.feed)), pairs.feed, feed_count)[1]
    order = counting_sort(order, group, group_count)[1]
    return FeedColumns(order, *_column_starts(order, group, pairs.feed, group_count))


@compiled
def _entries(row, feed_start, feed):
    """List the entries of all statements: int32[entries] statements and int32[entries] feeds."""
    count = 0
    for r in row:
        for item in range(feed_start[r], feed_start[r + 1]):
            count += feed[item] >= 0
    statement = np.empty(count, np.int32)
    entry_feed = np.empty(count, np.int32)
    count = 0
    for s in range(len(row)):
        for item in range(feed_start[row[s]], feed_start[row[s] + 1]):
            if feed[item] >= 0:
                statement[count] = s
                entry_feed[count] = feed[item]
                count += 1
    return statement, entry_feed


@compiled
def _build_pairs(epoch_count, entry_row, entry_epoch, entry_feed, is_add, is_connected, order):
    n = len(order)
    start = np.zeros(epoch_count + 1, np.int64)
    epoch = np.empty(n, np.int32)
    feed = np.empty(n, np.int32)
    is_added = np.zeros(n, np.bool_)
    is_excluded = np.zeros(n, np.bool_)
    is_member = np.zeros(n, np.bool_)
    add_start = np.zeros(n + 1, np.int64)
    exclude_start = np.zeros(n + 1, np.int64)
    added_by = np.empty(n, np.int32)
    excluded_by = np.empty(n, np.int32)
    pairs = 0
    adds = 0
    excludes = 0
    last_row = -1
    for i in order:
        e = entry_epoch[i]
        row = entry_row[i]
        if pairs == 0 or epoch[pairs - 1] != e or feed[pairs - 1] != entry_feed[i]:
            epoch[pairs] = e
            feed[pairs] = entry_feed[i]
            start[e + 1] += 1
            pairs += 1
        elif row == last_row:
            continue
        last_row = row
        if is_add[row]:
            is_added[pairs - 1] = True
            is_member[pairs - 1] |= is_connected[row]
            added_by[adds] = row
            adds += 1
        else:
            is_excluded[pairs - 1] = True
            excluded_by[excludes] = row
            excludes += 1
        add_start[pairs] = adds
        exclude_start[pairs] = excludes
    for e in range(epoch_count):
        start[e + 1] += start[e]
    return Pairs(
        start,
        epoch[:pairs].copy(),
        feed[:pairs].copy(),
        is_added[:pairs].copy(),
        is_excluded[:pairs].copy(),
        is_member[:pairs].copy(),
        add_start[: pairs + 1].copy(),
        added_by[:adds].copy(),
        exclude_start[: pairs + 1].copy(),
        excluded_by[:excludes].copy(),
    )


@compiled
def _column_starts(order, group, feed, group_count):
    start = np.empty(len(order) + 1, np.int64)
    group_start = np.zeros(group_count + 1, np.int64)
    columns = 0
    for at in range(len(order)):
        pair = order[at]
        if at == 0 or feed[pair] != feed[order[at - 1]] or group[pair] != group[order[at - 1]]:
            start[columns] = at
            group_start[group[pair] + 1] += 1
            columns += 1
    start[columns] = len(order)
    for g in range(group_count):
        group_start[g + 1] += group_start[g]
    return start[: columns + 1].copy(), group_start
