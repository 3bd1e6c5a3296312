"""People who were excluded, added again, and dropped from a later epoch by the old exclusion.

Whoever was added to an epoch R is still expected in a later epoch E unless somebody excluded them in R or in an epoch
between R and E: on a path from R up to, and not including, E. That is what adds and removals mean in a set where an
add wins against a removal that did not know it. Peers count an exclusion for ever instead. So a feed is dropped by E
if some add of it in an ancestor still stands in this sense, some strict ancestor excluded the feed, and E does not
add it. Only the first such epoch on each path is told.

Adds (an epoch and a feed) are the bits of a word here, 64 to a sweep up the epochs; only those of contested feeds,
which are both added and excluded somewhere in the group, can matter.

Source: ssb-tribes2, ``getMissingMembers``, whose fault it shows; private group specification, 4.9, for what would be
right. The definition by paths is this project's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.bits import highest_bit, lowest_bit
from dbt_tangles.kernel_runtime.compiled import compiled


class DroppedMembers(NamedTuple):
    """Who is dropped where, by column, then epoch.

    Attributes:
        epoch: int32[found].
        column: int32[found]; see `pairs.FeedColumns`.
        is_whole: bool[groups]; False where more than the limit were found, and none of them are listed.
    """

    epoch: np.ndarray
    column: np.ndarray
    is_whole: np.ndarray


def find_dropped(
    graph_start: np.ndarray,
    start: np.ndarray,
    previous: np.ndarray,
    pair_epoch: np.ndarray,
    is_added: np.ndarray,
    is_excluded: np.ndarray,
    column_pair: np.ndarray,
    column_start: np.ndarray,
    group_columns: np.ndarray,
    contested_adds: np.ndarray,
    wanted: np.ndarray,
    limit: int,
) -> DroppedMembers:
    """Find who is dropped, and where first. A group costs (contested adds / 64) * (epochs + edges) steps.

    Args:
        graph_start: int64[groups + 1], into the epochs.
        start: int64[epochs + 1].
        previous: int32[edges].
        pair_epoch: int32[pairs].
        is_added: bool[pairs].
        is_excluded: bool[pairs].
        column_pair: int32[pairs].
        column_start: int64[columns + 1].
        group_columns: int64[groups + 1].
        contested_adds: int64[columns], how many epochs the feed is added to; 0 unless it is contested.
        wanted: bool[groups]; the others are passed over.
        limit: How many are listed of a group at most.

    Returns:
        Who is dropped.
    """
    epoch, column, is_whole = _find_dropped(
        graph_start,
        start,
        previous,
        pair_epoch,
        is_added,
        is_excluded,
        column_pair,
        column_start,
        group_columns,
        contested_adds,
        wanted,
        limit,
    )
    order = np.lexsort((epoch, column))
    return DroppedMembers(epoch[order], column[order], is_whole)


@compiled
def _find_dropped(
    graph_start,
    start,
    previous,
    pair_epoch,
    is_added,
    is_excluded,
    column_pair,
    column_start,
    group_columns,
    contested_adds,
    wanted,
    limit,
):
    n = len(start) - 1
    out_epoch = np.empty(64, np.int32)
    out_column = np.empty(64, np.int32)
    found = 0
    is_whole = np.ones(len(graph_start) - 1, np.bool_)
    own = np.zeros(n, np.uint64)
    present = np.zeros(n, np.uint64)
    excluded = np.zeros(n, np.uint64)
    known = np.zeros(n, np.uint64)
    removed = np.zeros(n, np.uint64)
    ever_excluded = np.zeros(n, np.uint64)
    lost = np.zeros(n, np.uint64)
    # A feed with many adds fills several words, and may be found in each. Columns ascend, so that suffices.
    last_column = np.full(n, np.int32(-1))
    bit_column = np.empty(64, np.int32)
    bit_mask = np.empty(64, np.uint64)
    for g in range(len(graph_start) - 1):
        first, end = graph_start[g], graph_start[g + 1]
        if not wanted[g] or end - first < 2:
            continue
        before_group = found
        c = group_columns[g]
        at = column_start[c]
        while c < group_columns[g + 1] and is_whole[g]:
            own[first:end] = 0
            present[first:end] = 0
            excluded[first:end] = 0
            bits = 0
            while bits < 64 and c < group_columns[g + 1]:
                if contested_adds[c] == 0:
                    c += 1
                    at = column_start[c]
                    continue
                # As many adds of this feed as there is room for.
                mask = np.uint64(0)
                lowest = bits
                while bits < 64 and at < column_start[c + 1]:
                    pair = column_pair[at]
                    at += 1
                    if is_added[pair]:
                        bit = np.uint64(1) << np.uint64(bits)
                        own[pair_epoch[pair]] |= bit
                        bit_column[bits] = c
                        mask |= bit
                        bits += 1
                bit_mask[lowest:bits] = mask
                for k in range(column_start[c], column_start[c + 1]):
                    pair = column_pair[k]
                    if is_added[pair]:
                        present[pair_epoch[pair]] |= mask
                    if is_excluded[pair]:
                        excluded[pair_epoch[pair]] |= mask
                if at == column_start[c + 1]:
                    c += 1
            if bits == 0:
                continue
            for e in range(first, end):
                up = own[e]
                gone = np.uint64(0)
                ever = np.uint64(0)
                before = np.uint64(0)
                for edge in range(start[e], start[e + 1]):
                    p = previous[edge]
                    up |= known[p]
                    gone |= removed[p] | (known[p] & excluded[p])
                    ever |= ever_excluded[p] | excluded[p]
                    before |= lost[p]
                known[e] = up
                removed[e] = gone
                ever_excluded[e] = ever
                lost[e] = up & ~gone & ever & ~present[e]
                left = lost[e] & ~before
                while left != 0:
                    b = lowest_bit(left)
                    left &= ~bit_mask[b]
                    if last_column[e] == bit_column[b]:
                        continue
                    if found == len(out_epoch):
                        out_epoch = np.concatenate((out_epoch, np.empty(found, np.int32)))
                        out_column = np.concatenate((out_column, np.empty(found, np.int32)))
                    last_column[e] = bit_column[b]
                    out_epoch[found] = e
                    out_column[found] = bit_column[b]
                    found += 1
                if found - before_group > limit:
                    found = before_group
                    is_whole[g] = False
                    break
    return out_epoch[:found].copy(), out_column[:found].copy(), is_whole


@compiled
def find_witnesses(start, previous, pair_epoch, is_added, is_excluded, column_pair, column_start, epoch, column):
    """Find, for each feed that is dropped by an epoch, the last add that still stands there, and the last exclude.

    A feed costs at most (1 + its adds / 64, rounded up) * (epochs + edges) steps, however many epochs drop it.

    Args:
        start: int64[epochs + 1].
        previous: int32[edges].
        pair_epoch: int32[pairs].
        is_added: bool[pairs].
        is_excluded: bool[pairs].
        column_pair: int32[pairs].
        column_start: int64[columns + 1].
        epoch: int32[found], as `find_dropped` found them.
        column: int32[found].

    Returns:
        int32[found] and int32[found], pairs: of all adds of the feed that still stand in the epoch, the one to the
        last epoch; of all strict ancestors that exclude the feed, the exclude in the last one.
    """
    n = len(start) - 1
    found = len(epoch)
    add = np.full(found, np.int32(-1))
    exclude = np.full(found, np.int32(-1))
    own = np.zeros(n, np.uint64)
    known = np.zeros(n, np.uint64)
    removed = np.zeros(n, np.uint64)
    excluding = np.full(n, np.int32(-1))
    last = np.full(n, np.int32(-1))
    bit_pair = np.empty(64, np.int32)
    begin = 0
    while begin < found:
        c = column[begin]
        end = begin
        while end < found and column[end] == c:
            end += 1
        # What matters lies between the first epoch that names the feed and the last that drops it.
        low = pair_epoch[column_pair[column_start[c]]]
        high = epoch[end - 1]
        for at in range(column_start[c], column_start[c + 1]):
            pair = column_pair[at]
            if is_excluded[pair]:
                excluding[pair_epoch[pair]] = pair
        for e in range(low, high + 1):
            latest = np.int32(-1)
            for edge in range(start[e], start[e + 1]):
                p = previous[edge]
                if p >= low:
                    latest = max(latest, p if excluding[p] >= 0 else last[p])
            last[e] = latest
        for i in range(begin, end):
            exclude[i] = excluding[last[epoch[i]]]
        # The last adds first; most feeds have a few, and no epoch then looks further.
        open_count = end - begin
        at = column_start[c + 1]
        while open_count > 0 and at > column_start[c]:
            bits = 0
            while bits < 64 and at > column_start[c]:
                at -= 1
                pair = column_pair[at]
                if is_added[pair]:
                    own[pair_epoch[pair]] = np.uint64(1) << np.uint64(63 - bits)
                    bit_pair[63 - bits] = pair
                    bits += 1
            for e in range(low, high + 1):
                up = own[e]
                gone = np.uint64(0)
                for edge in range(start[e], start[e + 1]):
                    p = previous[edge]
                    if p >= low:
                        up |= known[p]
                        gone |= removed[p] | (known[p] if excluding[p] >= 0 else np.uint64(0))
                known[e] = up
                removed[e] = gone
            for i in range(begin, end):
                standing = known[epoch[i]] & ~removed[epoch[i]]
                if add[i] < 0 and standing != 0:
                    add[i] = bit_pair[highest_bit(standing)]
                    open_count -= 1
            for b in range(64 - bits, 64):
                own[pair_epoch[bit_pair[b]]] = 0
        for at in range(column_start[c], column_start[c + 1]):
            excluding[pair_epoch[column_pair[at]]] = -1
        begin = end
    return add, exclude
