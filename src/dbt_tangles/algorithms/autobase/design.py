"""The order of a base by the rule that the design document states, where `consensus` has the one that is in use.

A node of an indexer is settled when some indexer's node in the view knows a quorum over it that is of the second degree
or more, and of two degrees more than every quorum that this node knows over an unsettled indexer's node beside it, no
quorum at all being degree 0 (`leads`). So a larger view settles all that a smaller one does; the proof is in decision
017. Of several such nodes the one comes first whose lead is known to the first node by depth, writer and length, then
the first by these itself. With it all it follows is settled, in the order that would hold if others had settled what
could have been: while tails are left below it (unsettled indexers' nodes that are above no other), the one comes first
that has the highest quorum among what the node follows, the node itself not counted, then the one of the least writer;
each brings along what it follows, ordered as in `consensus`.

The document says that all writers can order "up to" the node over which there is a double quorum's single quorum.
With its own numbers this is exclusive: of c0 - b0 - c1 only c0 has a double quorum, and only c0 is settled.

What is not settled is ordered against the worst case, as the document has it under Consistent Ordering: a node comes
first that an indexer may have settled already by a node that nobody here has seen. That is the indexer's next, on top
of its last and of one more known node, or of none; it must find the node settled as above, of what it knows; and
nothing that is left of the indexer's own is beside the node. Again the first by depth, then writer, then length comes
next, with what it follows, and so on. The rest goes by key, and nothing of all that is settled. The indexer may be the
observer too: then it is what the observer's own next node could settle.

What the document leaves open: that ties go by writer, that the tails are asked about again once one has gone, how much
may be unseen, and whether the order agrees with the one in which other writers settled the same nodes. It does not
always; see `rule_search.py` among the tests.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import NEVER, causal_order, clocks, depths, first_followers
from dbt_tangles.algorithms.autobase.leads import NO_LEAD, allocate_degree_votes, degree_of, first_lead
from dbt_tangles.algorithms.autobase.settling import settle_group
from dbt_tangles.algorithms.autobase.unseen_nodes import may_be_settled_unseen, prepare_unseen, update_contenders
from dbt_tangles.algorithms.autobase.views import Graph, View, find_logs
from dbt_tangles.algorithms.autobase.votes import next_degree_votes
from dbt_tangles.algorithms.graph.topological_generations import children
from dbt_tangles.algorithms.structures.kahn import place_first_ready
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: The rule takes time in proportion to the square of the nodes or more; larger views are refused.
DESIGN_LIMIT = 5_000


class _Scratch(NamedTuple):
    """What is kept while views are ordered.

    Attributes:
        limit: int64[indexers], scratch.
        degree_below: int64[nodes], as in `_leading_tail`, like `below`.
        below: int64[nodes].
        votes: int32[indexers], scratch.
        following: int32[indexers], scratch.
        settled: bool[nodes]; later all that has a place.
        hidden: bool[nodes], what takes no place.
        unplaced: int32[nodes], how many of what each node follows are not placed.
        group: int32[nodes], what is placed next.
        heap: int32[nodes], scratch.
        order: int32[nodes].
    """

    limit: np.ndarray
    degree_below: np.ndarray
    below: np.ndarray
    votes: np.ndarray
    following: np.ndarray
    settled: np.ndarray
    hidden: np.ndarray
    unplaced: np.ndarray
    group: np.ndarray
    heap: np.ndarray
    order: np.ndarray


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
    graph = Graph(start, previous, *children(start, previous), writer, batch, indexer)
    causal = causal_order(view_start, depth)
    return _order_by_design(view_start, graph, is_relayed, floor_start, causal, clock_start, clock, follower)


@inner
def _degree(x, view, limit, follower, highest, votes, following):
    """Find the highest degree of the quorums over a node.

    Args:
        x: The node.
        view: A `views.View`.
        limit: int64[indexers]; so much of each log is looked at.
        follower: int32[nodes of the view, indexers].
        highest: No higher degree is looked for.
        votes: int32[indexers], scratch.
        following: int32[indexers], scratch.
    """
    begin, first, clock = view.begin, view.first, view.clock
    n = len(limit)
    for k in range(n):
        votes[k] = follower[x - begin, k] if follower[x - begin, k] <= limit[k] else NEVER
    degree = 0
    while degree < highest and next_degree_votes(votes, limit, first, begin, clock, following):
        degree += 1
        for k in range(n):
            votes[k] = following[k]
    return degree


@inner
def _leading_tail(x, view, limit, follower, degree_below, below, votes, following):
    """Find the tail below x, or x, that has the highest quorum below x.

    Args:
        x: An indexer's node.
        view: A `views.View`.
        limit: int64[indexers], how many of them x follows.
        follower: int32[nodes of the view, indexers].
        degree_below: int64[nodes]; the degree of each tail that was asked about before. Kept up to date.
        below: int64[nodes]; below which node that was. Kept up to date.
        votes: int32[indexers], scratch.
        following: int32[indexers], scratch.
    """
    begin, first, removed, clock = view.begin, view.first, view.removed, view.clock
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
                degree_below[t] = _degree(t, view, limit, follower, limit.sum(), votes, following)
            if degree_below[t] > best_degree or (degree_below[t] == best_degree and t < best):
                best = t
                best_degree = degree_below[t]
    return best


@inner
def _place(size, graph, work, at):
    """Order the group, of that size, from `at` on; where the order ends then."""
    return place_first_ready(
        work.group[:size],
        graph.child_start,
        graph.child,
        work.settled,
        work.hidden,
        work.unplaced,
        None,
        work.heap,
        work.order,
        at,
    )


@inner
def _place_with(x, graph, view, follower, work, at):
    """Place a node and what it follows, fork by fork.

    Args:
        x: An indexer's node.
        graph: A `views.Graph`.
        view: A `views.View`; `removed` is kept up to date.
        follower: int32[nodes of the view, indexers].
        work: A `_Scratch`.
        at: Where the order ends.

    Returns:
        Where the order ends now.
    """
    # The merge itself does not count for what is below it.
    limit = work.limit
    for k in range(len(limit)):
        limit[k] = view.clock[x - view.begin, k]
    limit[graph.indexer[x]] -= 1
    while not work.settled[x]:
        work.group[0] = _leading_tail(
            x, view, limit, follower, work.degree_below, work.below, work.votes, work.following
        )
        at = _place(settle_group(work.group, 1, graph, view, work.settled), graph, work, at)
    return at


@compiled
def _settle_all(graph, view, follower, causal, causal_place, work, at):
    """Settle what some node of the view knows to lead by two; where the order ends then, and the ladders.

    Of several nodes the one comes first whose lead is known to the first node in causal order.

    Args:
        graph: A `views.Graph`.
        view: A `views.View`; `removed` is kept up to date.
        follower: int32[nodes of the view, indexers].
        causal: int32[nodes], of `clocks.causal_order`.
        causal_place: int32[nodes], the place of each node there.
        work: A `_Scratch`.
        at: Where the order ends.
    """
    begin, end, n = view.begin, view.end, len(view.known)
    degree_votes = allocate_degree_votes(end - begin, n)
    contender = np.full((end - begin, n), np.int32(-1))
    lead = np.full(end - begin, NO_LEAD)
    rows = np.empty(n, np.int64)
    least = begin
    while True:
        best = np.int64(-1)
        i = least
        # A node is before all that know of its lead.
        while i < end and (best < 0 or i < lead[best - begin]):
            x = np.int64(causal[i])
            is_left = graph.indexer[x] >= 0 and not work.settled[x]
            if not is_left and i == least:
                least += 1
            i += 1
            if not is_left:
                continue
            # Beside the same nodes it leads where it did.
            if update_contenders(x, view, follower, contender):
                beside = contender[x - begin]
                lead[x - begin], degree_votes = first_lead(x, beside, degree_votes, view, follower, causal_place, rows)
            if lead[x - begin] < NO_LEAD and (best < 0 or lead[x - begin] < lead[best - begin]):
                best = x
        if best < 0:
            return at, degree_votes
        at = _place_with(best, graph, view, follower, work, at)


@inner
def _next_unseen(graph, view, follower, causal, degree, work, unseen):
    """Find the first node that may be settled unseen, or -1."""
    for i in range(view.begin, view.end):
        x = np.int64(causal[i])
        if work.settled[x] or graph.indexer[x] < 0 or degree[x] < 1:
            continue
        # With the same contenders it would fail again.
        if update_contenders(x, view, follower, unseen.contender) and may_be_settled_unseen(
            x, view, unseen, work.votes
        ):
            return x
    return np.int64(-1)


@inner
def _place_unseen(graph, view, follower, causal, degree, work, at):
    """Place what may be settled unseen; where the order ends then."""
    unseen = prepare_unseen(graph, view, follower, degree, work.settled, work.following)
    x = _next_unseen(graph, view, follower, causal, degree, work, unseen)
    while x >= 0:
        at = _place_with(x, graph, view, follower, work, at)
        x = _next_unseen(graph, view, follower, causal, degree, work, unseen)
    return at


@compiled
def _order_by_design(view_start, graph, is_relayed, floor_start, causal, clock_start, clocks, followers):
    start, indexer = graph.start, graph.indexer
    views = len(view_start) - 1
    nodes = len(indexer)
    order = np.full(nodes, np.int32(-1))
    placed = np.zeros(views, np.int64)
    confirmed = np.zeros(views, np.int64)
    settled = np.zeros(nodes, np.bool_)
    hidden = np.zeros(nodes, np.bool_)
    degree = np.zeros(nodes, np.int64)
    degree_below = np.zeros(nodes, np.int64)
    below = np.full(nodes, np.int64(-1))
    unplaced = np.empty(nodes, np.int32)  # How many of what each node follows are not placed.
    group = np.empty(nodes, np.int32)
    heap = np.empty(nodes, np.int32)
    causal_place = np.empty(nodes, np.int32)
    for i in range(nodes):
        causal_place[causal[i]] = i
    for x in range(nodes):
        unplaced[x] = start[x + 1] - start[x]
    for v in range(views):
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        follower = followers[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        view = View(
            begin,
            end,
            np.empty(n, np.int64),
            np.empty(n, np.int64),
            np.zeros(n, np.int64),
            clocks[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n),
        )
        limit = np.zeros(n, np.int64)
        votes = np.empty(n, np.int32)
        following = np.empty(n, np.int32)
        work = _Scratch(limit, degree_below, below, votes, following, settled, hidden, unplaced, group, heap, order)
        find_logs(begin, end, indexer, view.first, view.known)
        at, degree_votes = _settle_all(graph, view, follower, causal, causal_place, work, begin)
        confirmed[v] = at - begin
        for x in range(begin, end):
            hidden[x] = not settled[x] and is_relayed[x]
        # A single indexer has settled all its nodes.
        if n > 1:
            for x in range(begin, end):
                if indexer[x] >= 0 and not settled[x]:
                    degree[x], degree_votes = degree_of(x, degree_votes, view, follower)
            at = _place_unseen(graph, view, follower, causal, degree, work, at)
        size = 0
        for x in range(begin, end):
            if not settled[x]:
                settled[x] = True
                group[size] = x
                size += 1
        at = _place(size, graph, work, at)
        placed[v] = at - begin
    return order, placed, confirmed
