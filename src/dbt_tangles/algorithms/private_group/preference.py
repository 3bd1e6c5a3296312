"""The preferred epoch of a private group: the choice among its tips.

A single tip is preferred. Between two tips, peers compare the sets of added feeds: if they are equal, or overlap
without inclusion, the tip with the lesser key wins; a proper subset wins over its superset; disjoint sets are an error.
More than two tips are an error as well. This project's total rule covers all cases and agrees with the peers wherever
they decide: drop each tip whose feeds properly include those of another tip, then take the least key. For more than two
tips pairwise comparison may be circular, so it is not used.

Source: ssb-tribes2, `getPreferredEpoch` and `tieBreak`; private group specification, 4.2 to 4.8. The rule for more than
two tips and for two disjoint ones is this project's.
"""

from collections import defaultdict
from collections.abc import Sequence

from dbt_tangles.algorithms.private_group.epochs import Epoch

#: The tips that are compared at once with all others.
WIDTH = 1024


def choose_preferred(epochs: Sequence[Epoch], tips: Sequence[int]) -> tuple[str, int]:
    """Return the case by which the preferred epoch of a group is chosen, and its number.

    Keys compare as unsigned bytes, like their lower-case hexadecimal forms; between equal keys the lesser epoch id
    comes first. Most often one of the first `WIDTH` tips is chosen. At worst a group costs (tips / `WIDTH`) * (pairs of
    a tip and a feed that it adds) steps.
    """
    by_key = sorted(tips, key=lambda tip: (epochs[tip].key, epochs[tip].epoch_id))
    first: dict[frozenset[int], int] = {}
    for tip in by_key:
        first.setdefault(frozenset(epochs[tip].added), tip)
    distinct = [*first]
    for begin in range(0, len(distinct), WIDTH):
        least = ~_including(distinct, begin) & (1 << len(distinct[begin : begin + WIDTH])) - 1
        if least:
            break
    lowest = (least & -least).bit_length() - 1
    return _case(len(tips), distinct), first[distinct[begin + lowest]]


def _including(distinct: Sequence[frozenset[int]], begin: int) -> int:
    """Find the sets from `begin` on that properly include any other set: the bits of an integer."""
    holders: dict[int, int] = defaultdict(int)
    for place, feeds in enumerate(distinct[begin : begin + WIDTH]):
        for feed in feeds:
            holders[feed] |= 1 << place
    found = 0
    for place, feeds in enumerate(distinct, -begin):
        including = (1 << WIDTH) - 1
        for feed in feeds:
            including &= holders.get(feed, 0)
            if not including:
                break
        found |= including & ~(1 << place) if 0 <= place < WIDTH else including
    return found


def _case(tip_count: int, distinct: Sequence[frozenset[int]]) -> str:
    if tip_count != 2:
        return "single_tip" if tip_count == 1 else "many_tips"
    if len(distinct) == 1:
        return "same_members"
    one, other = distinct
    if one < other or other < one:
        return "subset"
    return "overlap" if one & other else "disjoint"
