"""Confirmation of a node by acknowledgements and votes of the indexers: a clean double quorum.

A node m is newer than the target x if m sees x, but does not see unsettled nodes beside x. In the log of each indexer,
the first node that x does not see acknowledges x, provided that it is newer. An indexer votes for x if its last newer
node sees a majority of the acknowledgements.

Source: autobase 7.28.1, consensus; its simpler form is in the design document, Quorums.
"""

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import NEVER
from dbt_tangles.algorithms.autobase.votes import knows_majority
from dbt_tangles.algorithms.structures.gallop import galloping
from dbt_tangles.kernel_runtime.compiled import inner

_UNLIMITED = np.int32(2**31 - 1)


@inner
def is_merge(x, start, previous, indexer, view):
    """Say whether x joins branches: whether the last indexer nodes that x sees have two or more maximal ones."""
    begin, first, clock = view.begin, view.first, view.clock
    if start[x + 1] - start[x] == 1 and indexer[previous[start[x]]] >= 0:
        return False
    n = clock.shape[1]
    own = clock[x - begin]
    a = indexer[x]
    # Mostly one previous node sees all the others.
    for e in range(start[x], start[x + 1]):
        if indexer[previous[e]] >= 0 and _sees_all_before(clock[previous[e] - begin], own, a):
            return False
    # A node that sees all others replaces any earlier best, and is not replaced itself.
    best = np.int64(-1)
    for k in range(n):
        count = own[k] - 1 if k == a else own[k]
        if count > 0:
            last = first[k] + count - 1
            if best < 0 or clock[last - begin, indexer[best]] > best - first[indexer[best]]:
                best = last
    if best < 0:
        return False
    return not _sees_all_before(clock[best - begin], own, a)


@inner
def _sees_all_before(row, own, a):
    """Say whether the first clock covers the second one, of a node of indexer `a`, the node itself not counted."""
    k = 0
    while k < len(own) and (row[k] >= own[k] or (k == a and row[k] == own[k] - 1)):
        k += 1
    return k == len(own)


@inner
def _is_newer(y, a, count, begin, clock, limit, limited):
    """Say whether y is newer than the target: it sees the target, and no unsettled node beside the target."""
    row = clock[y - begin]
    i = 0
    while i < len(limited) and row[limited[i]] <= limit[limited[i]]:
        i += 1
    return row[a] >= count and i == len(limited)


_first_aside = galloping(_is_newer)


@inner
def count_possible_acks(x, a, view):
    """Count the logs that can acknowledge x: the first node that x does not see sees x. The log of x counts, too."""
    begin, first, known, clock = view.begin, view.first, view.known, view.clock
    possible = 1
    row = clock[x - begin]
    for k in range(len(known)):
        if k != a and row[k] < known[k] and clock[first[k] + row[k] - begin, a] >= row[a]:
            possible += 1
    return possible


@inner
def _limit_logs(row, a, view, scratch):
    """Find the length of each log that a newer node may see, and the node of each that may acknowledge the target."""
    begin, first, known, removed, clock = view.begin, view.first, view.known, view.removed, view.clock
    count = row[a]
    limits, acks = 0, 1
    for k in range(len(known)):
        scratch.limit[k] = _UNLIMITED
        scratch.ack[k] = NEVER
        beyond = np.int64(row[k])
        if k == a:
            scratch.ack[k] = count
            continue
        sees = True
        if beyond < known[k]:
            sees = clock[first[k] + beyond - begin, a] >= count
            if sees:
                scratch.ack[k] = beyond + 1
                acks += 1
        if removed[k] > beyond:
            beyond = removed[k]
            sees = beyond == known[k] or clock[first[k] + beyond - begin, a] >= count
        if not sees:
            scratch.limit[k] = beyond
            scratch.limited[limits] = k
            limits += 1
    return limits, acks


@inner
def _ack_only_tail(row, a, view, ack):
    """Find the acknowledgements of the only tail. All unsettled indexer nodes see it, so logs are unlimited."""
    acks = 0
    for k in range(len(ack)):
        speaks = k != a and row[k] == view.removed[k] and row[k] < view.known[k]
        ack[k] = row[k] + 1 if speaks else NEVER
        acks += speaks
    ack[a] = row[a]
    return acks + 1


@inner
def is_confirmed(x, p, is_only_tail, indexer, view, scratch):
    """Say whether x is confirmed by all known nodes; or by the nodes that p sees and possible further ones."""
    begin, first, known, clock = view.begin, view.first, view.known, view.clock
    limit, ack = scratch.limit, scratch.ack
    n = len(known)
    majority = n // 2 + 1
    a = np.int64(indexer[x])
    row = clock[x - begin]
    count = row[a]
    limits = 0
    if is_only_tail:
        acks = _ack_only_tail(row, a, view, ack)
    else:
        limits, acks = _limit_logs(row, a, view, scratch)
    if acks < majority:
        return False
    limited = scratch.limited[:limits]
    if limits > 0:
        for k in range(n):
            if ack[k] != NEVER and not _is_newer(first[k] + ack[k] - 1, a, count, begin, clock, limit, limited):
                ack[k] = NEVER
                acks -= 1
        if acks < majority:
            return False
    if p >= 0 and not knows_majority(clock[p - begin], ack):
        # Then the nodes that p sees do not see more of them either.
        return False
    return _count_votes(x, p, limited, indexer, view, scratch)


@inner
def _count_votes(x, p, limited, indexer, view, scratch):
    """Count the votes for a node with a majority of acknowledgements, and say whether they confirm it."""
    begin, first, known, removed, clock = view.begin, view.first, view.known, view.removed, view.clock
    limit, ack = scratch.limit, scratch.ack
    n = len(known)
    majority = n // 2 + 1
    a = np.int64(indexer[x])
    row = clock[x - begin]
    count = row[a]
    votes = 0
    weak_votes = 0
    possible = 0
    knowing = np.int64(-1)  # The last node that sees a majority of acknowledgements, in log `knowing_of`.
    knowing_of = 0
    for k in range(n):
        is_possible = False
        end = known[k] if p < 0 else np.int64(clock[p - begin, k])
        if p >= 0:
            is_possible = end <= max(np.int64(row[k]), removed[k]) or _is_newer(
                first[k] + end - 1, a, count, begin, clock, limit, limited
            )
            possible += is_possible
            if k == indexer[p]:
                end -= 1
        # From `at` on, the nodes of the log see the target; up to `low` they are newer.
        at = np.int64(count - 1) if k == a else max(np.int64(row[k]), removed[k])
        if at >= end:
            continue
        if removed[k] <= row[k]:
            speaks = ack[k] != NEVER
        else:
            speaks = _is_newer(first[k] + at, a, count, begin, clock, limit, limited)
        if not speaks:
            continue
        low = end - 1
        if len(limited) > 0 and not _is_newer(first[k] + low, a, count, begin, clock, limit, limited):
            low = _first_aside(first[k] + at, first[k] + end, a, count, begin, clock, limit, limited) - first[k] - 1
        last = clock[first[k] + low - begin]
        if (knowing >= 0 and last[knowing_of] >= knowing) or knows_majority(last, ack):
            if knowing < 0 or last[knowing_of] < knowing:
                knowing, knowing_of = low + 1, k
            votes += 1
            if votes == majority:
                return True
            if p >= 0 and not is_possible:
                possible += 1
        elif low == end - 1:
            weak_votes += 1
    if p >= 0:
        return possible >= majority
    return votes + weak_votes == n
