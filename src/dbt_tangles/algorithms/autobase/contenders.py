"""Contenders: the node beside a settled node whose quorum delayed its confirmation.

Source: the design document of Autobase, Caveat.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import NEVER, causal_order, clocks, depths, first_followers
from dbt_tangles.algorithms.autobase.views import View, find_logs
from dbt_tangles.algorithms.autobase.votes import first_with_majority, knows_majority
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: Marks the votes of level 1 over a node that are not yet computed.
UNKNOWN = np.int32(-1)


class _Knowledge(NamedTuple):
    """The causal order, the clocks and the first followers of all nodes."""

    causal_place: np.ndarray  # int32[nodes], the place of each by depth, writer and length
    clock_start: np.ndarray  # int64[bases + 1], of `clocks.clocks`
    clock: np.ndarray  # int32[...], of the same
    follower: np.ndarray  # int32[...], of `clocks.first_followers`


def contenders(
    view_start: np.ndarray,
    start: np.ndarray,
    previous: np.ndarray,
    indexer: np.ndarray,
    floor_start: np.ndarray,
    settled: np.ndarray,
    before: np.ndarray,
) -> np.ndarray:
    """Find the contender of each of some settled nodes.

    A node has a contender only if the writer's previous node already saw a double quorum over it. The contender is the
    indexer node beside it that this previous node sees with the highest quorum, up to degree two; ties go to the first
    by depth, writer and length.

    Args:
        view_start: int64[bases + 1], into the nodes; arrays as in `views`, each view a whole base.
        start: int64[nodes + 1].
        previous: int32[edges].
        indexer: int32[nodes].
        floor_start: int64[bases + 1].
        settled: int64[...], nodes.
        before: int64[...], the writer's node before the one that confirmed each of them, or -1.

    Returns:
        int64[...], nodes, or -1.

    Raises:
        ValueError: The edges close a cycle.
    """
    arrays = (view_start, start, previous, indexer, floor_start)
    depth = depths(view_start, start, previous)
    place = np.empty(len(indexer), np.int32)
    place[causal_order(view_start, depth)] = np.arange(len(indexer), dtype=np.int32)
    by_base = np.argsort(np.searchsorted(view_start, settled, "right"), kind="stable")
    found = np.empty(len(settled), np.int64)
    known = _Knowledge(place, *clocks(*arrays), first_followers(*arrays, depth))
    found[by_base] = _contenders(view_start, indexer, floor_start, known, settled[by_base], before[by_base])
    return found


class Votes(NamedTuple):
    """The votes over the nodes of one view."""

    place: np.ndarray  # int32[nodes], the place of each by depth, writer and length
    first: np.ndarray  # int32[nodes of the view, indexers], the votes of level 0: `clocks.first_followers`
    second: np.ndarray  # int32[nodes of the view, indexers], the votes of level 1; filled on demand, `UNKNOWN` before


@inner
def fill_next_votes(votes, following, view):
    """Find the votes of the next level: of each log the first node that knows a majority of votes; their number."""
    count = 0
    for k in range(len(votes)):
        following[k] = first_with_majority(votes[k], view.known[k], view.first[k] - view.begin, view.clock, votes)
        count += following[k] != NEVER
    return count


@inner
def _quorum_degree(x, known, view, votes):
    """Return the degree of the quorum over a node that these lengths of logs show, up to two; 0 without a quorum."""
    first, second = votes.first[x - view.begin], votes.second[x - view.begin]
    if not knows_majority(known, first):
        return 0
    if second[0] == UNKNOWN:
        fill_next_votes(first, second, view)
    return 2 if knows_majority(known, second) else 1


@inner
def find_contender(x, known, view, votes):
    """Find the contender of a node: the node beside it with the highest quorum, up to degree two, or -1."""
    best = np.int64(-1)
    best_degree = -1
    for k in range(len(known)):
        # The nodes of a log beside x are a run, and the first of them has the highest quorum.
        beside = max(np.int64(view.clock[x - view.begin, k]), view.removed[k]) + 1
        if beside <= known[k] and beside < votes.first[x - view.begin, k]:
            z = view.first[k] + beside - 1
            degree = _quorum_degree(z, known, view, votes)
            if degree > best_degree or (degree == best_degree and votes.place[z] < votes.place[best]):
                best = z
                best_degree = degree
    return best


@compiled
def _contenders(view_start, indexer, floor_start, knowledge, settled, before):
    causal_place, clock_start, clocks, followers = knowledge
    found = np.full(len(settled), np.int64(-1))
    at = 0
    for v in range(len(view_start) - 1):
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        clock = clocks[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        follower = followers[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        view = View(begin, end, np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.int64), clock)
        find_logs(begin, end, indexer, view.first, view.known)
        votes = Votes(causal_place, follower, np.full(follower.shape, UNKNOWN))
        while at < len(settled) and settled[at] < end:
            if before[at] >= 0:
                known = clock[before[at] - begin]
                if _quorum_degree(settled[at], known, view, votes) == 2:
                    found[at] = find_contender(settled[at], known, view, votes)
            at += 1
    return found
