"""The order of a base, as each of many observers knows it, and how much of that order is settled.

A view is a base as one observer knows it. Nodes of a view are neighbours (`view_start` int64[views + 1]) and ascend by
writer and length; edges are compressed rows (`start` int64[nodes + 1] into `previous` int32[edges]) to what a node
follows directly: the heads its writer knew, and the writer's own previous node. The indexers of a view are numbered
from 0, and lengths of their logs count from their floor: the length that was settled before, of which no node is here.

What a node knows of each indexer is its clock. All questions of the rule are about clocks:

* an indexer's nodes between what a node has seen and what is settled are known to lie beside it, so one clock entry
  says whether another node has seen any of those;
* the nodes of an indexer that speak for a target (they see it, and nothing unsettled beside it) follow each other
  without a gap and begin with the first one that could, so the last of them is found by leaps.

A node once found to be settled, alone or below a merge, is found so again however much more is settled. A node found
not to be is found so again until something beside it is settled. So a node that fails waits at the first unsettled
node beside it of each indexer, and is not asked about again before one of those is settled. Memory is linear in nodes
times indexers.

Which of several merges is looked below is no matter nearly always, but not quite always. Here it is the first by depth,
writer and length; and below it is gone on until it is settled itself, whatever else could be looked below meanwhile.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.compiled import compiled
from dbt_tangles.graph.levels import children

_NONE = -1
_UNLIMITED = np.int32(2**31 - 1)


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
    """Order the nodes of many views.

    A settled part comes first, in groups as they were settled; each group, and what is not settled, is ordered
    causally, of the nodes that are ready always the first by writer and length. What is settled is so together with
    all it follows and with its batch, as far as that is known. A relayed node is in the order only if it is settled;
    others still come after what they follow through it.

    Source: autobase 7.28.1. Relayed writers: the design document, Writer Roles.

    Args:
        view_start: int64[views + 1], into the nodes.
        start: int64[nodes + 1], into the edges.
        previous: int32[edges], nodes of the same view, distinct, without a cycle.
        writer: int32[nodes], the rank of the writer's key within the view. Nodes ascend by it, then by length.
        length: int64[nodes]; the place in the writer's log, from 1. An indexer's ascend from its floor + 1 by 1.
        batch: int32[nodes]; how many nodes of the batch are left, this one included.
        indexer: int32[nodes]; the number of the writer among the view's indexers, or -1.
        is_relayed: bool[nodes]; none of them an indexer's.
        floor_start: int64[views + 1], into the floors; as many as a view has indexers.
        floor: int64[...]; the length of each indexer's log that was settled before.

    Returns:
        `order` int32[nodes], those of each view from its start, and -1 behind them; how many those are, int64[views];
        and how many of them are settled, int64[views].

    Raises:
        ValueError: Arrays do not fit together; edges leave a view or close a cycle; an indexer has a second log, one
            with a hole, one that is not above its floor, or one whose nodes do not follow each other; or an indexer's
            nodes are relayed.
    """
    nodes = len(writer)
    if view_start[0] != 0 or view_start[-1] != nodes or len(start) != nodes + 1 or start[-1] != len(previous):
        raise ValueError("views, nodes and edges do not fit together")
    if any(len(column) != nodes for column in (length, batch, indexer, is_relayed)):
        raise ValueError("columns are not of the same nodes")
    if len(floor_start) != len(view_start) or floor_start[-1] != len(floor):
        raise ValueError("the floors are not those of the views")
    _check(view_start, start, previous, writer, length, indexer, is_relayed, floor_start, floor)
    child_start, child = children(start, previous)
    return _order_views(
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
    )


def clocks(
    view_start: np.ndarray,
    start: np.ndarray,
    previous: np.ndarray,
    indexer: np.ndarray,
    floor_start: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Find how much of each indexer's log each node knows, itself included.

    Args:
        view_start: As in `order_views`, like the others.
        start: int64[nodes + 1].
        previous: int32[edges].
        indexer: int32[nodes].
        floor_start: int64[views + 1].

    Returns:
        `clock_start` int64[views + 1] and `clock` int32[...]. In a view with k indexers, those of its i-th node begin
        at `clock_start` + i * k. They count from the floor.

    Raises:
        ValueError: The edges close a cycle.
    """
    return _clocks(view_start, start, previous, *children(start, previous), indexer, floor_start)


@compiled
def _check(view_start, start, previous, writer, length, indexer, is_relayed, floor_start, floor):
    log_of = np.full(len(floor), -1, np.int64)
    for v in range(len(view_start) - 1):
        begin, end = view_start[v], view_start[v + 1]
        for x in range(begin, end):
            follows_own = False
            for e in range(start[x], start[x + 1]):
                if previous[e] < begin or previous[e] >= end:
                    raise ValueError("an edge leaves its view")
                follows_own |= previous[e] == x - 1
            is_first = x == begin or writer[x - 1] != writer[x]
            if x > begin and (writer[x] < writer[x - 1] or (not is_first and length[x] <= length[x - 1])):
                raise ValueError("nodes do not ascend by writer and length")
            k = indexer[x]
            if not is_first and indexer[x - 1] != k:
                raise ValueError("a writer is not always the same indexer")
            if k < 0:
                continue
            if is_relayed[x]:
                raise ValueError("an indexer's node is relayed")
            if k >= floor_start[v + 1] - floor_start[v]:
                raise ValueError("an indexer has no floor")
            f = floor_start[v] + k
            if is_first:
                if log_of[f] >= 0:
                    raise ValueError("an indexer has two logs")
                log_of[f] = writer[x]
            if length[x] != (floor[f] if is_first else length[x - 1]) + 1:
                raise ValueError("an indexer's log has a hole, or is not above its floor")
            if not is_first and not follows_own:
                raise ValueError("an indexer's node does not follow the one before")


@compiled
def _causal_order(begin, end, start, child_start, child, waiting, queue, depth, causal):
    """Order nodes by depth, the longest path to one that follows nothing; nodes of the same depth ascend.

    Args:
        begin: First node of the view.
        end: One behind its last.
        start: int64[nodes + 1].
        child_start: int64[nodes + 1], the edges turned round.
        child: int32[edges].
        waiting: int32[nodes], filled with how many each node follows directly.
        queue: int32[nodes of the view], scratch.
        depth: int32[nodes], scratch.
        causal: int32[nodes], filled from `begin` to `end`.

    Raises:
        ValueError: The edges close a cycle.
    """
    tail = 0
    for x in range(begin, end):
        waiting[x] = start[x + 1] - start[x]
        if waiting[x] == 0:
            queue[tail] = x
            depth[x] = 0
            tail += 1
    head = 0
    deepest = 0
    while head < tail:
        x = queue[head]
        head += 1
        deepest = depth[x]
        for e in range(child_start[x], child_start[x + 1]):
            c = child[e]
            waiting[c] -= 1
            if waiting[c] == 0:
                depth[c] = depth[x] + 1
                queue[tail] = c
                tail += 1
    if tail < end - begin:
        raise ValueError("edges close a cycle")
    # Who is how deep is counted in the queue, which has served.
    queue[: deepest + 1] = 0
    for x in range(begin, end):
        queue[depth[x]] += 1
        waiting[x] = start[x + 1] - start[x]
    before = 0
    for d in range(deepest + 1 if end > begin else 0):
        before, queue[d] = before + queue[d], before
    for x in range(begin, end):
        causal[begin + queue[depth[x]]] = x
        queue[depth[x]] += 1


@compiled
def _fill_clocks(begin, end, start, previous, indexer, causal, first, clock):
    """Work out the clocks of a view.

    Args:
        begin: First node of the view.
        end: One behind its last.
        start: int64[nodes + 1].
        previous: int32[edges].
        indexer: int32[nodes].
        causal: int32[nodes], from `begin` to `end`.
        first: int64[indexers], filled with the first node of each that has any.
        clock: int32[nodes of the view, indexers], filled.
    """
    n = clock.shape[1]
    for x in range(end - 1, begin - 1, -1):
        if indexer[x] >= 0:
            first[indexer[x]] = x
    for i in range(begin, end):
        x = causal[i]
        own = clock[x - begin]
        own[:] = 0
        for e in range(start[x], start[x + 1]):
            other = clock[previous[e] - begin]
            for k in range(n):
                own[k] = max(own[k], other[k])
        if indexer[x] >= 0:
            own[indexer[x]] = x - first[indexer[x]] + 1


@compiled
def _clocks(view_start, start, previous, child_start, child, indexer, floor_start):
    views = len(view_start) - 1
    clock_start = np.zeros(views + 1, np.int64)
    widest = np.int64(0)
    for v in range(views):
        n = floor_start[v + 1] - floor_start[v]
        widest = max(widest, n)
        clock_start[v + 1] = clock_start[v] + n * (view_start[v + 1] - view_start[v])
    clock = np.empty(clock_start[views], np.int32)
    waiting = np.empty(len(indexer), np.int32)
    causal = np.empty(len(indexer), np.int32)
    depth = np.empty(len(indexer), np.int32)
    queue = np.empty(len(indexer), np.int32)
    first = np.empty(widest, np.int64)
    for v in range(views):
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        rows = clock[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        _causal_order(begin, end, start, child_start, child, waiting, queue, depth, causal)
        _fill_clocks(begin, end, start, previous, indexer, causal, first, rows)
    return clock_start, clock


@compiled
def _is_merge(x, begin, start, previous, indexer, first, clock):
    """Say whether the last nodes of the indexers below x are not all below one of them."""
    if start[x + 1] - start[x] == 1 and indexer[previous[start[x]]] >= 0:
        return False
    n = clock.shape[1]
    own = clock[x - begin]
    a = indexer[x]
    # If one of them is above all, it replaces whatever was the best so far, and is not replaced.
    best = np.int64(_NONE)
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


@compiled
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


@compiled
def _possible_acks(x, a, begin, first, known, clock):
    """Count the indexers whose first node that x has not seen sees x; its own counts."""
    possible = 1
    row = clock[x - begin]
    for k in range(len(known)):
        if k != a and row[k] < known[k] and clock[first[k] + row[k] - begin, a] >= row[a]:
            possible += 1
    return possible


@compiled
def _is_confirmed(x, p, begin, indexer, first, known, removed, clock, limit, ack):
    """Say whether x is settled, as far as is known; or as far as p knows, or might be by what p does not know.

    Args:
        x: An unsettled node of an indexer.
        p: Another that sees it, or -1.
        begin: First node of the view.
        indexer: int32[nodes].
        first: int64[indexers], their first nodes.
        known: int64[indexers], how many there are.
        removed: int64[indexers], how many of them are settled.
        clock: int32[nodes of the view, indexers].
        limit: int32[indexers], scratch.
        ack: int32[indexers], scratch.
    """
    n = len(known)
    majority = n // 2 + 1
    a = np.int64(indexer[x])
    row = clock[x - begin]
    count = row[a]
    if _possible_acks(x, a, begin, first, known, clock) < majority:
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
        # From `at` on nodes see the target; before `last` they see nothing beside it.
        at = np.int64(count - 1) if k == a else max(np.int64(row[k]), removed[k])
        if at >= end or not _is_newer(first[k] + at, a, count, begin, clock, limit):
            continue
        low = at
        high = end
        leap = 1
        while low + leap < high:
            if _is_newer(first[k] + low + leap, a, count, begin, clock, limit):
                low += leap
                leap *= 2
            else:
                high = low + leap
                break
        while high - low > 1:
            middle = (low + high) >> 1
            if _is_newer(first[k] + middle, a, count, begin, clock, limit):
                low = middle
            else:
                high = middle
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


@compiled
def _wait(x, begin, indexer, first, known, removed, clock, head, link):
    """Let a node that was found not to be settled wait at the first unsettled node beside it of each indexer.

    Args:
        x: The node.
        begin: First node of the view.
        indexer: int32[nodes].
        first: int64[indexers].
        known: int64[indexers].
        removed: int64[indexers].
        clock: int32[nodes of the view, indexers].
        head: int64[nodes], -1 or who waits there: a node's place in the view times the indexers, plus an indexer.
        link: int64[nodes of the view * indexers], who else waits there, or -1; -2 for who does not wait.
    """
    n = len(known)
    a = indexer[x]
    row = clock[x - begin]
    for k in range(n):
        beyond = max(np.int64(row[k]), removed[k])
        if beyond < known[k]:
            m = first[k] + beyond
            entry = (x - begin) * n + k
            if clock[m - begin, a] < row[a] and link[entry] == -2:
                link[entry] = head[m]
                head[m] = entry


@compiled
def _push(heap, size, x):
    at = size
    while at > 0 and x < heap[(at - 1) >> 1]:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = x
    return size + 1


@compiled
def _place(nodes, child_start, child, chosen, hidden, waiting, heap, order, placed):
    """Put nodes in order: causally, of those that are ready always the first.

    Args:
        nodes: int32[...], some of the chosen, all of those that are ready among them.
        child_start: int64[nodes + 1].
        child: int32[edges].
        chosen: bool[nodes]; what is to be placed, or has been.
        hidden: bool[nodes]; what takes no place, and lets go at once of what waits for it.
        waiting: int32[nodes]; for how many nodes that are not placed each waits. Kept up to date.
        heap: int32[...], scratch.
        order: int32[nodes], filled from `placed` on.
        placed: Where the order ends.

    Returns:
        Where the order ends now.
    """
    size = 0
    hidden_size = 0
    room = len(heap)
    for x in nodes:
        if waiting[x] == 0:
            if hidden[x]:
                hidden_size += 1
                heap[room - hidden_size] = x
            else:
                size = _push(heap, size, x)
    while size > 0 or hidden_size > 0:
        if hidden_size > 0:
            top = heap[room - hidden_size]
            hidden_size -= 1
        else:
            top = heap[0]
            order[placed] = top
            placed += 1
            size -= 1
            last = heap[size]
            at = 0
            while True:
                below = 2 * at + 1
                if below >= size:
                    break
                if below + 1 < size and heap[below + 1] < heap[below]:
                    below += 1
                if heap[below] >= last:
                    break
                heap[at] = heap[below]
                at = below
            heap[at] = last
        for e in range(child_start[top], child_start[top + 1]):
            c = child[e]
            waiting[c] -= 1
            if waiting[c] == 0 and chosen[c]:
                if hidden[c]:
                    hidden_size += 1
                    heap[room - hidden_size] = c
                else:
                    size = _push(heap, size, c)
    return placed


@compiled
def _next_unsettled(at, beyond):
    """Find the first place from some place on whose merge is not settled, and shorten the way there."""
    while beyond[at] != at:
        beyond[at] = beyond[beyond[at]]
        at = beyond[at]
    return at


@compiled
def _keep_last(woken, wakes, place, levels, level_woken, is_kept):
    """Forget that merges were woken before they were woken again.

    Args:
        woken: int32[...]; those merges whose place is the same are the same.
        wakes: How many they are.
        place: int32[nodes], where each stands among the merges.
        levels: How many levels there are.
        level_woken: int64[levels], how many of `woken` each has done with, ascending; changed.
        is_kept: bool[merges], all False; scratch.

    Returns:
        How many are left.
    """
    at = len(woken)
    level = levels - 1
    for i in range(wakes - 1, -1, -1):
        while level >= 0 and level_woken[level] > i:
            level_woken[level] = at
            level -= 1
        z = woken[i]
        if not is_kept[place[z]]:
            is_kept[place[z]] = True
            at -= 1
            woken[at] = z
    while level >= 0:
        level_woken[level] = at
        level -= 1
    kept = len(woken) - at
    for i in range(kept):
        woken[i] = woken[at + i]
        is_kept[place[woken[i]]] = False
    for level in range(levels):
        level_woken[level] -= at
    return kept


@compiled
def _find(
    level,
    level_node,
    level_at,
    level_woken,
    scan,
    scans,
    place,
    beyond,
    woken,
    wakes,
    begin,
    indexer,
    first,
    known,
    removed,
    clock,
    settled,
    head,
    link,
    limit,
    ack,
):
    """Find the first merge that is settled, as far as is known or below the merge of the last level.

    Args:
        level: Which level that is.
        level_node: int32[levels], the merge below which is searched; -1 on level 0, where all are.
        level_at: int64[levels], the place in `scan` up to which merges have been asked about.
        level_woken: int64[levels], how many of `woken` need not be asked about again.
        scan: int32[...], merges by depth, then node, some of them settled.
        scans: How many they are.
        place: int32[nodes], where each stands in `scan`.
        beyond: int32[merges + 1], see `_next_unsettled`.
        woken: int32[...], merges beside which something was settled.
        wakes: How many they are.
        begin: First node of the view.
        indexer: int32[nodes].
        first: int64[indexers].
        known: int64[indexers].
        removed: int64[indexers].
        clock: int32[nodes of the view, indexers].
        settled: bool[nodes].
        head: See `_wait`.
        link: See `_wait`.
        limit: int32[indexers], scratch.
        ack: int32[indexers], scratch.

    Returns:
        The merge, or -1.
    """
    p = level_node[level]
    best = np.int64(_NONE)
    for i in range(level_woken[level], wakes):
        z = np.int64(woken[i])
        a = indexer[z]
        if (
            not settled[z]
            and place[z] < level_at[level]
            and (p < 0 or (z != p and clock[p - begin, a] >= clock[z - begin, a]))
        ):
            if _is_confirmed(z, p, begin, indexer, first, known, removed, clock, limit, ack):
                if best < 0 or place[z] < place[best]:
                    best = z
                continue
            _wait(z, begin, indexer, first, known, removed, clock, head, link)
        # Those that are found stay behind. For levels above, which have done with less, the order is no matter.
        woken[i] = woken[level_woken[level]]
        woken[level_woken[level]] = z
        level_woken[level] += 1
    if best >= 0:
        return best
    end = scans if p < 0 else np.int64(place[p])
    while True:
        at = _next_unsettled(level_at[level], beyond)
        if at >= end:
            level_at[level] = at
            return np.int64(_NONE)
        level_at[level] = at + 1
        z = np.int64(scan[at])
        a = indexer[z]
        if p >= 0 and clock[p - begin, a] < clock[z - begin, a]:
            continue
        if _is_confirmed(z, p, begin, indexer, first, known, removed, clock, limit, ack):
            return z
        _wait(z, begin, indexer, first, known, removed, clock, head, link)


@compiled
def _order_views(view_start, start, previous, child_start, child, writer, batch, indexer, is_relayed, floor_start):
    views = len(view_start) - 1
    nodes = len(writer)
    most = np.int64(0)
    widest = np.int64(0)
    entries = np.int64(0)
    for v in range(views):
        count = view_start[v + 1] - view_start[v]
        n = floor_start[v + 1] - floor_start[v]
        most = max(most, count)
        widest = max(widest, n)
        entries = max(entries, count * n)
    order = np.full(nodes, np.int32(_NONE))
    placed = np.zeros(views, np.int64)
    confirmed = np.zeros(views, np.int64)
    # By node of all views.
    waiting = np.empty(nodes, np.int32)
    depth = np.empty(nodes, np.int32)
    causal = np.empty(nodes, np.int32)
    settled = np.zeros(nodes, np.bool_)
    hidden = np.zeros(nodes, np.bool_)
    head = np.full(nodes, np.int64(_NONE))
    place = np.full(nodes, np.int32(_NONE))
    failed = np.zeros(nodes, np.bool_)
    failed_below = np.full(nodes, np.int32(_NONE))
    # For one view.
    clock_room = np.empty(entries, np.int32)
    link_room = np.empty(entries, np.int64)
    first_room = np.empty(widest, np.int64)
    known_room = np.empty(widest, np.int64)
    removed_room = np.empty(widest, np.int64)
    limit_room = np.empty(widest, np.int32)
    ack_room = np.empty(widest, np.int32)
    tails = np.empty(widest, np.int32)
    heap = np.empty(most, np.int32)
    group = np.empty(most, np.int32)
    scan = np.empty(most, np.int32)
    beyond = np.empty(most + 1, np.int32)
    is_kept = np.zeros(most, np.bool_)
    woken = np.empty(2 * most, np.int32)
    level_node = np.empty(most + 2, np.int32)
    level_at = np.empty(most + 2, np.int64)
    level_woken = np.empty(most + 2, np.int64)
    for v in range(views):
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        majority = n // 2 + 1
        clock = clock_room[: (end - begin) * n].reshape(end - begin, n)
        link = link_room[: (end - begin) * n]
        link[:] = -2
        first = first_room[:n]
        known = known_room[:n]
        removed = removed_room[:n]
        limit = limit_room[:n]
        ack = ack_room[:n]
        known[:] = 0
        removed[:] = 0
        _causal_order(begin, end, start, child_start, child, waiting, heap, depth, causal)
        scans = 0
        if n > 0:
            _fill_clocks(begin, end, start, previous, indexer, causal, first, clock)
            for x in range(begin, end):
                if indexer[x] >= 0:
                    known[indexer[x]] += 1
            for i in range(begin, end):
                x = np.int64(causal[i])
                a = indexer[x]
                if (
                    a >= 0
                    and _is_merge(x, begin, start, previous, indexer, first, clock)
                    and _possible_acks(x, a, begin, first, known, clock) >= majority
                ):
                    scan[scans] = x
                    place[x] = scans
                    beyond[scans] = scans
                    scans += 1
        beyond[scans] = scans
        wakes = 0
        levels = 1
        level_node[0] = _NONE
        level_at[0] = 0
        level_woken[0] = 0
        at = begin
        while n > 0:
            tail_count = 0
            for k in range(n):
                if removed[k] < known[k]:
                    t = first[k] + removed[k]
                    row = clock[t - begin]
                    j = 0
                    while j < n and (j == k or row[j] <= removed[j]):
                        j += 1
                    if j == n:
                        # They stand by writer, whatever the numbers of indexers.
                        h = tail_count
                        while h > 0 and tails[h - 1] > t:
                            tails[h] = tails[h - 1]
                            h -= 1
                        tails[h] = t
                        tail_count += 1
            size = 0
            for j in range(tail_count):
                t = np.int64(tails[j])
                if failed[t]:
                    continue
                if _is_confirmed(t, _NONE, begin, indexer, first, known, removed, clock, limit, ack):
                    group[0] = t
                    size = 1
                    break
                failed[t] = True
                _wait(t, begin, indexer, first, known, removed, clock, head, link)
            level = 1
            while size == 0:
                if level == levels:
                    z = _find(
                        level - 1,
                        level_node,
                        level_at,
                        level_woken,
                        scan,
                        scans,
                        place,
                        beyond,
                        woken,
                        wakes,
                        begin,
                        indexer,
                        first,
                        known,
                        removed,
                        clock,
                        settled,
                        head,
                        link,
                        limit,
                        ack,
                    )
                    if z < 0:
                        break
                    level_node[levels] = z
                    level_at[levels] = 0
                    level_woken[levels] = wakes
                    levels += 1
                p = np.int64(level_node[level])
                for j in range(tail_count):
                    t = np.int64(tails[j])
                    if t == p:
                        group[0] = t
                        size = 1
                        break
                    a = indexer[t]
                    if clock[p - begin, a] < clock[t - begin, a] or failed_below[t] == p:
                        continue
                    if _is_confirmed(t, p, begin, indexer, first, known, removed, clock, limit, ack):
                        group[0] = t
                        size = 1
                        break
                    failed_below[t] = p
                    _wait(t, begin, indexer, first, known, removed, clock, head, link)
                level += 1
            if size == 0 and levels > 1:
                p = np.int64(level_node[levels - 1])
                for j in range(tail_count):
                    t = np.int64(tails[j])
                    a = indexer[t]
                    if clock[p - begin, a] >= clock[t - begin, a]:
                        group[size] = t
                        size += 1
            if size == 0:
                break
            # Settle the group, all it follows, and batches as a whole.
            for j in range(size):
                settled[group[j]] = True
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
                k = indexer[x]
                if k < 0:
                    continue
                removed[k] = max(removed[k], x - first[k] + 1)
                if place[x] >= 0:
                    beyond[place[x]] = place[x] + 1
                entry = head[x]
                head[x] = _NONE
                while entry >= 0:
                    z = begin + entry // n
                    failed[z] = False
                    failed_below[z] = _NONE
                    if place[z] >= 0 and not settled[z]:
                        if wakes == len(woken):
                            wakes = _keep_last(woken, wakes, place, levels, level_woken, is_kept)
                        woken[wakes] = z
                        wakes += 1
                    following = link[entry]
                    link[entry] = -2
                    entry = following
            at = _place(group[:size], child_start, child, settled, hidden, waiting, heap, order, at)
            while levels > 1 and settled[level_node[levels - 1]]:
                levels -= 1
        confirmed[v] = at - begin
        size = 0
        for x in range(begin, end):
            if not settled[x]:
                settled[x] = True
                hidden[x] = is_relayed[x]
                group[size] = x
                size += 1
        at = _place(group[:size], child_start, child, settled, hidden, waiting, heap, order, at)
        placed[v] = at - begin
    return order, placed, confirmed
