"""Leads by two degrees: the first node that knows a node to lead, by the rule of `design`.

A node x leads at an indexer's node y if y knows a quorum of some degree d >= 2 over x, and does not know a quorum of
degree d - 1 or more over any unsettled indexer node beside x. Of each log, only the first node that knows a quorum of
each degree has to be tested: later nodes know as much of the nodes beside x. A descendant of a node that knows a quorum
knows it too; so y, of log k, knows a quorum of degree d - 1 over z if and only if the vote of that degree for z in log
k is not later than y.

The votes of each degree over a node (`quorums`) are found on demand: an early lead needs few of them.

Source: the design document of Autobase, Caveat.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import NEVER
from dbt_tangles.algorithms.autobase.votes import next_degree_votes
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: The place of a node that never leads.
NO_LEAD = np.int64(2**62)

_NEEDED = 2
_END, _UNKNOWN = -1, -2


class DegreeVotes(NamedTuple):
    """The votes of each degree over the nodes of a view, as far as they were needed."""

    bottom: np.ndarray  # int64[nodes of the view], the row of degree 0 of each node, or `_UNKNOWN`
    above: np.ndarray  # int64[rows], the row of the next degree over the same node, `_END`, or `_UNKNOWN`
    votes: np.ndarray  # int32[rows, indexers], lengths, or `NEVER`
    used: np.ndarray  # int64[1], the number of rows


@compiled
def allocate_degree_votes(nodes, indexers):
    """Allocate empty `DegreeVotes`.

    Args:
        nodes: The number of nodes of the view.
        indexers: The number of its indexers.
    """
    rows = 2 * nodes + 16
    return DegreeVotes(
        np.full(nodes, _UNKNOWN),
        np.full(rows, _UNKNOWN),
        np.empty((rows, indexers), np.int32),
        np.zeros(1, np.int64),
    )


@compiled
def _with_row(degree_votes):
    """Make room for one more row; the `DegreeVotes`, or a larger copy."""
    used = degree_votes.used[0]
    if used < len(degree_votes.above):
        return degree_votes
    above = np.full(2 * used, _UNKNOWN)
    above[:used] = degree_votes.above
    votes = np.empty((2 * used, degree_votes.votes.shape[1]), np.int32)
    votes[:used] = degree_votes.votes
    return DegreeVotes(degree_votes.bottom, above, votes, degree_votes.used)


@compiled
def _first_row(x, degree_votes, view, follower):
    """Find the row of degree 0 over a node, and the `DegreeVotes`, which may be a copy."""
    at = x - view.begin
    if degree_votes.bottom[at] == _UNKNOWN:
        degree_votes = _with_row(degree_votes)
        row = degree_votes.used[0]
        for k in range(len(view.known)):
            degree_votes.votes[row, k] = follower[at, k] if follower[at, k] <= view.known[k] else NEVER
        degree_votes.bottom[at] = row
        degree_votes.used[0] += 1
    return degree_votes.bottom[at], degree_votes


@compiled
def _add_next_degree(row, degree_votes, view):
    """Find the row of the next degree; the `DegreeVotes`, which may be a copy."""
    degree_votes = _with_row(degree_votes)
    new = degree_votes.used[0]
    degree_votes.above[row] = _END
    votes = degree_votes.votes
    if next_degree_votes(votes[row], view.known, view.first, view.begin, view.clock, votes[new]):
        degree_votes.above[row] = new
        degree_votes.used[0] += 1
    return degree_votes


@compiled
def degree_of(x, degree_votes, view, follower):
    """Find the highest degree of the quorums over a node of a view with two or more indexers.

    Args:
        x: The node.
        degree_votes: `DegreeVotes`.
        view: A `views.View`.
        follower: int32[nodes of the view, indexers].

    Returns:
        The degree, and the `DegreeVotes`, which may be a copy.
    """
    degree = -1
    row, degree_votes = _first_row(x, degree_votes, view, follower)
    while row != _END:
        degree += 1
        if degree_votes.above[row] == _UNKNOWN:
            degree_votes = _add_next_degree(row, degree_votes, view)
        row = degree_votes.above[row]
    return degree, degree_votes


@inner
def _leads_at(k, y, rows, degree_votes):
    """Say whether the node of log `k` and length `y` sees no vote of some rows."""
    j = 0
    while j < len(rows) and (rows[j] == _END or degree_votes.votes[rows[j], k] > y):
        j += 1
    return j == len(rows)


@inner
def _is_out_of_reach(row, rows, degree_votes):
    """Say whether a node beside x has, in each log with a vote for x, a vote of one degree less that is not later."""
    votes = degree_votes.votes
    n = len(rows)
    for j in range(n):
        if rows[j] != _END:
            k = 0
            while k < n and (votes[row, k] == NEVER or votes[rows[j], k] <= votes[row, k]):
                k += 1
            if k == n:
                return True
    return False


@compiled
def first_lead(x, beside, degree_votes, view, follower, causal_place, rows):
    """Find the first node, in causal order, at which a node leads.

    Args:
        x: An unsettled node of an indexer.
        beside: int32[indexers], the first unsettled node of each log beside x, a length, or 0.
        degree_votes: `DegreeVotes`.
        view: A `views.View`.
        follower: int32[nodes of the view, indexers].
        causal_place: int32[nodes], the place of each node in the causal order.
        rows: int64[indexers], scratch.

    Returns:
        The place of that node, or `NO_LEAD`; and the `DegreeVotes`, which may be a copy.
    """
    first = view.first
    n = len(beside)
    for j in range(n):
        rows[j] = _END
        if beside[j] > 0:
            rows[j], degree_votes = _first_row(first[j] + beside[j] - 1, degree_votes, view, follower)
    row, degree_votes = _first_row(x, degree_votes, view, follower)
    best = NO_LEAD
    degree = 0
    while True:
        if degree_votes.above[row] == _UNKNOWN:
            degree_votes = _add_next_degree(row, degree_votes, view)
        row = degree_votes.above[row]
        if row == _END:
            return best, degree_votes
        degree += 1
        if degree < _NEEDED:
            continue
        for j in range(n):
            if rows[j] != _END:
                if degree_votes.above[rows[j]] == _UNKNOWN:
                    degree_votes = _add_next_degree(rows[j], degree_votes, view)
                rows[j] = degree_votes.above[rows[j]]
        least = NO_LEAD
        for k in range(n):
            y = degree_votes.votes[row, k]
            if y == NEVER:
                continue
            place = np.int64(causal_place[first[k] + y - 1])
            least = min(least, place)
            if place < best and _leads_at(k, y, rows, degree_votes):
                best = place
        # A node that knows the next degree descends from most of these votes, so it is not before the first of them. If
        # all votes know a degree of one less over the same node beside x, that node knows the next degree over it too,
        # and so on.
        if best <= least or _is_out_of_reach(row, rows, degree_votes):
            return best, degree_votes
