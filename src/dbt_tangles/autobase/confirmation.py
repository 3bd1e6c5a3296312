"""Whether a node is settled, by the votes of indexers.

Source: autobase 7.28.1.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.compiled import inner
from dbt_tangles.structures.gallop import galloping

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
    above = clock[best - begin]
    k = 0
    while k < n and (above[k] >= own[k] or (k == a and above[k] == own[k] - 1)):
        k += 1
    return k < n


@inner
def _is_newer(y, a, count, begin, clock, limit):
    """Say whether y sees the target and nothing unsettled beside it.

    Args:
        y: A node.
        a: The target's indexer.
        count: The length of its log with the target.
        begin: First node of the view.
        clock: int32[nodes of the view, indexers].
        limit: int32[indexers]; how much of each log may be seen.
    """
    row = clock[y - begin]
    if row[a] < count:
        return False
    k = 0
    while k < len(limit) and row[k] <= limit[k]:
        k += 1
    return k == len(limit)


@inner
def _is_newer_of_log(place, first, a, count, begin, clock, limit):
    return _is_newer(first + place, a, count, begin, clock, limit)


_first_aside = galloping(_is_newer_of_log)


@inner
def possible_acks(x, a, view):
    """Count the indexers whose first node that x has not seen sees x; its own counts."""
    begin, first, known, clock = view.begin, view.first, view.known, view.clock
    possible = 1
    row = clock[x - begin]
    for k in range(len(known)):
        if k != a and row[k] < known[k] and clock[first[k] + row[k] - begin, a] >= row[a]:
            possible += 1
    return possible


@inner
def is_confirmed(x, p, indexer, view, limit, ack):
    """Say whether x is settled, as far as is known; or as far as p knows, or might be by what p does not know.

    Args:
        x: An unsettled node of an indexer.
        p: Another that sees it, or -1.
        indexer: int32[nodes].
        view: A `views.View`.
        limit: int32[indexers], scratch.
        ack: int32[indexers], scratch.
    """
    begin, first, known, removed, clock = view.begin, view.first, view.known, view.removed, view.clock
    n = len(known)
    majority = n // 2 + 1
    a = np.int64(indexer[x])
    row = clock[x - begin]
    count = row[a]
    if possible_acks(x, a, view) < majority:
        return False
    for k in range(n):
        limit[k] = _UNLIMITED
        beyond = max(np.int64(row[k]), removed[k])
        if beyond < known[k] and clock[first[k] + beyond - begin, a] < count:
            limit[k] = beyond
    acks = 0
    for k in range(n):
        ack[k] = 0
        if k == a:
            ack[k] = count
        elif row[k] < known[k] and _is_newer(first[k] + row[k], a, count, begin, clock, limit):
            ack[k] = row[k] + 1
        if ack[k] > 0:
            acks += 1
    if acks < majority:
        return False
    if p >= 0:
        seen_acks = 0
        for k in range(n):
            if 0 < ack[k] <= clock[p - begin, k]:
                seen_acks += 1
        if seen_acks < majority:
            # Then nobody that p knows sees more of them either.
            return False
    votes = 0
    weak_votes = 0
    possible = 0
    for k in range(n):
        if p < 0:
            end = known[k]
        else:
            end = np.int64(clock[p - begin, k])
            if end <= max(np.int64(row[k]), removed[k]) or _is_newer(first[k] + end - 1, a, count, begin, clock, limit):
                possible += 1
                is_possible = True
            else:
                is_possible = False
            if k == indexer[p]:
                end -= 1
        # From `at` on nodes see the target; up to `low` they see nothing beside it.
        at = np.int64(count - 1) if k == a else max(np.int64(row[k]), removed[k])
        if at >= end or not _is_newer(first[k] + at, a, count, begin, clock, limit):
            continue
        low = _first_aside(at, end, first[k], a, count, begin, clock, limit) - 1
        seen_acks = 0
        last = clock[first[k] + low - begin]
        for j in range(n):
            if 0 < ack[j] <= last[j]:
                seen_acks += 1
        if seen_acks >= majority:
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
