"""Why a node of a view is not settled: its contender, the merge that both wait for, and the next missing votes.

The *target* of a node is the first indexer node, by depth, writer and length, that is the node or follows it: the node
is settled with it. A *contender* of the target is an unsettled indexer node that neither sees the target nor is seen
by it. An indexer node that sees both is the *merge* that has to be settled before the two can be ordered. The *awaited
node* is the merge, or the target where no merge is known.

Votes of level 0 over the awaited node reference it, votes of level 1 know a majority of those of level 0 (a quorum),
and votes of level 2 know a majority of those of level 1 (a double quorum). An indexer is missing if it has no vote of
the first level with less than a majority of votes, or of level 2.

Source: the design document of Autobase, Quorums, Caveat, and Tails, Forks and Merges.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import NEVER, first_followers, index_views
from dbt_tangles.algorithms.autobase.contenders import UNKNOWN, Votes, fill_next_votes, find_contender
from dbt_tangles.algorithms.autobase.views import View, ViewArrays, find_logs
from dbt_tangles.kernel_runtime.compiled import compiled, inner

NEEDS_VOTES, CONTENDER, AWAITS_MERGE = range(3)
_HIGHEST = 2


class Waiting(NamedTuple):
    """The unsettled nodes of many views, ascending.

    Attributes:
        node: int64[unsettled].
        contender: int64[unsettled], of the target the contender with the highest quorum, up to degree two, then the
            first by depth, writer and length; or -1.
        merge: int64[unsettled], the first node by depth, writer and length that sees the target and this contender, or
            -1.
        missing_start: int64[unsettled + 1], into `missing`.
        missing: int32[...], indexers of the view, ascending.
    """

    node: np.ndarray
    contender: np.ndarray
    merge: np.ndarray
    missing_start: np.ndarray
    missing: np.ndarray

    @property
    def reason(self) -> np.ndarray:
        """The reason of each node: int64[unsettled]."""
        return np.where(self.merge >= 0, AWAITS_MERGE, np.where(self.contender >= 0, CONTENDER, NEEDS_VOTES))


def waiting(views: ViewArrays, settled: np.ndarray) -> Waiting:
    """Find out why nodes are not settled.

    Args:
        views: The views; `length` and `floor` are unused.
        settled: bool[nodes]; of each log and the ancestors of each settled node all are settled.

    Returns:
        The unsettled nodes.

    Raises:
        ValueError: Edges close a cycle.
    """
    indexed, depth = index_views(views)
    edges = (views.view_start, views.start, views.previous)
    followers = first_followers(*edges, views.indexer, views.floor_start, depth)
    return Waiting(*_find_waiting(indexed, followers, settled))


@inner
def _find_missing(x, view, votes, row):
    """Fill `row[0]` with the votes of the first level over x that a majority lacks, by `row` int32[2, indexers]."""
    current, following = row[0], row[1]
    current[:] = votes.first[x - view.begin]
    majority = len(current) // 2 + 1
    count = np.sum(current != NEVER)
    level = 0
    while count >= majority and level < _HIGHEST:
        count = fill_next_votes(current, following, view)
        current[:] = following
        level += 1


@inner
def _find_target(x, view, votes):
    """Return the first indexer node that is x or follows it, or -1."""
    row = votes.first[x - view.begin]
    best = np.int64(-1)
    for k in range(len(row)):
        if row[k] != NEVER:
            y = view.first[k] + row[k] - 1
            if best < 0 or votes.place[y] < votes.place[best]:
                best = y
    return best


@inner
def _find_merge(y, z, view, votes):
    """Return the first indexer node that sees both nodes, or -1."""
    one, other = votes.first[y - view.begin], votes.first[z - view.begin]
    best = np.int64(-1)
    for k in range(len(one)):
        if one[k] != NEVER and other[k] != NEVER:
            m = view.first[k] + max(one[k], other[k]) - 1
            if best < 0 or votes.place[m] < votes.place[best]:
                best = m
    return best


@compiled
def _find_waiting(views, followers, settled):
    """Find the fields of `Waiting`; `followers` is the result of `clocks.first_followers`."""
    view_start, graph, _, floor_start, causal, clock_start, clocks = views
    total = 0
    room = np.int64(0)
    for v in range(len(view_start) - 1):
        left = np.sum(~settled[view_start[v] : view_start[v + 1]])
        total += left
        room += left * (floor_start[v + 1] - floor_start[v])
    node, contender, merge = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    missing_start = np.zeros(total + 1, np.int64)
    missing = np.empty(room, np.int32)
    place = np.empty(len(causal), np.int32)
    for i in range(len(causal)):
        place[causal[i]] = i
    at = 0
    size = 0
    for v in range(len(view_start) - 1):
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        clock = clocks[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        follower = followers[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        view = View(begin, end, np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.int64), clock)
        votes, row = Votes(place, follower, np.full(follower.shape, UNKNOWN)), np.empty((2, n), np.int32)
        find_logs(begin, end, graph.indexer, view.first, view.known)
        for x in range(begin, end):
            if settled[x] and graph.indexer[x] >= 0:
                view.removed[graph.indexer[x]] += 1
        for x in range(begin, end):
            if settled[x]:
                continue
            node[at], contender[at], merge[at] = x, -1, -1
            y = _find_target(np.int64(x), view, votes)
            awaited = y
            if y >= 0:
                contender[at] = find_contender(y, view.known, view, votes)
            if contender[at] >= 0:
                merge[at] = _find_merge(y, contender[at], view, votes)
                if merge[at] >= 0:
                    awaited = merge[at]
            if awaited >= 0:
                _find_missing(awaited, view, votes, row)
            for k in range(n):
                if awaited < 0 or row[0, k] == NEVER:
                    missing[size] = k
                    size += 1
            at += 1
            missing_start[at] = size
    return node, contender, merge, missing_start, missing[:size].copy()
