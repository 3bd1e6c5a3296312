"""Which of a group's tips is preferred.

One tip is. Of two, peers compare the sets of those added: equal, or overlapping without one holding the other, the
lesser key wins; a proper subset wins against its superset; and sets that share nobody are an error. More than two are
an error as well. Here a total rule decides in all cases: a tip whose feeds properly include those of another tip is
out, and of the rest the one with the least key is preferred. Pairwise comparison would not do for more than two, as
it can go in circles. Where peers choose between two the rule chooses the same.

Source: ssb-tribes2, ``getPreferredEpoch`` and ``tieBreak``; private group specification, 4.2 to 4.8. The rule for more
than two, and for two that share nobody, is this project's.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled

PREFERENCES = (None, "single_tip", "same_members", "subset", "overlap", "disjoint", "many_tips")
NO_TIP, SINGLE_TIP, SAME_MEMBERS, SUBSET, OVERLAP, DISJOINT, MANY_TIPS = range(len(PREFERENCES))


@compiled
def choose_preferred(graph_start, is_tip, key_order, pair_start, pair_feed, is_added, feed_count):
    """Choose an epoch in each group.

    Tips are tried from the least key on, 64 at a time as the bits of a word: each feed has a word that tells which of
    them add it, and the words of the feeds that a tip adds leave, taken together, those of the 64 that include it. The
    first that includes no smaller one is it, most often one of the first 64; at worst a group costs
    (tips / 64) * (entries of all tips) steps.

    Args:
        graph_start: int64[groups + 1], into the epochs.
        is_tip: bool[epochs].
        key_order: int64[epochs], all different; the least key comes first.
        pair_start: int64[epochs + 1].
        pair_feed: int32[pairs].
        is_added: bool[pairs].
        feed_count: How many codes of feeds there are.

    Returns:
        int8[groups], an index into `PREFERENCES`; int32[groups], the tip that is preferred, or -1 in a group without
        epochs.
    """
    groups = len(graph_start) - 1
    preference = np.zeros(groups, np.int8)
    choice = np.full(groups, np.int32(-1))
    adding = np.zeros(feed_count, np.uint64)
    for g in range(groups):
        tip = np.flatnonzero(is_tip[graph_start[g] : graph_start[g + 1]]) + graph_start[g]
        if len(tip) < 2:
            preference[g] = len(tip)  # No tip, or a single one.
            if len(tip):
                choice[g] = tip[0]
            continue
        tip = tip[np.argsort(key_order[tip])]
        size = np.zeros(len(tip), np.int64)
        for t in range(len(tip)):
            for pair in range(pair_start[tip[t]], pair_start[tip[t] + 1]):
                size[t] += is_added[pair]
        by_size = np.argsort(size)
        for lowest in range(0, len(tip), 64):
            highest = min(lowest + 64, len(tip))
            for t in range(lowest, highest):
                for pair in range(pair_start[tip[t]], pair_start[tip[t] + 1]):
                    if is_added[pair]:
                        adding[pair_feed[pair]] |= np.uint64(1) << np.uint64(t - lowest)
            # Smaller sets first, so that those that may include one only become fewer.
            beaten = np.uint64(0)
            larger = ~np.uint64(0) >> np.uint64(64 - (highest - lowest))
            in_word = lowest + np.argsort(size[lowest:highest])
            passed = 0
            for other in by_size:
                while passed < len(in_word) and size[in_word[passed]] <= size[other]:
                    larger &= ~(np.uint64(1) << np.uint64(in_word[passed] - lowest))
                    passed += 1
                including = larger & ~beaten
                if including == 0:
                    break
                pair = pair_start[tip[other]]
                while including != 0 and pair < pair_start[tip[other] + 1]:
                    if is_added[pair]:
                        including &= adding[pair_feed[pair]]
                    pair += 1
                beaten |= including
            if len(tip) == 2:
                shared = 0
                for pair in range(pair_start[tip[1]], pair_start[tip[1] + 1]):
                    shared += is_added[pair] and adding[pair_feed[pair]] == 3
                if shared == size[0] and shared == size[1]:
                    preference[g] = SAME_MEMBERS
                elif shared == size[0] or shared == size[1]:
                    preference[g] = SUBSET
                else:
                    preference[g] = OVERLAP if shared else DISJOINT
            else:
                preference[g] = MANY_TIPS
            for t in range(lowest, highest):
                for pair in range(pair_start[tip[t]], pair_start[tip[t] + 1]):
                    adding[pair_feed[pair]] = 0
                if choice[g] < 0 and beaten >> np.uint64(t - lowest) & np.uint64(1) == 0:
                    choice[g] = tip[t]
            if choice[g] >= 0:
                break
    return preference, choice
