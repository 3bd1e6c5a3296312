"""Confirmation of a node by acknowledgements and votes of the indexers: a double quorum without rivals.

A node is newer than the target if it sees the target, but no unsettled node beside the target. In the log of each
indexer, the first node that the target does not see acknowledges the target if it is newer. An indexer votes for the
target if its last newer node sees a majority of the acknowledgements. The newer nodes of a log are a run.

Source: autobase 7.28.1, consensus; its simpler form is in the design document, Quorums.
"""

import numpy as np

from dbt_tangles.algorithms.autobase.base_graphs import NEVER
from dbt_tangles.algorithms.autobase.votes import count_seen, sees_majority
from dbt_tangles.algorithms.structures.gallop import galloping
from dbt_tangles.kernel_runtime.compiled import inner


@inner
def sees_no_more(row, limit):
    """Say whether a node with this clock sees no log beyond its limit."""
    return count_seen(row, limit) == len(limit)


@inner
def _is_newer(y, a, length, limit, clock):
    """Say whether node y sees this length of log a, and no log beyond its limit."""
    return clock[y, a] >= length and sees_no_more(clock[y], limit)


_first_not_newer = galloping(_is_newer)


@inner
def _can_be_acknowledged(x, a, known, base):
    """Say whether a majority of logs, that of x included, has x below its first node that x does not see."""
    row = base.clock[x]
    count = 1
    for k in range(len(row)):
        count += k != a and row[k] < known[k] and base.clock[base.first[k] + row[k], a] >= row[a]
    return count >= len(row) // 2 + 1


@inner
def is_merge(x, base):
    """Say whether x joins branches that a majority could acknowledge: its last indexer nodes have two maximal ones."""
    a, clock = base.indexer[x], base.clock
    best, best_log = np.int64(-1), np.int64(-1)
    for k in range(len(base.known)):
        # A node that sees all the others replaces any earlier best, and is not replaced itself.
        length = clock[x, k] - (k == a)
        last = base.first[k] + length - 1
        if length > 0 and (best < 0 or clock[last, best_log] > best - base.first[best_log]):
            best, best_log = last, k
    if best < 0:
        return False
    for k in range(len(base.known)):
        if clock[best, k] < clock[x, k] - (k == a):
            return _can_be_acknowledged(x, np.int64(a), base.known, base)
    return False


@inner
def _find_acknowledgements(x, a, view, base):
    """Find the node of each log that acknowledges x, as a length or `NEVER`, and the limit of each log; the number."""
    clock, first = base.clock, base.first
    length = clock[x, a]
    for k in range(len(view.known)):
        beyond = max(clock[x, k], view.removed[k])
        is_rival = k != a and beyond < view.known[k] and clock[first[k] + beyond, a] < length
        view.limit[k] = beyond if is_rival else NEVER
    count = 1
    for k in range(len(view.known)):
        at = clock[x, k]
        view.ack[k] = NEVER
        if k == a:
            view.ack[k] = at
        elif at < view.known[k] and _is_newer(first[k] + at, a, length, view.limit, clock):
            view.ack[k] = at + 1
            count += 1
    return count


@inner
def is_confirmed(x, p, view, base):
    """Say whether x is confirmed by all known nodes; or, for p >= 0, by the nodes that p sees and possible others."""
    clock, first, known = base.clock, base.first, view.known
    n = len(known)
    majority = n // 2 + 1
    a = np.int64(base.indexer[x])
    if not _can_be_acknowledged(x, a, known, base) or _find_acknowledgements(x, a, view, base) < majority:
        return False
    if p >= 0 and not sees_majority(view.ack, clock[p]):
        return False
    length = clock[x, a]
    votes = weak = possible = 0
    for k in range(n):
        end = np.int64(known[k] if p < 0 else clock[p, k])
        low = np.int64(max(clock[x, k] - (k == a), view.removed[k]))
        may_vote = p >= 0 and (
            end <= max(clock[x, k], view.removed[k]) or _is_newer(first[k] + end - 1, a, length, view.limit, clock)
        )
        if p >= 0 and k == base.indexer[p]:
            end -= 1
        votes_for = False
        if low < end:
            behind = _first_not_newer(first[k] + low - 1, first[k] + end, a, length, view.limit, clock)
            if behind > first[k] + low:
                votes_for = sees_majority(view.ack, clock[behind - 1])
                weak += not votes_for and behind == first[k] + end
        votes += votes_for
        possible += votes_for or may_vote
    if votes >= majority:
        return True
    return possible >= majority if p >= 0 else votes + weak == n
