"""Missing and returned members of the epochs of private groups, by 64-bit words of feeds.

Let added(E) and excluded(E) be the feeds that valid adds and excludes of epoch E name, U(E) the union of added over E
and its ancestors, and X(E) the union of excluded over its strict ancestors. Peers expect U(E) - X(E) in E; an expected
feed outside added(E) is missing. Peers count an exclude for ever: a feed in both added(E) and X(E) has returned to E,
which they report as well, and they do not expect it in later epochs (`dropped_members`).

Feeds are taken 64 at a time, as the bits of a word, and swept from the root to the tips: a group costs
(feeds / 64) * (epochs + edges) steps and a few words per epoch. One sweep counts the missing feeds; another lists them
in parts, since there may be epochs * feeds of them.

Source: ssb-tribes2, `getMissingMembers`; private group specification, 4.9.
"""

import numpy as np

from dbt_tangles.algorithms.structures.bits import lowest_bit, popcount
from dbt_tangles.kernel_runtime.compiled import compiled, inner

WORD = 64


@compiled
def count_missing(dag, pairs, columns, wanted):
    """Count the missing and the returned feeds of each epoch.

    Args:
        dag: A `graph.orders.Dag` of epochs.
        pairs: `epoch_feed_pairs.Pairs`.
        columns: `epoch_feed_pairs.FeedColumns`.
        wanted: bool[groups], the groups to count.

    Returns:
        int32[epochs] missing feeds, int32[epochs] returned feeds; bool[pairs] and bool[pairs], whether the feed of the
        pair is missing from its epoch, and whether it returned.
    """
    graph_start, start, column_start = dag.graph_start, dag.start, columns.start
    pair_epoch, column_pair = pairs.epoch, columns.pair
    missing = np.zeros(len(start) - 1, np.int32)
    returned = np.zeros(len(start) - 1, np.int32)
    pair_missing = np.zeros(len(pair_epoch), np.bool_)
    pair_returned = np.zeros(len(pair_epoch), np.bool_)
    words = np.zeros((4, len(start) - 1), np.uint64)
    added, _, ever_added, ever_excluded = words[0], words[1], words[2], words[3]
    for g in range(len(graph_start) - 1):
        first, end = graph_start[g], graph_start[g + 1]
        if not wanted[g] or end - first < 2:
            continue
        for lowest in range(columns.group_start[g], columns.group_start[g + 1], WORD):
            highest = min(lowest + WORD, columns.group_start[g + 1])
            _fill_added_words(g, lowest, dag, pairs, columns, words)
            for e in range(first, end):
                missing[e] += popcount(ever_added[e] & ~ever_excluded[e] & ~added[e])
                returned[e] += popcount(added[e] & ever_excluded[e])
            for c in range(lowest, highest):
                bit = np.uint64(1) << np.uint64(c - lowest)
                for at in range(column_start[c], column_start[c + 1]):
                    pair = column_pair[at]
                    e = pair_epoch[pair]
                    pair_missing[pair] = ever_added[e] & ~ever_excluded[e] & ~added[e] & bit != 0
                    pair_returned[pair] = added[e] & ever_excluded[e] & bit != 0
    return missing, returned, pair_missing, pair_returned


@compiled
def list_missing(dag, pairs, columns, wanted, state, out_epoch, out_feed):
    """List the missing feeds that no add or exclude of their epoch names; they have no pair.

    Args:
        dag: A `graph.orders.Dag` of epochs.
        pairs: `epoch_feed_pairs.Pairs`.
        columns: `epoch_feed_pairs.FeedColumns`.
        wanted: bool[groups], the groups to list.
        state: int64[2], the group and column to continue at, zeros at first; it is moved on. The list is complete
            when state[0] is the number of groups.
        out_epoch: int32[...], filled; long enough for 64 columns of any group.
        out_feed: int32[same], filled.

    Returns:
        The number of entries filled.
    """
    graph_start, group_start = dag.graph_start, columns.group_start
    words = np.zeros((4, len(dag.start) - 1), np.uint64)
    added, excluded, ever_added, ever_excluded = words[0], words[1], words[2], words[3]
    count = 0
    g, lowest = state
    while g < len(graph_start) - 1:
        first, end = graph_start[g], graph_start[g + 1]
        lowest = max(lowest, group_start[g])
        while wanted[g] and end - first > 1 and lowest < group_start[g + 1]:
            _fill_added_words(g, lowest, dag, pairs, columns, words)
            more = 0
            for e in range(first, end):
                more += popcount(ever_added[e] & ~ever_excluded[e] & ~added[e] & ~excluded[e])
            if count + more > len(out_epoch):
                state[:] = g, lowest
                return count
            for e in range(first, end):
                left = ever_added[e] & ~ever_excluded[e] & ~added[e] & ~excluded[e]
                while left != 0:
                    column = lowest + lowest_bit(left)
                    left &= left - np.uint64(1)
                    out_epoch[count] = e
                    out_feed[count] = pairs.feed[columns.pair[columns.start[column]]]
                    count += 1
            lowest = min(lowest + WORD, group_start[g + 1])
        g += 1
    state[:] = g, lowest
    return count


@inner
def _fill_added_words(g, lowest, dag, pairs, columns, words):
    """Fill the words of a group's epochs for up to 64 columns from `lowest` on."""
    first, end = dag.graph_start[g], dag.graph_start[g + 1]
    start, previous, column_start = dag.start, dag.previous, columns.start
    added, excluded, ever_added, ever_excluded = words[0], words[1], words[2], words[3]
    added[first:end] = 0
    excluded[first:end] = 0
    for c in range(lowest, min(lowest + WORD, columns.group_start[g + 1])):
        bit = np.uint64(1) << np.uint64(c - lowest)
        for at in range(column_start[c], column_start[c + 1]):
            pair = columns.pair[at]
            if pairs.is_added[pair]:
                added[pairs.epoch[pair]] |= bit
            if pairs.is_excluded[pair]:
                excluded[pairs.epoch[pair]] |= bit
    for e in range(first, end):
        up = added[e]
        out = np.uint64(0)
        for edge in range(start[e], start[e + 1]):
            p = previous[edge]
            up |= ever_added[p]
            out |= ever_excluded[p] | excluded[p]
        ever_added[e] = up
        ever_excluded[e] = out
