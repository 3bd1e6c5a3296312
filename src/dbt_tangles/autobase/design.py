"""The order of a base by the rule that the design document states, where `consensus` has the one that is in use.

A node of an indexer may be settled when its highest quorum is of the second degree or more, and of two degrees more
than that of any unsettled indexer's node beside it, of which no quorum at all is degree 0. The first by depth, then
writer, then length is settled, and with it all it follows, in the order that would hold if others had settled what
could have been: while tails are left below it (unsettled indexers' nodes that are above no other), the one comes first
that has the highest quorum among what the node follows, the node itself not counted, then the one of the least writer;
each brings along what it follows, ordered as in `consensus`.

The document says that all writers can order "up to" the node over which there is a double quorum's single quorum.
With its own numbers this is exclusive: of c0 - b0 - c1 only c0 has a double quorum, and only c0 is settled.

What the document leaves open: that ties go by writer, that the tails are asked about again once one has gone, and
whether any of it agrees with what other writers settled. It does not always; see `rule_search.py` among the tests.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.autobase.consensus import clocks
from dbt_tangles.compiled import compiled
from dbt_tangles.graph.levels import children, levels

#: The rule takes time in proportion to the square of the nodes or more; larger views are refused.
DESIGN_LIMIT = 5_000

#: The vote of an indexer that never voted.
NEVER = np.int32(2**31 - 1)

_NEEDED = 2


def order_views(
    view_start: np.ndarray,
    start: np.ndarray,
    previous: np.ndarray,
    writer: np.ndarray,
    length: np.ndarray,
    batch: np.ndarray,
    indexer: np.ndarray,
    is_relayed: np.ndarray,
    floor_start: np.ndarray,
    floor: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Order the nodes of many views; see `consensus.order_views` for all that is not the rule itself.

    Args:
        view_start: int64[views + 1], into the nodes.
        start: int64[nodes + 1], into the edges.
        previous: int32[edges].
        writer: int32[nodes].
        length: int64[nodes]. Not looked at, like `floor`.
        batch: int32[nodes].
        indexer: int32[nodes].
        is_relayed: bool[nodes].
        floor_start: int64[views + 1].
        floor: int64[...].

    Returns:
        `order` int32[nodes], those of each view from its start, and -1 behind them; how many those are, int64[views];
        and how many of them are settled, int64[views].

    Raises:
        ValueError: A view has more than `DESIGN_LIMIT` nodes, or edges close a cycle.
    """
    sizes = np.diff(view_start)
    if sizes.max(initial=0) > DESIGN_LIMIT:
        at = int(np.argmax(sizes))
        raise ValueError(f"view {at} has {sizes[at]} nodes; the design document's rule is for at most {DESIGN_LIMIT}")
    depth = depths(view_start, start, previous)
    clock_start, clock = clocks(view_start, start, previous, indexer, floor_start)
    follower = first_followers(view_start, start, previous, indexer, floor_start, depth)
    causal = np.lexsort((depth, np.repeat(np.arange(len(sizes)), sizes)))
    return _order_views(
        view_start,
        start,
        previous,
        *children(start, previous),
        writer,
        batch,
        indexer,
        is_relayed,
        floor_start,
        causal,
        clock_start,
        clock,
        follower,
    )


def depths(view_start: np.ndarray, start: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """Find the longest path down from each node.

    Args:
        view_start: int64[views + 1].
        start: int64[nodes + 1].
        previous: int32[edges].

    Returns:
        int32[nodes], 0 where nothing is followed.

    Raises:
        ValueError: The edges close a cycle.
    """
    every = np.ones(len(start) - 1, np.bool_)
    wanted = np.ones(len(view_start) - 1, np.bool_)
    depth = levels(view_start, start, *children(start, previous), every, ~every, ~every, wanted, False)
    if (depth < 0).any():
        raise ValueError("edges close a cycle")
    return depth


def first_followers(
    view_start: np.ndarray,
    start: np.ndarray,
    previous: np.ndarray,
    indexer: np.ndarray,
    floor_start: np.ndarray,
    depth: np.ndarray,
) -> np.ndarray:
    """Find the first node of each indexer that is a node or follows it.

    Args:
        view_start: As in `order_views`, like the others.
        start: int64[nodes + 1].
        previous: int32[edges].
        indexer: int32[nodes].
        floor_start: int64[views + 1].
        depth: int32[nodes].

    Returns:
        int32[...], laid out as `consensus.clocks` are: the length of the indexer's log with that node, from its floor,
        or `NEVER`.
    """
    view = np.repeat(np.arange(len(view_start) - 1), np.diff(view_start))
    causal = np.lexsort((depth, view))
    return _first_followers(view_start, start, previous, indexer, floor_start, causal)


@compiled
def _first_followers(view_start, start, previous, indexer, floor_start, causal):
    views = len(view_start) - 1
    room = np.int64(0)
    for v in range(views):
        room += (view_start[v + 1] - view_start[v]) * (floor_start[v + 1] - floor_start[v])
    follower = np.full(room, NEVER)
    at = np.int64(0)
    for v in range(views):
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        rows = follower[at : at + (end - begin) * n].reshape(end - begin, n)
        at += (end - begin) * n
        length = np.zeros(n, np.int32)
        for x in range(begin, end):
            if indexer[x] >= 0:
                length[indexer[x]] += 1
                rows[x - begin, indexer[x]] = length[indexer[x]]
        # From late to early, each node passes on the least that it and those after it have.
        for i in range(end - 1, begin - 1, -1):
            x = causal[i]
            own = rows[x - begin]
            for e in range(start[x], start[x + 1]):
                other = rows[previous[e] - begin]
                for k in range(n):
                    other[k] = min(other[k], own[k])
    return follower


@compiled
def _knows(row, votes, majority):
    """Say whether a node of this clock knows most votes."""
    count = 0
    for j in range(len(votes)):
        if votes[j] <= row[j]:
            count += 1
    return count >= majority


@compiled
def _degree(x, begin, first, limit, clock, follower, highest, votes, following):
    """Find the highest degree of the quorums over a node.

    Args:
        x: The node.
        begin: First node of the view.
        first: int64[indexers], their first nodes.
        limit: int64[indexers]; so much of each log is looked at.
        clock: int32[nodes of the view, indexers].
        follower: int32[nodes of the view, indexers].
        highest: No higher degree is looked for.
        votes: int32[indexers], scratch.
        following: int32[indexers], scratch.
    """
    n = len(limit)
    majority = n // 2 + 1
    for k in range(n):
        votes[k] = follower[x - begin, k] if follower[x - begin, k] <= limit[k] else NEVER
    degree = 0
    while degree < highest:
        is_reached = False
        for k in range(n):
            following[k] = NEVER
            low = np.int64(votes[k]) - 1
            # The last is asked first: mostly there is none above, or it is near.
            if low >= limit[k] or not _knows(clock[first[k] + limit[k] - 1 - begin], votes, majority):
                continue
            step = 1
            while low + step < limit[k] and not _knows(clock[first[k] + low + step - 1 - begin], votes, majority):
                low += step
                step *= 2
            high = min(low + step, limit[k])
            while high - low > 1:
                middle = (low + high) // 2
                if _knows(clock[first[k] + middle - 1 - begin], votes, majority):
                    high = middle
                else:
                    low = middle
            following[k] = high
            is_reached = True
        if not is_reached:
            break
        degree += 1
        votes[:] = following
    return degree


@compiled
def _may_be_settled(x, begin, first, known, removed, clock, follower, degree):
    """Say whether the quorum over a node is two degrees above none, and above those over what is beside it."""
    needed = _NEEDED
    for k in range(len(known)):
        # Of a log, those beside x follow each other, and the first of them has the highest quorum.
        beside = max(np.int64(clock[x - begin, k]), removed[k]) + 1
        if beside <= known[k] and beside < follower[x - begin, k]:
            needed = max(needed, degree[first[k] + beside - 1] + _NEEDED)
    return degree[x] >= needed


@compiled
def _leading_tail(x, begin, first, removed, limit, clock, follower, degree_below, below, votes, following):
    """Find the tail below x, or x, that has the highest quorum below x.

    Args:
        x: An indexer's node.
        begin: First node of the view.
        first: int64[indexers], their first nodes.
        removed: int64[indexers], how many of them are settled.
        limit: int64[indexers], how many of them x follows.
        clock: int32[nodes of the view, indexers].
        follower: int32[nodes of the view, indexers].
        degree_below: int64[nodes]; the degree of each tail that was asked about before. Kept up to date.
        below: int64[nodes]; below which node that was. Kept up to date.
        votes: int32[indexers], scratch.
        following: int32[indexers], scratch.
    """
    n = len(removed)
    best = np.int64(-1)
    best_degree = -1
    for k in range(n):
        if removed[k] >= clock[x - begin, k]:
            continue
        t = first[k] + removed[k]
        is_tail = True
        for j in range(n):
            if j != k and clock[t - begin, j] > removed[j]:
                is_tail = False
                break
        if is_tail:
            if below[t] != x:
                below[t] = x
                degree_below[t] = _degree(t, begin, first, limit, clock, follower, limit.sum(), votes, following)
            if degree_below[t] > best_degree or (degree_below[t] == best_degree and t < best):
                best = t
                best_degree = degree_below[t]
    return best


@compiled
def _settle(t, begin, end, start, previous, writer, batch, indexer, first, removed, settled, group):
    """Settle a node with all it follows, batches as a whole. Returns how many are now in the group."""
    settled[t] = True
    group[0] = t
    size = 1
    done = 0
    while done < size:
        x = np.int64(group[done])
        done += 1
        for e in range(start[x], start[x + 1]):
            if not settled[previous[e]]:
                settled[previous[e]] = True
                group[size] = previous[e]
                size += 1
        if batch[x] > 1 and x + 1 < end and writer[x + 1] == writer[x] and not settled[x + 1]:
            settled[x + 1] = True
            group[size] = x + 1
            size += 1
        if indexer[x] >= 0:
            removed[indexer[x]] = max(removed[indexer[x]], x - first[indexer[x]] + 1)
    return size


@compiled
def _place(group, child_start, child, hidden, waiting, order, at):
    """Place nodes, of those that wait for none always the first. Returns where the order ends now.

    Args:
        group: int32[...], sorted; -1 for what has been placed.
        child_start: int64[nodes + 1].
        child: int32[edges].
        hidden: bool[nodes]; what takes no place, and lets go at once of what waits for it.
        waiting: int32[nodes]; for how many nodes that are not placed each waits. Kept up to date.
        order: int32[nodes], filled from `at` on.
        at: Where the order ends.
    """
    for _ in range(len(group)):
        ready = -1
        for i in range(len(group)):
            if group[i] >= 0 and waiting[group[i]] == 0:
                if hidden[group[i]]:
                    ready = i
                    break
                if ready < 0:
                    ready = i
        x = group[ready]
        group[ready] = -1
        if not hidden[x]:
            order[at] = x
            at += 1
        for e in range(child_start[x], child_start[x + 1]):
            waiting[child[e]] -= 1
    return at


@compiled
def _order_views(
    view_start,
    start,
    previous,
    child_start,
    child,
    writer,
    batch,
    indexer,
    is_relayed,
    floor_start,
    causal,
    clock_start,
    clocks,
    followers,
):
    views = len(view_start) - 1
    nodes = len(writer)
    order = np.full(nodes, np.int32(-1))
    placed = np.zeros(views, np.int64)
    confirmed = np.zeros(views, np.int64)
    settled = np.zeros(nodes, np.bool_)
    hidden = np.zeros(nodes, np.bool_)
    degree = np.zeros(nodes, np.int64)
    degree_below = np.zeros(nodes, np.int64)
    below = np.full(nodes, np.int64(-1))
    waiting = np.empty(nodes, np.int32)
    group = np.empty(nodes, np.int32)
    for x in range(nodes):
        waiting[x] = start[x + 1] - start[x]
    for v in range(views):
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        clock = clocks[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        follower = followers[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        first = np.zeros(n, np.int64)
        known = np.zeros(n, np.int64)
        removed = np.zeros(n, np.int64)
        limit = np.zeros(n, np.int64)
        votes = np.empty(n, np.int32)
        following = np.empty(n, np.int32)
        for x in range(begin, end):
            if indexer[x] >= 0:
                if known[indexer[x]] == 0:
                    first[indexer[x]] = x
                known[indexer[x]] += 1
        for x in range(begin, end):
            if indexer[x] >= 0:
                # A single indexer reaches every degree.
                degree[x] = _degree(x, begin, first, known, clock, follower, end - begin + _NEEDED, votes, following)
        at = begin
        is_found = True
        while is_found:
            is_found = False
            for i in range(begin, end):
                x = np.int64(causal[i])
                if (
                    settled[x]
                    or indexer[x] < 0
                    or not _may_be_settled(x, begin, first, known, removed, clock, follower, degree)
                ):
                    continue
                is_found = True
                # The merge itself does not count for what is below it.
                for k in range(n):
                    limit[k] = clock[x - begin, k]
                limit[indexer[x]] -= 1
                while not settled[x]:
                    t = _leading_tail(
                        x, begin, first, removed, limit, clock, follower, degree_below, below, votes, following
                    )
                    size = _settle(
                        t, begin, end, start, previous, writer, batch, indexer, first, removed, settled, group
                    )
                    group[:size].sort()
                    at = _place(group[:size], child_start, child, hidden, waiting, order, at)
                break
        confirmed[v] = at - begin
        size = 0
        for x in range(begin, end):
            if not settled[x]:
                hidden[x] = is_relayed[x]
                group[size] = x
                size += 1
        at = _place(group[:size], child_start, child, hidden, waiting, order, at)
        placed[v] = at - begin
    return order, placed, confirmed
