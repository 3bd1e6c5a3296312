"""Quorums of every degree over the nodes of many bases.

Source: the design document of Autobase, Quorums.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.base_graphs import Bases, base_of
from dbt_tangles.algorithms.autobase.votes import find_next_votes
from dbt_tangles.kernel_runtime.compiled import compiled

#: The most voters that are found at a time.
VOTERS = 4_000_000


class Quorums(NamedTuple):
    """Quorums, by node, then degree."""

    node: np.ndarray  # int64[quorums], the node that each is over, numbered over all bases
    degree: np.ndarray  # int32[quorums], from 1
    reached_by: np.ndarray  # int64[quorums], the first node by depth, writer and length that knows the quorum
    voter_start: np.ndarray  # int64[quorums + 1], into `voter`
    voter: np.ndarray  # int32[...], ascending: the indexers whose votes of the degree before `reached_by` sees


def quorums(bases: Bases, follower: np.ndarray, max_degree: int) -> Iterator[Quorums]:
    """Find the quorums over every node of some bases.

    Args:
        bases: The bases, with clocks.
        follower: int32[...], of `base_graphs.first_followers`.
        max_degree: The highest degree to find. With a single indexer every degree is reached at once.

    Yields:
        The quorums of some nodes, then those of the next.

    Raises:
        ValueError: `max_degree` is less than 1.
    """
    if max_degree < 1:
        raise ValueError(f"max_degree is {max_degree}; the first degree is 1, so pass 1 or more")
    widest = int(np.diff(bases.indexer_start).max(initial=0))
    chunk = max(1, VOTERS // (max_degree * max(1, widest)))
    nodes = int(bases.base_start[-1])
    for begin in range(0, nodes, chunk):
        yield Quorums(*_quorums(begin, min(begin + chunk, nodes), max_degree, bases, follower))


@compiled
def _quorums(begin, end, max_degree, bases, follower):
    """Find the quorums over the nodes from `begin` to `end`; the fields of `Quorums`."""
    b = np.searchsorted(bases.base_start, begin, "right") - 1
    widest = 0
    for i in range(b, len(bases.base_start) - 1):
        widest = max(widest, bases.indexer_start[i + 1] - bases.indexer_start[i])
    room = (end - begin) * max_degree
    node, degree, reached_by = np.empty(room, np.int64), np.empty(room, np.int32), np.empty(room, np.int64)
    voter_start, voter = np.zeros(room + 1, np.int64), np.empty(room * widest, np.int32)
    count = voters = 0
    while b < len(bases.base_start) - 1 and bases.base_start[b] < end:
        low = bases.base_start[b]
        base = base_of(bases, b)
        rows = follower[bases.clock_start[b] : bases.clock_start[b + 1]].reshape(base.clock.shape)
        votes = np.zeros((max_degree + 1, len(base.known)), np.int32)
        for x in range(max(begin - low, 0), min(end, bases.base_start[b + 1]) - low):
            if x > 0 and base.writer[x] != base.writer[x - 1]:
                votes[:] = 0
            # The votes over a node are not earlier than those over the node before it in its log.
            votes[0] = rows[x]
            for d in range(1, max_degree + 1):
                best = find_next_votes(votes[d - 1], votes[d], rows, base)
                if best < 0:
                    break
                node[count], degree[count], reached_by[count] = low + x, d, low + best
                for j in range(len(base.known)):
                    if votes[d - 1, j] <= base.clock[best, j]:
                        voter[voters] = j
                        voters += 1
                count += 1
                voter_start[count] = voters
        b += 1
    return node[:count], degree[:count], reached_by[:count], voter_start[: count + 1], voter[:voters]
