"""Where a node is first known to lead by two degrees, by the rule of `design`.

A node x leads at an indexer's node y if y knows a quorum of degree d over x, d being two or more, and none of degree
d - 1 or more over an unsettled indexer's node beside x. Of each log only the first node that knows a quorum of each
degree need be asked: later ones know no less of what is beside x. Who follows a node that knows a quorum knows that
quorum, too; so y, of log k, knows one of degree d - 1 over z if and only if log k has no later vote of that degree for
z than y.

The votes of each degree over a node (`quorums`) are found when they are first asked for: a node over which a lead is
found early needs few of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import NEVER
from dbt_tangles.algorithms.autobase.votes import next_degree_votes
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: The place of a node that nobody knows to lead.
NO_LEAD = np.int64(2**62)

_NEEDED = 2
_END, _UNKNOWN = -1, -2


class DegreeVotes(NamedTuple):
    """The votes of each degree over the nodes of a view, as far as they were asked for.

    Attributes:
        bottom: int64[nodes of the view]; of each node the row of degree 0, or `_UNKNOWN`.
        above: int64[rows]; the row of the next degree over the same node, `_END`, or `_UNKNOWN`.
        votes: int32[rows, indexers], lengths, or `NEVER`.
        used: int64[1], how many rows there are.
    """

    bottom: np.ndarray
    above: np.ndarray
    votes: np.ndarray
    used: np.ndarray


@compiled
def allocate_degree_votes(nodes, indexers):
    """Make `DegreeVotes` of which no row is known.

    Args:
        nodes: How many the view has.
        indexers: How many it has.
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
    """Give ladders room for one row more."""
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
    """Find the row of degree 0 over a node; the ladders may be others then."""
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
    """Find the row of the next degree; the ladders, which may be others."""
    degree_votes = _with_row(degree_votes)
    new = degree_votes.used[0]
    degree_votes.above[row] = _END
    if next_degree_votes(
        degree_votes.votes[row], view.known, view.first, view.begin, view.clock, degree_votes.votes[new]
    ):
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
        The degree, and the ladders, which may be others.
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
    """Say whether the node of log `k` and length `y` knows none of some votes.

    Args:
        k: The indexer.
        y: The length.
        rows: int64[indexers]; of each log the row of votes over what is beside a node, or `_END`.
        degree_votes: `DegreeVotes`.
    """
    j = 0
    while j < len(rows) and (rows[j] == _END or degree_votes.votes[rows[j], k] > y):
        j += 1
    return j == len(rows)


@inner
def _is_out_of_reach(row, rows, degree_votes):
    """Say whether one node beside a node has a vote of each log that has one for the node, and no later one.

    Args:
        row: The votes over the node.
        rows: int64[indexers], the votes of one degree less over what is beside it, as for `_leads_at`.
        degree_votes: `DegreeVotes`.
    """
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
    """Find the first node, in causal order, at which a node is known to lead.

    Args:
        x: An unsettled node of an indexer.
        beside: int32[indexers]; the first unsettled node of each log beside x, a length, or 0.
        degree_votes: `DegreeVotes`.
        view: A `views.View`.
        follower: int32[nodes of the view, indexers].
        causal_place: int32[nodes], the place of each node in the causal order.
        rows: int64[indexers], scratch.

    Returns:
        The place of that node, or `NO_LEAD`; and the ladders, which may be others.
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
        # Who knows the next degree follows most of these, so is not before the first of them; and if all of these know
        # a degree of one less over the same node beside x, it knows the next degree over that node, and so on.
        if best <= least or _is_out_of_reach(row, rows, degree_votes):
            return best, degree_votes
