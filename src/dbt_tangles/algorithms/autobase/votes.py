"""Votes and quorums in the logs of indexers.

An indexer votes for a node with the first of its own nodes that is the node or a descendant; a vote is a length of its
log. A node that sees a majority of votes knows a quorum of the first degree; the first such node of each indexer is its
vote of the next degree.

Source: the design document of Autobase, Quorums.
"""

import numpy as np

from dbt_tangles.algorithms.autobase.base_graphs import NEVER
from dbt_tangles.algorithms.structures.gallop import galloping
from dbt_tangles.kernel_runtime.compiled import inner


@inner
def count_seen(lengths, clock):
    """Count the logs of which a node with this clock sees the given length."""
    count = 0
    for k in range(len(lengths)):
        count += lengths[k] <= clock[k]
    return count


@inner
def sees_majority(votes, clock):
    """Say whether a node with this clock sees a majority of votes."""
    return count_seen(votes, clock) >= len(votes) // 2 + 1


@inner
def _lacks_majority(length, first, votes, least, base):
    """Say whether a node sees no majority of votes; no node before the place `least` sees one."""
    y = first + length - 1
    return base.place[y] < least or not sees_majority(votes, base.clock[y])


_first_with_majority = galloping(_lacks_majority)


@inner
def _first_knowing(votes, base):
    """Find the first node by depth, writer and length that sees a majority of votes: -1 without one, -2 if it is late.

    It does not come before a majority of the votes, and mostly it is the last of the first majority.
    """
    n = len(votes)
    if n == 0:
        return np.int64(-1)
    place = np.empty(n, np.int32)
    for k in range(n):
        place[k] = NEVER if votes[k] == NEVER else base.place[base.first[k] + votes[k] - 1]
    tests = 0
    for i in range(np.partition(place, n // 2)[n // 2], len(base.causal)):
        y = np.int64(base.causal[i])
        if base.indexer[y] >= 0:
            if sees_majority(votes, base.clock[y]):
                return y
            tests += 1
            if tests > n:
                return np.int64(-2)
    return np.int64(-1)


@inner
def find_next_votes(votes, following, follower, base):
    """Find the votes of the next degree, none earlier than `following`, which is replaced; the first of them, or -1.

    Args:
        votes: int32[indexers], votes of a degree over a node.
        following: int32[indexers].
        follower: int32[nodes, indexers], of `base_graphs.first_followers`.
        base: A `base_graphs.Base`.
    """
    best = _first_knowing(votes, base)
    is_first_known = best != -2
    least = base.place[best] if best >= 0 else 0
    for k in range(len(votes)):
        at, end = np.int64(max(votes[k], following[k])), np.int64(base.known[k]) + 1
        if best >= 0 and is_first_known:
            # The nodes that see the first one see the votes as well.
            end = min(end, np.int64(follower[best, k]))
        found = max(at, end)
        if at < end and best != -1:
            found = _first_with_majority(at - 1, end, np.int64(base.first[k]), votes, least, base)
        following[k] = found if found <= base.known[k] and best != -1 else NEVER
        if not is_first_known and following[k] != NEVER:
            y = np.int64(base.first[k] + found - 1)
            if best < 0 or base.place[y] < base.place[best]:
                best = y
    return max(best, np.int64(-1))


@inner
def degree_up_to_two(votes, known, base):
    """Return the degree of a quorum that these lengths of logs show, by the votes over a node; 2 stands for more."""
    if not sees_majority(votes, known):
        return 0
    count = 0
    for k in range(len(votes)):
        count += known[k] > 0 and sees_majority(votes, base.clock[base.first[k] + known[k] - 1])
    return 2 if count > len(votes) // 2 else 1


@inner
def find_contender(x, known, removed, follower, base):
    """Find the contender of a node: the node beside it with the highest quorum, up to degree two, or -1.

    Args:
        x: The node.
        known: int32[indexers], the lengths of logs that the observer knows.
        removed: int32[indexers], lengths of logs whose nodes do not count.
        follower: int32[nodes, indexers], of `base_graphs.first_followers`.
        base: A `base_graphs.Base`.
    """
    best, best_degree = np.int64(-1), -1
    for k in range(len(known)):
        # The nodes of a log beside x are a run, and the first of them has the highest quorum.
        beside = max(base.clock[x, k], removed[k]) + 1
        if beside <= known[k] and beside < follower[x, k]:
            z = np.int64(base.first[k] + beside - 1)
            degree = degree_up_to_two(follower[z], known, base)
            if degree > best_degree or (degree == best_degree and base.place[z] < base.place[best]):
                best, best_degree = z, degree
    return best
