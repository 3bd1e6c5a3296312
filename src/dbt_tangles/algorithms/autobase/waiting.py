"""Why a node of a base is not settled: its contender, the merge that both wait for, and the next missing votes.

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

from dbt_tangles.algorithms.autobase.base_graphs import NEVER, base_of
from dbt_tangles.algorithms.autobase.votes import find_contender, find_next_votes
from dbt_tangles.kernel_runtime.compiled import compiled, inner

REASONS = "needs_votes", "contender", "awaits_merge"
NEEDS_VOTES, CONTENDER, AWAITS_MERGE = range(3)


class Waiting(NamedTuple):
    """The unsettled nodes of one base, ascending."""

    node: np.ndarray  # int64[unsettled]
    contender: np.ndarray  # int64[unsettled], of the target the one with the highest quorum, up to degree two; or -1
    merge: np.ndarray  # int64[unsettled], the first node that sees the target and this contender, or -1
    is_missing: np.ndarray  # bool[unsettled, indexers]

    @property
    def reason(self) -> np.ndarray:
        """The reason of each node, as its place in `REASONS`: int64[unsettled]."""
        return np.where(self.merge >= 0, AWAITS_MERGE, np.where(self.contender >= 0, CONTENDER, NEEDS_VOTES))


@inner
def _first_follower(votes, base):
    """Return the first of the nodes of some votes by depth, writer and length, or -1."""
    best = np.int64(-1)
    for k in range(len(votes)):
        if votes[k] != NEVER:
            y = np.int64(base.first[k] + votes[k] - 1)
            if best < 0 or base.place[y] < base.place[best]:
                best = y
    return best


@inner
def _find_missing(votes, row, is_missing, rows, base):
    """Find the indexers without a vote of the first level that a majority lacks; `row` is scratch for two rows."""
    row[0] = votes
    level = 0
    while level < 2 and np.sum(row[0] != NEVER) > len(votes) // 2:
        row[1] = 0
        find_next_votes(row[0], row[1], rows, base)
        row[0] = row[1]
        level += 1
    is_missing[:] = row[0] == NEVER


@compiled
def waiting(bases, b, follower, is_settled):
    """Find out why nodes are not settled.

    Args:
        bases: `base_graphs.Bases`.
        b: The number of the base.
        follower: int32[...], of `base_graphs.first_followers`.
        is_settled: bool[nodes of the base]; of each settled node all ancestors are settled.

    Returns:
        `Waiting`.
    """
    base = base_of(bases, b)
    n = len(base.known)
    rows = follower[bases.clock_start[b] : bases.clock_start[b + 1]].reshape(base.clock.shape)
    removed = np.zeros(n, np.int32)
    for x in range(len(is_settled)):
        if is_settled[x] and base.indexer[x] >= 0:
            removed[base.indexer[x]] += 1
    node = np.flatnonzero(~is_settled)
    contender, merge = np.full(len(node), -1), np.full(len(node), -1)
    is_missing = np.ones((len(node), n), np.bool_)
    row = np.empty((2, n), np.int32)
    for at in range(len(node)):
        y = _first_follower(rows[node[at]], base)
        if y < 0:
            continue
        awaited = y
        contender[at] = find_contender(y, base.known, removed, rows, base)
        if contender[at] >= 0:
            row[0] = np.maximum(rows[y], rows[contender[at]])
            merge[at] = _first_follower(row[0], base)
            if merge[at] >= 0:
                awaited = merge[at]
        _find_missing(rows[awaited], row, is_missing[at], rows, base)
    return Waiting(node, contender, merge, is_missing)
