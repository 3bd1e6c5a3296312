"""Who should have been added to an epoch again and was not.

With added(E) and excluded(E) as the peers read them, and U(E) the union of added over E and its ancestors, X(E) the
union of excluded over its strict ancestors, they expect U(E) - X(E) in E. Missing is what of that is not in added(E).
An exclusion counts for ever: whoever was added again after it is returned there, which peers report as well, and is
expected in no later epoch (see `dropped`).

Feeds are taken 64 at a time, as the bits of a word, and swept up the epochs: a group costs
(feeds / 64) * (epochs + edges) steps, and memory is a few words an epoch. Missing feeds are counted in one sweep and
listed in another, some at a time, since there may be epochs * feeds of them.

Source: ssb-tribes2, ``getMissingMembers``; private group specification, 4.9.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.algorithms.structures.bits import lowest_bit, ones
from dbt_tangles.kernel_runtime.compiled import compiled, inner

WORD = 64


@compiled
def count_missing(
    graph_start, start, previous, pair_epoch, is_added, is_excluded, column_pair, column_start, group_columns, wanted
):
    """Count the missing feeds of each epoch, and those it added although an ancestor excluded them.

    Args:
        graph_start: int64[groups + 1], into the epochs.
        start: int64[epochs + 1], into the edges.
        previous: int32[edges].
        pair_epoch: int32[pairs].
        is_added: bool[pairs].
        is_excluded: bool[pairs].
        column_pair: int32[pairs].
        column_start: int64[columns + 1].
        group_columns: int64[groups + 1].
        wanted: bool[groups]; the others are passed over.

    Returns:
        int32[epochs] how many are missing, int32[epochs] how many returned; bool[pairs] and bool[pairs], whether the
        feed is missing from the epoch, and whether it returned in it.
    """
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
        for lowest in range(group_columns[g], group_columns[g + 1], WORD):
            highest = min(lowest + WORD, group_columns[g + 1])
            _fill_words(
                first,
                end,
                start,
                previous,
                pair_epoch,
                is_added,
                is_excluded,
                column_pair,
                column_start,
                lowest,
                highest,
                words,
            )
            for e in range(first, end):
                missing[e] += ones(ever_added[e] & ~ever_excluded[e] & ~added[e])
                returned[e] += ones(added[e] & ever_excluded[e])
            for c in range(lowest, highest):
                bit = np.uint64(1) << np.uint64(c - lowest)
                for at in range(column_start[c], column_start[c + 1]):
                    pair = column_pair[at]
                    e = pair_epoch[pair]
                    pair_missing[pair] = ever_added[e] & ~ever_excluded[e] & ~added[e] & bit != 0
                    pair_returned[pair] = added[e] & ever_excluded[e] & bit != 0
    return missing, returned, pair_missing, pair_returned


@compiled
def list_missing(
    graph_start,
    start,
    previous,
    pair_epoch,
    pair_feed,
    is_added,
    is_excluded,
    column_pair,
    column_start,
    group_columns,
    wanted,
    state,
    out_epoch,
    out_feed,
):
    """List missing feeds that no statement names for the epoch they are missing from; these have no pair.

    Args:
        graph_start: As in `count_missing`, like the others up to `wanted`.
        start: int64[epochs + 1].
        previous: int32[edges].
        pair_epoch: int32[pairs].
        pair_feed: int32[pairs], codes of feeds.
        is_added: bool[pairs].
        is_excluded: bool[pairs].
        column_pair: int32[pairs].
        column_start: int64[columns + 1].
        group_columns: int64[groups + 1].
        wanted: bool[groups].
        state: int64[2], the group and the column at which to go on, at first zeros; it is moved on.
        out_epoch: int32[...], filled; with room for what 64 columns of any group can have.
        out_feed: int32[the same].

    Returns:
        How many were filled in; there may be more as long as state[0] is below the number of groups.
    """
    words = np.zeros((4, len(start) - 1), np.uint64)
    added, excluded, ever_added, ever_excluded = words[0], words[1], words[2], words[3]
    count = 0
    g, lowest = state
    while g < len(graph_start) - 1:
        first, end = graph_start[g], graph_start[g + 1]
        lowest = max(lowest, group_columns[g])
        if wanted[g] and end - first > 1:
            while lowest < group_columns[g + 1]:
                highest = min(lowest + WORD, group_columns[g + 1])
                _fill_words(
                    first,
                    end,
                    start,
                    previous,
                    pair_epoch,
                    is_added,
                    is_excluded,
                    column_pair,
                    column_start,
                    lowest,
                    highest,
                    words,
                )
                more = 0
                for e in range(first, end):
                    more += ones(ever_added[e] & ~ever_excluded[e] & ~added[e] & ~excluded[e])
                if count + more > len(out_epoch):
                    state[:] = g, lowest
                    return count
                for e in range(first, end):
                    left = ever_added[e] & ~ever_excluded[e] & ~added[e] & ~excluded[e]
                    while left != 0:
                        column = lowest + lowest_bit(left)
                        left &= left - np.uint64(1)
                        out_epoch[count] = e
                        out_feed[count] = pair_feed[column_pair[column_start[column]]]
                        count += 1
                lowest = highest
        g += 1
    state[:] = g, lowest
    return count


@inner
def _fill_words(
    first,
    end,
    start,
    previous,
    pair_epoch,
    is_added,
    is_excluded,
    column_pair,
    column_start,
    lowest,
    highest,
    words,
):
    """Fill the words of the epochs of one group for some of its columns: added, excluded, and the same ever before."""
    added, excluded, ever_added, ever_excluded = words[0], words[1], words[2], words[3]
    added[first:end] = 0
    excluded[first:end] = 0
    for c in range(lowest, highest):
        bit = np.uint64(1) << np.uint64(c - lowest)
        for at in range(column_start[c], column_start[c + 1]):
            pair = column_pair[at]
            if is_added[pair]:
                added[pair_epoch[pair]] |= bit
            if is_excluded[pair]:
                excluded[pair_epoch[pair]] |= bit
    for e in range(first, end):
        up = added[e]
        out = np.uint64(0)
        for edge in range(start[e], start[e + 1]):
            p = previous[edge]
            up |= ever_added[p]
            out |= ever_excluded[p] | excluded[p]
        ever_added[e] = up
        ever_excluded[e] = out
