"""The order of a base by the rule of the design document; `consensus` has the rule of the package.

A node of an indexer is settled when an indexer node of the view knows a quorum over it of degree two or more, and of
two degrees more than every quorum that this node knows over an unsettled indexer node beside it (`leads`); a missing
quorum has degree 0. So a larger view settles all that a smaller one does; decision 008 has the proof. Of several such
nodes, the first by the causal place of the node that knows its lead comes next. All its ancestors are settled with it,
in the order that other writers may have settled them: while it has tails below it, the tail with the highest quorum
among the node's ancestors comes next, ties by writer, with its own ancestors, ordered as in `consensus`.

The document says that all writers can order "up to" the node that makes the quorum of a double quorum. By its own
numbers this is exclusive: of c0 - b0 - c1 only c0 has a double quorum, and only c0 is settled.

The unsettled rest is ordered for the worst case, as in Consistent Ordering: a node comes first that an indexer may
have settled already with an unseen node. That unseen node is the indexer's next, on top of its last node and at most
one other known node; it must find the node settled by the rule above; and the indexer has no unsettled node beside it.
Again the first by depth, writer and length comes next, with its ancestors, and so on. The remaining nodes go by key and
stay unsettled. The indexer may be the observer itself.

The document leaves open that ties go by writer, that tails are compared again after one has gone, how much may be
unseen, and whether the order agrees with that of other writers. It does not always; see `rule_search.py` in the tests.

Source: the design document of Autobase, Quorums to Consistent Ordering.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import NEVER, first_followers, index_views
from dbt_tangles.algorithms.autobase.leads import NO_LEAD, allocate_degree_votes, degree_of, first_lead
from dbt_tangles.algorithms.autobase.settling import settle_group
from dbt_tangles.algorithms.autobase.unseen_nodes import may_be_settled_unseen, prepare_unseen, update_contenders
from dbt_tangles.algorithms.autobase.views import View, ViewArrays, find_logs
from dbt_tangles.algorithms.autobase.votes import next_degree_votes
from dbt_tangles.algorithms.structures.kahn import Unplaced, place_first_ready
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: The most nodes of a view: the rule takes at least quadratic time.
DESIGN_LIMIT = 5_000


class _Scratch(NamedTuple):
    """The arrays that are kept while views are ordered."""

    limit: np.ndarray  # int64[indexers], the length of each log to search
    degree_below: np.ndarray  # int64[nodes], the degree of each tail at its last test
    below: np.ndarray  # int64[nodes], the node below which that was
    votes: np.ndarray  # int32[indexers], scratch
    following: np.ndarray  # int32[indexers], scratch
    settled: np.ndarray  # bool[nodes]; later all placed nodes
    hidden: np.ndarray  # bool[nodes], the nodes without a place
    unplaced: np.ndarray  # int32[nodes], the number of previous nodes of each that are not placed
    group: np.ndarray  # int32[nodes], the nodes to place next
    heap: np.ndarray  # int32[nodes], scratch
    order: np.ndarray  # int32[nodes]


def order_views(views: ViewArrays) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Order the nodes of many views by the rule of the design document.

    Args:
        views: The views; `length` and `floor` are unused.

    Returns:
        As `consensus.order_views`.

    Raises:
        ValueError: A view has more than `DESIGN_LIMIT` nodes, or edges close a cycle.
    """
    sizes = np.diff(views.view_start)
    if sizes.max(initial=0) > DESIGN_LIMIT:
        at = int(np.argmax(sizes))
        raise ValueError(
            f"view {at} has {sizes[at]} nodes; the design document's rule takes at most {DESIGN_LIMIT}: leave it out"
        )
    indexed, depth = index_views(views)
    edges = (views.view_start, views.start, views.previous)
    return _order_by_design(indexed, first_followers(*edges, views.indexer, views.floor_start, depth))


@inner
def _degree(x, view, limit, follower, highest, votes, following):
    """Find the highest degree of the quorums over a node."""
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
def _leading_tail(x, view, follower, work):
    """Find the tail below x, or x itself, with the highest quorum below x."""
    begin, first, removed, clock = view.begin, view.first, view.removed, view.clock
    limit, below, degree_below = work.limit, work.below, work.degree_below
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
                degree_below[t] = _degree(t, view, limit, follower, limit.sum(), work.votes, work.following)
            if degree_below[t] > best_degree or (degree_below[t] == best_degree and t < best):
                best = t
                best_degree = degree_below[t]
    return best


@inner
def _place(size, graph, work, at):
    """Place the first `size` nodes of the group from `at` on; the end of the order."""
    unplaced = Unplaced(graph.child_start, graph.child, work.settled, work.unplaced, work.heap)
    return place_first_ready(work.group[:size], unplaced, work.hidden, None, work.order, at)


@inner
def _place_with(x, graph, view, follower, work, at):
    """Place a node and its ancestors, tail by tail."""
    # The node itself does not count for its ancestors.
    limit = work.limit
    for k in range(len(limit)):
        limit[k] = view.clock[x - view.begin, k]
    limit[graph.indexer[x]] -= 1
    while not work.settled[x]:
        work.group[0] = _leading_tail(x, view, follower, work)
        at = _place(settle_group(work.group, 1, graph, view, work.settled), graph, work, at)
    return at


@compiled
def _settle_all(graph, view, follower, causal, causal_place, work, at):
    """Settle the nodes that lead by two degrees at a node of the view.

    Of several nodes, the first by the causal place of the node that knows its lead comes next.

    Args:
        graph: A `views.Graph`.
        view: A `views.View`; `removed` is kept up to date.
        follower: int32[nodes of the view, indexers].
        causal: int32[nodes], of `clocks.causal_order`.
        causal_place: int32[nodes], the place of each node there.
        work: A `_Scratch`.
        at: The end of the order.

    Returns:
        The new end of the order, and the `leads.DegreeVotes`.
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
        # A node comes before all nodes that know its lead.
        while i < end and (best < 0 or i < lead[best - begin]):
            x = np.int64(causal[i])
            is_left = graph.indexer[x] >= 0 and not work.settled[x]
            if not is_left and i == least:
                least += 1
            i += 1
            if not is_left:
                continue
            # With the same contenders the lead is the same.
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
    """Find the first node that may be settled by an unseen node, or -1."""
    for i in range(view.begin, view.end):
        x = np.int64(causal[i])
        if work.settled[x] or graph.indexer[x] < 0 or degree[x] < 1:
            continue
        # With the same contenders the test would fail again.
        is_changed = update_contenders(x, view, follower, unseen.contender)
        if is_changed and may_be_settled_unseen(x, view, unseen, work.votes):
            return x
    return np.int64(-1)


@inner
def _place_unseen(graph, view, follower, causal, degree, work, at):
    """Place the nodes that may be settled by unseen nodes; the end of the order."""
    unseen = prepare_unseen(graph, view, follower, degree, work.settled, work.following)
    x = _next_unseen(graph, view, follower, causal, degree, work, unseen)
    while x >= 0:
        at = _place_with(x, graph, view, follower, work, at)
        x = _next_unseen(graph, view, follower, causal, degree, work, unseen)
    return at


@compiled
def _order_by_design(views, followers):
    """Order many views; `followers` is the result of `clocks.first_followers`."""
    view_start, graph, is_relayed, floor_start, causal, clock_start, clocks = views
    indexer = graph.indexer
    nodes = len(indexer)
    placed = np.zeros(len(view_start) - 1, np.int64)
    confirmed = np.zeros(len(view_start) - 1, np.int64)
    degree = np.zeros(nodes, np.int64)
    causal_place = np.empty(nodes, np.int32)
    for i in range(nodes):
        causal_place[causal[i]] = i
    kept = _allocate_scratch(graph, 0)
    for v in range(len(view_start) - 1):
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        follower = followers[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        clock = clocks[clock_start[v] : clock_start[v + 1]].reshape(end - begin, n)
        view = View(begin, end, np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.int64), clock)
        work = _with_indexers(kept, n)
        find_logs(begin, end, indexer, view.first, view.known)
        at, degree_votes = _settle_all(graph, view, follower, causal, causal_place, work, begin)
        confirmed[v] = at - begin
        for x in range(begin, end):
            work.hidden[x] = not work.settled[x] and is_relayed[x]
        # A single indexer has confirmed all its nodes.
        if n > 1:
            for x in range(begin, end):
                if indexer[x] >= 0 and not work.settled[x]:
                    degree[x], degree_votes = degree_of(x, degree_votes, view, follower)
            at = _place_unseen(graph, view, follower, causal, degree, work, at)
        size = 0
        for x in range(begin, end):
            if not work.settled[x]:
                work.settled[x] = True
                work.group[size] = x
                size += 1
        placed[v] = _place(size, graph, work, at) - begin
    return kept.order, placed, confirmed


@compiled
def _allocate_scratch(graph, indexers):
    """Make a `_Scratch` for the nodes of a graph and so many indexers."""
    nodes = len(graph.indexer)
    unplaced = np.empty(nodes, np.int32)
    for x in range(nodes):
        unplaced[x] = graph.start[x + 1] - graph.start[x]
    return _Scratch(
        np.zeros(indexers, np.int64),
        np.zeros(nodes, np.int64),
        np.full(nodes, np.int64(-1)),
        np.empty(indexers, np.int32),
        np.empty(indexers, np.int32),
        np.zeros(nodes, np.bool_),
        np.zeros(nodes, np.bool_),
        unplaced,
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.full(nodes, np.int32(-1)),
    )


@compiled
def _with_indexers(kept, indexers):
    """Give a `_Scratch` arrays for so many indexers."""
    limit, votes, following = np.zeros(indexers, np.int64), np.empty(indexers, np.int32), np.empty(indexers, np.int32)
    return _Scratch(
        limit,
        kept.degree_below,
        kept.below,
        votes,
        following,
        kept.settled,
        kept.hidden,
        kept.unplaced,
        kept.group,
        kept.heap,
        kept.order,
    )
