"""Where most votes are known. A vote is a length of an indexer's log, see `quorums`."""

from __future__ import annotations

import numpy as np

from dbt_tangles.autobase.clocks import NEVER
from dbt_tangles.compiled import compiled
from dbt_tangles.structures.gallop import galloping


@compiled
def knows_most(clock, votes):
    """Say whether a node of this clock knows most votes.

    Args:
        clock: int32[indexers].
        votes: int32[indexers], lengths, or `NEVER`.
    """
    count = 0
    for j in range(len(votes)):
        if votes[j] <= clock[j]:
            count += 1
    return count >= len(votes) // 2 + 1


@compiled
def _is_ignorant(length, first, clock, votes):
    return not knows_most(clock[first + length - 1], votes)


_first_knowing = galloping(_is_ignorant)


@compiled
def first_to_know(at, known, first, clock, votes):
    """Find the first node of a log, from the one at `at`, that knows most votes.

    Args:
        at: A length, from 1.
        known: The length of the log.
        first: Its first node, as a row of `clock`.
        clock: int32[nodes of the view, indexers].
        votes: int32[indexers].

    Returns:
        The length of the log with it, or `NEVER`.
    """
    # The last is asked first: mostly there is none, or it is near.
    if at > known or _is_ignorant(known, first, clock, votes):
        return NEVER
    return np.int32(_first_knowing(np.int64(at) - 1, np.int64(known), first, clock, votes))
