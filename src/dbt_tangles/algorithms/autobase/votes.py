"""Votes and majorities in the logs of indexers. A vote is a length of an indexer's log, see `quorums`."""

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import NEVER
from dbt_tangles.algorithms.structures.gallop import galloping
from dbt_tangles.kernel_runtime.compiled import inner


@inner
def knows_majority(clock, votes):
    """Say whether a node with this clock sees a majority of votes."""
    count = 0
    for j in range(len(votes)):
        if votes[j] <= clock[j]:
            count += 1
    return count >= len(votes) // 2 + 1


@inner
def _lacks_majority(length, first, clock, votes):
    return not knows_majority(clock[first + length - 1], votes)


_first_with_majority = galloping(_lacks_majority)


@inner
def first_with_majority(at, known, first, clock, votes):
    """Find the first node of a log, from the one at `at` on, that sees a majority of votes."""
    if at > known:
        return NEVER
    found = _first_with_majority(np.int64(at) - 1, np.int64(known) + 1, first, clock, votes)
    return np.int32(found) if found <= known else NEVER


@inner
def next_degree_votes(votes, limit, first, begin, clock, following):
    """Find the votes of the next degree: of each log the first node that sees a majority of votes."""
    is_reached = False
    for k in range(len(votes)):
        following[k] = NEVER
        # The last node is tested first: mostly the log has no vote, or a late one.
        if votes[k] <= limit[k] and knows_majority(clock[first[k] + limit[k] - 1 - begin], votes):
            following[k] = first_with_majority(votes[k], limit[k], first[k] - begin, clock, votes)
            is_reached = True
    return is_reached
