"""Whether a node is settled, by the votes of indexers.

Source: autobase 7.28.1.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import NEVER
from dbt_tangles.algorithms.autobase.votes import knows_majority
from dbt_tangles.algorithms.structures.gallop import galloping
from dbt_tangles.kernel_runtime.compiled import inner

_UNLIMITED = np.int32(2**31 - 1)


@inner
def is_merge(x, start, previous, indexer, view):
    """Say whether the last nodes of the indexers below x are not all below one of them."""
    begin, first, clock = view.begin, view.first, view.clock
    if start[x + 1] - start[x] == 1 and indexer[previous[start[x]]] >= 0:
        return False
    n = clock.shape[1]
    own = clock[x - begin]
    a = indexer[x]
    # Of what it follows directly, mostly one node is above all the rest.
    for e in range(start[x], start[x + 1]):
        if indexer[previous[e]] >= 0 and _sees_all_before(clock[previous[e] - begin], own, a):
            return False
    # If one of them is above all, it replaces whatever was the best so far, and is not replaced.
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
    """Say whether a node of the first clock sees all that a node of indexer `a` and of the second sees, but itself."""
    k = 0
    while k < len(own) and (row[k] >= own[k] or (k == a and row[k] == own[k] - 1)):
        k += 1
    return k == len(own)


@inner
def _is_newer(y, a, count, begin, clock, limit, limited):
    """Say whether y sees the target and nothing unsettled beside it.

    Args:
        y: A node.
        a: The target's indexer.
        count: The length of its log with the target.
        begin: First node of the view.
        clock: int32[nodes of the view, indexers].
        limit: int32[indexers]; how much of each log may be seen.
        limited: int32[...], the indexers of whose logs not everything may be seen.
    """
    row = clock[y - begin]
    i = 0
    while i < len(limited) and row[limited[i]] <= limit[limited[i]]:
        i += 1
    return row[a] >= count and i == len(limited)


@inner
def _is_newer_of_log(place, first, a, count, begin, clock, limit, limited):
    return _is_newer(first + place, a, count, begin, clock, limit, limited)


_first_aside = galloping(_is_newer_of_log)


@inner
def count_possible_acks(x, a, view):
    """Count the indexers whose first node that x has not seen sees x; its own counts."""
    begin, first, known, clock = view.begin, view.first, view.known, view.clock
    possible = 1
    row = clock[x - begin]
    for k in range(len(known)):
        if k != a and row[k] < known[k] and clock[first[k] + row[k] - begin, a] >= row[a]:
            possible += 1
    return possible


@inner
def _limit_logs(row, a, view, scratch):
    """Find how much of each log may be seen by who speaks for a node, and the first node of each that may do so.

    Args:
        row: int32[indexers], the clock of the node.
        a: Its indexer.
        view: A `views.View`.
        scratch: A `consensus.Scratch`. `limit` is filled with lengths, up to the first unsettled node beside it of each log;
            `limited` with the indexers whose logs have one; `ack` with the first node of each log that it has not seen,
            if that sees it: a length, or `NEVER`. Its own node is an ack.

    Returns:
        How many logs are limited, and how many have an ack.
    """
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
    """Do the same for the only tail, which all unsettled nodes of indexers see, so that no log is limited.

    Args:
        row: int32[indexers], the clock of the tail.
        a: Its indexer.
        view: A `views.View`.
        ack: int32[indexers], filled as in `_limit_logs`.

    Returns:
        How many logs have an ack.
    """
    acks = 0
    for k in range(len(ack)):
        speaks = k != a and row[k] == view.removed[k] and row[k] < view.known[k]
        ack[k] = row[k] + 1 if speaks else NEVER
        acks += speaks
    ack[a] = row[a]
    return acks + 1


@inner
def is_confirmed(x, p, is_only_tail, indexer, view, scratch):
    """Say whether x is settled, as far as is known; or as far as p knows, or might be by what p does not know.

    Takes steps in proportion to the indexers where nothing unsettled is beside x and the acks are widely known. A node
    that sees another which knows most acks knows them, too, so that few of the votes are counted.

    Args:
        x: An unsettled node of an indexer.
        p: Another that sees it, or -1.
        is_only_tail: Whether x is known to be the only tail of the view, see `tails`.
        indexer: int32[nodes].
        view: A `views.View`.
        scratch: A `consensus.Scratch`; `limit`, `limited` and `ack` are filled.
    """
    begin, first, known, removed, clock = view.begin, view.first, view.known, view.removed, view.clock
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
        # Then nobody that p knows sees more of them either.
        return False
    votes = 0
    weak_votes = 0
    possible = 0
    knowing = np.int64(-1)  # The last node that was found to know most acks: a length of the log of `knowing_of`.
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
        # From `at` on nodes see the target; up to `low` they see nothing beside it.
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
        if limits > 0 and not _is_newer(first[k] + low, a, count, begin, clock, limit, limited):
            low = _first_aside(at, end, first[k], a, count, begin, clock, limit, limited) - 1
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
