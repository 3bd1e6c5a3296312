"""Unseen nodes: whether the next node of an indexer, not in the view, could settle a node by the rule of `design`.

The unseen node follows the last node of its indexer, if there is one, and at most one other node. It knows all that
these two know, and votes for it. So it sees the votes within its clock, and with it x has degree d if a majority less
one of the other indexers have votes of degree d - 1 that it sees; votes for x itself have degree 0. All degrees grow
with its knowledge. So of the nodes of a log that it could follow, only the first that gives x a degree has to be
tested: with later ones, the nodes beside x have no lower degree.

Source: the design document of Autobase, Consistent Ordering (the worst case).
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import NEVER
from dbt_tangles.algorithms.autobase.votes import next_degree_votes
from dbt_tangles.algorithms.structures.gallop import galloping
from dbt_tangles.kernel_runtime.compiled import compiled, inner


class UnseenVotes(NamedTuple):
    """The votes and nodes of a view that questions about unseen nodes need.

    Attributes:
        start: int64[nodes of the view + 1], into the rows of `votes`; a node has one row more than its degree, or none.
        votes: int32[rows, indexers], of every degree over a node.
        ends: int64[nodes of the view], the last node of the batch of each, or -1 if it is unknown.
        joins: int64[...], the nodes of other writers that can be followed and see more than each of their previous
            nodes. Following another such node adds no knowledge of indexers over following its previous node.
        contender: int32[nodes of the view, indexers], lengths: the first unsettled node of each log beside each node at
            its last test, or 0. Updated by `update_contenders`.
    """

    start: np.ndarray
    votes: np.ndarray
    ends: np.ndarray
    joins: np.ndarray
    contender: np.ndarray


@compiled
def _find_votes(graph, view, follower, degree, settled, following):
    """Find the votes of every degree over unsettled indexer nodes: `start` and `votes` of `UnseenVotes`.

    Args:
        graph: A `views.Graph`.
        view: A `views.View`.
        follower: int32[nodes of the view, indexers].
        degree: int64[nodes], the highest degree over each.
        settled: bool[nodes].
        following: int32[indexers], scratch.
    """
    begin, end = view.begin, view.end
    n = len(view.known)
    start = np.zeros(end - begin + 1, np.int64)
    for x in range(begin, end):
        rows = 0 if settled[x] or graph.indexer[x] < 0 else degree[x] + 1
        start[x - begin + 1] = start[x - begin] + rows
    votes = np.empty((start[end - begin], n), np.int32)
    for x in range(begin, end):
        row = start[x - begin]
        if row == start[x - begin + 1]:
            continue
        for k in range(n):
            votes[row, k] = follower[x - begin, k] if follower[x - begin, k] <= view.known[k] else NEVER
        for above in range(row + 1, start[x - begin + 1]):
            next_degree_votes(votes[above - 1], view.known, view.first, begin, view.clock, following)
            for k in range(n):
                votes[above, k] = following[k]
    return start, votes


@compiled
def _end_batches(graph, view):
    """Find `ends` of `UnseenVotes`."""
    begin, end = view.begin, view.end
    ends = np.full(end - begin, np.int64(-1))
    for x in range(end - 1, begin - 1, -1):
        if graph.batch[x] == 1:
            ends[x - begin] = x
        elif x + 1 < end and graph.writer[x + 1] == graph.writer[x]:
            ends[x - begin] = ends[x + 1 - begin]
    return ends


@compiled
def _list_joins(graph, view):
    """Find `joins` of `UnseenVotes`."""
    begin, end = view.begin, view.end
    found = np.empty(end - begin, np.int64)
    count = 0
    for x in range(begin, end):
        if graph.indexer[x] >= 0 or graph.batch[x] != 1:
            continue
        is_join = True
        for e in range(graph.start[x], graph.start[x + 1]):
            p = np.int64(graph.previous[e])
            if graph.batch[p] == 1 and np.array_equal(view.clock[p - begin], view.clock[x - begin]):
                is_join = False
                break
        if is_join:
            found[count] = x
            count += 1
    return found[:count]


@compiled
def prepare_unseen(graph, view, follower, degree, settled, following):
    """Find the votes and nodes that questions about unseen nodes need.

    Args:
        graph: A `views.Graph`.
        view: A `views.View`.
        follower: int32[nodes of the view, indexers].
        degree: int64[nodes], the highest degree over each.
        settled: bool[nodes].
        following: int32[indexers], scratch.

    Returns:
        `UnseenVotes`.
    """
    start, votes = _find_votes(graph, view, follower, degree, settled, following)
    contender = np.full((view.end - view.begin, len(view.known)), np.int32(-1))
    return UnseenVotes(start, votes, _end_batches(graph, view), _list_joins(graph, view), contender)


@inner
def update_contenders(x, view, follower, contender):
    """Find the first unsettled node of each log beside x."""
    row = contender[x - view.begin]
    is_changed = False
    for k in range(len(row)):
        beside = max(np.int64(view.clock[x - view.begin, k]), view.removed[k]) + 1
        if beside > view.known[k] or beside >= follower[x - view.begin, k]:
            beside = 0
        is_changed |= row[k] != beside
        row[k] = beside
    return is_changed


@inner
def _completes_quorum(votes, w, clock, own):
    """Say whether the next node of indexer w sees enough of these votes to reach the next degree."""
    count = 0
    for k in range(len(votes)):
        if k != w and votes[k] <= max(clock[k], own[k]):
            count += 1
    return count >= len(votes) // 2


@inner
def _lacks_votes(length, first, clock, votes, w, own):
    return not _completes_quorum(votes, w, clock[first + length - 1], own)


_first_completing = galloping(_lacks_votes)


@inner
def _is_contended(degree, w, clock, own, beside, view, unseen):
    """Say whether a node beside the tested one is less than two degrees behind, as the next node of w knows it."""
    for k in range(len(beside)):
        if beside[k] > 0:
            at = view.first[k] + beside[k] - 1 - view.begin
            row = unseen.start[at] + degree - 2
            if row < unseen.start[at + 1] and _completes_quorum(unseen.votes[row], w, clock, own):
                return True
    return False


@inner
def _is_always_contended(degree, votes, w, beside, view, unseen):
    """Say whether a node beside the tested one is never two degrees behind, for any next node of w."""
    for k in range(len(beside)):
        if beside[k] > 0:
            at = view.first[k] + beside[k] - 1 - view.begin
            row = unseen.start[at] + degree - 2
            if row < unseen.start[at + 1]:
                j = 0
                while j < len(votes) and (j == w or unseen.votes[row, j] <= votes[j]):
                    j += 1
                if j == len(votes):
                    return True
    return False


@inner
def may_be_settled_unseen(x, view, unseen, own):
    """Say whether the next node of an indexer could settle x, on top of its last node and at most one other node."""
    begin, first, known, clock = view.begin, view.first, view.known, view.clock
    n = len(known)
    beside = unseen.contender[x - begin]
    bottom = unseen.start[x - begin]
    for degree in range(2, unseen.start[x - begin + 1] - bottom + 1):
        votes = unseen.votes[bottom + degree - 1]
        if np.sum(votes != NEVER) < n // 2:
            break
        is_silent_known = False
        for w in range(n):
            # All indexers without nodes give the same answer.
            if beside[w] > 0 or (known[w] == 0 and is_silent_known):
                continue
            is_silent_known |= known[w] == 0
            for k in range(n):
                own[k] = clock[first[w] + known[w] - 1 - begin, k] if known[w] > 0 else 0
            if _is_always_contended(degree, votes, w, beside, view, unseen) or _is_contended(
                degree, w, own, own, beside, view, unseen
            ):
                continue
            if _completes_quorum(votes, w, own, own):
                return True
            for u in range(n):
                if own[u] >= known[u] or not _completes_quorum(votes, w, clock[first[u] + known[u] - 1 - begin], own):
                    continue
                length = _first_completing(np.int64(own[u]), known[u] + 1, first[u] - begin, clock, votes, w, own)
                q = unseen.ends[first[u] + length - 1 - begin]
                if q >= 0 and not _is_contended(degree, w, clock[q - begin], own, beside, view, unseen):
                    return True
            for q in unseen.joins:
                row = clock[q - begin]
                completes = _completes_quorum(votes, w, row, own)
                if completes and not _is_contended(degree, w, row, own, beside, view, unseen):
                    return True
    return False
