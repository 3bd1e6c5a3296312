"""The preferred epoch of a private group: the choice among its tips.

A single tip is preferred. Between two tips, peers compare the sets of added feeds: if they are equal, or overlap
without inclusion, the tip with the lesser key wins; a proper subset wins over its superset; disjoint sets are an error.
More than two tips are an error as well. This project's total rule covers all cases and agrees with the peers wherever
they decide: drop each tip whose feeds properly include those of another tip, then take the least key. For more than two
tips pairwise comparison may be circular, so it is not used.

Source: ssb-tribes2, `getPreferredEpoch` and `tieBreak`; private group specification, 4.2 to 4.8. The rule for more than
two tips and for two disjoint ones is this project's.
"""

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner

PREFERENCES = (None, "single_tip", "same_members", "subset", "overlap", "disjoint", "many_tips")
NO_TIP, SINGLE_TIP, SAME_MEMBERS, SUBSET, OVERLAP, DISJOINT, MANY_TIPS = range(len(PREFERENCES))
WORD = 64


@compiled
def choose_preferred(graph_start, is_tip, key_order, pairs, feed_count):
    """Choose the preferred epoch of each group.

    Tips are tried in key order, 64 at a time as the bits of a word. Each feed has a word of the tips that add it; the
    intersection of the words of a tip's feeds holds the tips that include it. The first tip that includes no smaller
    one is chosen, most often among the first 64. At worst a group costs (tips / 64) * (pairs of all tips) steps.

    Args:
        graph_start: int64[groups + 1], into the epochs.
        is_tip: bool[epochs].
        key_order: int64[epochs], distinct; the least key comes first.
        pairs: `epoch_feed_pairs.Pairs`.
        feed_count: The number of feed codes.

    Returns:
        int8[groups] into `PREFERENCES`; int32[groups], the preferred tip, or -1 in a group without epochs.
    """
    groups = len(graph_start) - 1
    preference = np.zeros(groups, np.int8)
    choice = np.full(groups, np.int32(-1))
    adding = np.zeros(feed_count, np.uint64)
    for g in range(groups):
        tip = np.flatnonzero(is_tip[graph_start[g] : graph_start[g + 1]]) + graph_start[g]
        if len(tip) < 2:
            preference[g] = len(tip)  # `NO_TIP` or `SINGLE_TIP`.
            if len(tip):
                choice[g] = tip[0]
            continue
        tip = tip[np.argsort(key_order[tip])]
        size = np.zeros(len(tip), np.int64)
        for t in range(len(tip)):
            for pair in range(pairs.start[tip[t]], pairs.start[tip[t] + 1]):
                size[t] += pairs.is_added[pair]
        by_size = np.argsort(size)
        for lowest in range(0, len(tip), WORD):
            highest = min(lowest + WORD, len(tip))
            for t in range(lowest, highest):
                _mark_feeds(tip[t], np.uint64(1) << np.uint64(t - lowest), pairs, adding)
            in_word = lowest + np.argsort(size[lowest:highest])
            beaten = _find_beaten(lowest, in_word, by_size, size, tip, pairs, adding)
            preference[g] = MANY_TIPS if len(tip) > 2 else _compare_two(tip[1], size, pairs, adding)
            for t in range(lowest, highest):
                _mark_feeds(tip[t], np.uint64(0), pairs, adding)
                if choice[g] < 0 and beaten >> np.uint64(t - lowest) & np.uint64(1) == 0:
                    choice[g] = tip[t]
            if choice[g] >= 0:
                break
    return preference, choice


@inner
def _mark_feeds(epoch, bit, pairs, adding):
    """Set a bit in the words of the feeds that an epoch adds, or clear these words if the bit is 0."""
    for pair in range(pairs.start[epoch], pairs.start[epoch + 1]):
        if pairs.is_added[pair]:
            adding[pairs.feed[pair]] = adding[pairs.feed[pair]] | bit if bit else np.uint64(0)


@inner
def _find_beaten(lowest, in_word, by_size, size, tip, pairs, adding):
    """Find the tips of a word that properly include another tip."""
    beaten = np.uint64(0)
    larger = ~np.uint64(0) >> np.uint64(WORD - len(in_word))
    passed = 0
    for other in by_size:
        while passed < len(in_word) and size[in_word[passed]] <= size[other]:
            larger &= ~(np.uint64(1) << np.uint64(in_word[passed] - lowest))
            passed += 1
        including = larger & ~beaten
        if including == 0:
            break
        pair = pairs.start[tip[other]]
        while including != 0 and pair < pairs.start[tip[other] + 1]:
            if pairs.is_added[pair]:
                including &= adding[pairs.feed[pair]]
            pair += 1
        beaten |= including
    return beaten


@inner
def _compare_two(second, size, pairs, adding):
    """Compare the feeds of two tips: an index into `PREFERENCES`."""
    shared = 0
    for pair in range(pairs.start[second], pairs.start[second + 1]):
        shared += pairs.is_added[pair] and adding[pairs.feed[pair]] == 3
    if shared == size[0] and shared == size[1]:
        return SAME_MEMBERS
    if shared == size[0] or shared == size[1]:
        return SUBSET
    return OVERLAP if shared else DISJOINT
