"""Dropped members of private groups: feeds that were excluded, added again, and left out of a later epoch.

A feed that an epoch R adds is expected in a later epoch E unless it is excluded in R or in an epoch on a path from R to
E, E itself not counted. This is an add-wins set: an exclude removes only the adds in its ancestors. Peers count an
exclude for ever instead. So E drops a feed if an add of it in an ancestor still stands in this sense, a strict ancestor
excludes it, and E does not add it. Only the first such epoch on each path is listed.

Adds (pairs of an epoch and a feed) are the bits of a word, 64 to a sweep from the root to the tips. Only contested
feeds matter: those both added and excluded in the group.

Source: ssb-tribes2, `getMissingMembers`, which drops them; private group specification, 4.9, for the right members. The
definition by paths is this project's.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.graph.orders import Dag
from dbt_tangles.algorithms.private_group.epoch_feed_pairs import FeedColumns, Pairs
from dbt_tangles.algorithms.structures.bits import highest_bit, lowest_bit
from dbt_tangles.algorithms.structures.space import with_space
from dbt_tangles.kernel_runtime.compiled import compiled, inner

WORD = 64


class DroppedMembers(NamedTuple):
    """Dropped feeds and their epochs, by column, then epoch."""

    epoch: np.ndarray  # int32[found]
    column: np.ndarray  # int32[found]; see `epoch_feed_pairs.FeedColumns`
    is_whole: np.ndarray  # bool[groups]; False where a group exceeds the limit and its dropped feeds are left out


class _Words(NamedTuple):
    """Words of adds, by epoch, and the adds that the bits stand for."""

    own: np.ndarray  # uint64[epochs], the adds of the epoch
    present: np.ndarray  # uint64[epochs], all adds of the feeds that the epoch adds
    excluded: np.ndarray  # uint64[epochs], all adds of the feeds that the epoch excludes
    known: np.ndarray  # uint64[epochs], the adds of the epoch and its ancestors
    removed: np.ndarray  # uint64[epochs], those that an exclude removed
    ever_excluded: np.ndarray  # uint64[epochs], the adds of the feeds that a strict ancestor excludes
    lost: np.ndarray  # uint64[epochs], the adds of the feeds that the epoch drops
    last_column: np.ndarray  # int32[epochs], the last column listed for the epoch
    bit_column: np.ndarray  # int32[64], the column of each bit
    bit_mask: np.ndarray  # uint64[64], the bits of the same column


def find_dropped(
    dag: Dag, pairs: Pairs, columns: FeedColumns, contested_adds: np.ndarray, wanted: np.ndarray, limit: int
) -> DroppedMembers:
    """Find the dropped feeds, and the first epochs that drop them.

    A group costs (contested adds / 64) * (epochs + edges) steps.

    Args:
        dag: The epochs.
        pairs: The pairs of epochs and feeds.
        columns: The same pairs by feed.
        contested_adds: int64[columns], the number of epochs that add a contested feed; 0 for other feeds.
        wanted: bool[groups], the groups to search.
        limit: The most dropped feeds that are listed for one group.

    Returns:
        The dropped feeds.
    """
    epoch, column, is_whole = _find_dropped(dag, pairs, columns, contested_adds, wanted, limit)
    order = np.lexsort((epoch, column))
    return DroppedMembers(epoch[order], column[order], is_whole)


@compiled
def _find_dropped(dag, pairs, columns, contested_adds, wanted, limit):
    graph_start = dag.graph_start
    out_epoch = np.empty(64, np.int32)
    out_column = np.empty(64, np.int32)
    found = 0
    is_whole = np.ones(len(graph_start) - 1, np.bool_)
    words = _allocate_words(len(dag.start) - 1)
    # The column and the entry of it at which the next word begins.
    state = np.zeros(2, np.int64)
    for g in range(len(graph_start) - 1):
        first, end = graph_start[g], graph_start[g + 1]
        if not wanted[g] or end - first < 2:
            continue
        before_group = found
        state[0] = columns.group_start[g]
        state[1] = columns.start[state[0]]
        while state[0] < columns.group_start[g + 1] and is_whole[g]:
            if _fill_words(g, state, dag, pairs, columns, contested_adds, words) == 0:
                continue
            for e in range(first, end):
                left = _sweep_epoch(e, dag, words)
                if left == 0:
                    continue
                out_epoch = with_space(out_epoch, found, WORD)
                out_column = with_space(out_column, found, WORD)
                while left != 0:
                    b = lowest_bit(left)
                    left &= ~words.bit_mask[b]
                    # A feed with many adds fills several words. Columns ascend, so one comparison finds repetitions.
                    if words.last_column[e] == words.bit_column[b]:
                        continue
                    words.last_column[e] = words.bit_column[b]
                    out_epoch[found] = e
                    out_column[found] = words.bit_column[b]
                    found += 1
                if found - before_group > limit:
                    found = before_group
                    is_whole[g] = False
                    break
    return out_epoch[:found].copy(), out_column[:found].copy(), is_whole


@compiled
def _allocate_words(epochs):
    """Make `_Words` for so many epochs."""
    words = np.zeros((7, epochs), np.uint64)
    return _Words(
        words[0],
        words[1],
        words[2],
        words[3],
        words[4],
        words[5],
        words[6],
        np.full(epochs, np.int32(-1)),
        np.empty(WORD, np.int32),
        np.empty(WORD, np.uint64),
    )


@inner
def _fill_words(g, state, dag, pairs, columns, contested_adds, words):
    """Take the next adds of contested feeds of a group, up to 64 of them."""
    column_pair, column_start = columns.pair, columns.start
    first, end = dag.graph_start[g], dag.graph_start[g + 1]
    words.own[first:end] = 0
    words.present[first:end] = 0
    words.excluded[first:end] = 0
    c, at = state
    bits = 0
    while bits < WORD and c < columns.group_start[g + 1]:
        if contested_adds[c] == 0:
            c += 1
            at = column_start[c]
            continue
        mask = np.uint64(0)
        lowest = bits
        while bits < WORD and at < column_start[c + 1]:
            pair = column_pair[at]
            at += 1
            if pairs.is_added[pair]:
                bit = np.uint64(1) << np.uint64(bits)
                words.own[pairs.epoch[pair]] |= bit
                words.bit_column[bits] = c
                mask |= bit
                bits += 1
        words.bit_mask[lowest:bits] = mask
        for k in range(column_start[c], column_start[c + 1]):
            pair = column_pair[k]
            if pairs.is_added[pair]:
                words.present[pairs.epoch[pair]] |= mask
            if pairs.is_excluded[pair]:
                words.excluded[pairs.epoch[pair]] |= mask
        if at == column_start[c + 1]:
            c += 1
    state[:] = c, at
    return bits


@inner
def _sweep_epoch(e, dag, words):
    """Compute the words of an epoch from those of its previous epochs; the adds that it is the first to drop."""
    up = words.own[e]
    gone = np.uint64(0)
    ever = np.uint64(0)
    before = np.uint64(0)
    for edge in range(dag.start[e], dag.start[e + 1]):
        p = dag.previous[edge]
        up |= words.known[p]
        gone |= words.removed[p] | (words.known[p] & words.excluded[p])
        ever |= words.ever_excluded[p] | words.excluded[p]
        before |= words.lost[p]
    words.known[e] = up
    words.removed[e] = gone
    words.ever_excluded[e] = ever
    words.lost[e] = up & ~gone & ever & ~words.present[e]
    return words.lost[e] & ~before


class _Search(NamedTuple):
    """The epochs and pairs of one feed, and scratch arrays by epoch."""

    low: int  # The first epoch that names the feed
    high: int  # The last epoch that drops it
    start: np.ndarray  # int64[epochs + 1], into `previous`
    previous: np.ndarray  # int32[edges]
    excluding: np.ndarray  # int32[epochs], the pair that excludes the feed in the epoch, or -1
    last: np.ndarray  # int32[epochs], the last strict ancestor that excludes the feed, or -1
    own: np.ndarray  # uint64[epochs], zero: the add of the epoch
    known: np.ndarray  # uint64[epochs]
    removed: np.ndarray  # uint64[epochs]


@compiled
def find_witnesses(dag, pairs, columns, epoch, column):
    """Find, for each dropped feed and epoch, the last add that still stands there, and the last exclude.

    A feed costs at most (1 + its adds / 64, rounded up) * (epochs + edges) steps for all epochs that drop it.

    Args:
        dag: A `graph.orders.Dag` of epochs.
        pairs: `epoch_feed_pairs.Pairs`.
        columns: `epoch_feed_pairs.FeedColumns`.
        epoch: int32[found], as `find_dropped` returns them.
        column: int32[found].

    Returns:
        int32[found] and int32[found], pairs: of the adds of the feed that still stand in the epoch, the one to the
        last epoch; of the excludes of the feed in strict ancestors, the one in the last epoch.
    """
    n = len(dag.start) - 1
    found = len(epoch)
    add = np.full(found, np.int32(-1))
    exclude = np.full(found, np.int32(-1))
    rows = np.full((2, n), np.int32(-1))
    words = np.zeros((3, n), np.uint64)
    bit_pair = np.empty(WORD, np.int32)
    column_start, column_pair = columns.start, columns.pair
    begin = 0
    while begin < found:
        c = column[begin]
        end = begin
        while end < found and column[end] == c:
            end += 1
        low = np.int64(pairs.epoch[column_pair[column_start[c]]])
        high = np.int64(epoch[end - 1])
        of = _Search(low, high, dag.start, dag.previous, rows[0], rows[1], words[0], words[1], words[2])
        for at in range(column_start[c], column_start[c + 1]):
            pair = column_pair[at]
            if pairs.is_excluded[pair]:
                of.excluding[pairs.epoch[pair]] = pair
        _find_last_excludes(of)
        for i in range(begin, end):
            exclude[i] = of.excluding[of.last[epoch[i]]]
        # The last adds come first: most feeds have few, and then one word is enough.
        open_count = end - begin
        at = column_start[c + 1]
        while open_count > 0 and at > column_start[c]:
            bits = 0
            while bits < WORD and at > column_start[c]:
                at -= 1
                pair = column_pair[at]
                if pairs.is_added[pair]:
                    of.own[pairs.epoch[pair]] = np.uint64(1) << np.uint64(WORD - 1 - bits)
                    bit_pair[WORD - 1 - bits] = pair
                    bits += 1
            _sweep_adds(of)
            open_count -= _take_highest(epoch[begin:end], add[begin:end], bit_pair, of)
            for b in range(WORD - bits, WORD):
                of.own[pairs.epoch[bit_pair[b]]] = 0
        for at in range(column_start[c], column_start[c + 1]):
            of.excluding[pairs.epoch[column_pair[at]]] = -1
        begin = end
    return add, exclude


@inner
def _find_last_excludes(of):
    """Find the last strict ancestor of each epoch that excludes the feed; `last` is filled."""
    for e in range(of.low, of.high + 1):
        latest = np.int32(-1)
        for edge in range(of.start[e], of.start[e + 1]):
            p = of.previous[edge]
            if p >= of.low:
                latest = max(latest, p if of.excluding[p] >= 0 else of.last[p])
        of.last[e] = latest


@inner
def _sweep_adds(of):
    """Compute the adds that each epoch knows and those that excludes removed; `known` and `removed` are filled."""
    for e in range(of.low, of.high + 1):
        up = of.own[e]
        gone = np.uint64(0)
        for edge in range(of.start[e], of.start[e + 1]):
            p = of.previous[edge]
            if p >= of.low:
                up |= of.known[p]
                gone |= of.removed[p] | (of.known[p] if of.excluding[p] >= 0 else np.uint64(0))
        of.known[e] = up
        of.removed[e] = gone


@inner
def _take_highest(epoch, add, bit_pair, of):
    """Set the last standing add of each epoch without one; the number of epochs that got one."""
    count = 0
    for i in range(len(epoch)):
        standing = of.known[epoch[i]] & ~of.removed[epoch[i]]
        if add[i] < 0 and standing != 0:
            add[i] = bit_pair[highest_bit(standing)]
            count += 1
    return count
