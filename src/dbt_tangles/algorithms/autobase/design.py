"""The order of a base by the rule of the design document; `consensus` has the rule of the package.

An unsettled node x of an indexer leads at an indexer's node y if y knows a quorum over x of degree two or more, and of
two degrees more than every quorum that y knows over an unsettled indexer node beside x; a missing quorum has degree 0.
Of the nodes that lead somewhere in the view, the first by the causal place of that y is settled next. So a larger view
settles all that a smaller one does; decision 008 has the proof. All ancestors of the node are settled with it, in the
order that other writers may have settled them: while it has tails below it, the tail with the highest quorum among the
node's ancestors comes next, ties by writer, with its own ancestors, ordered as in `consensus`.

The document says that all writers can order "up to" the node that makes the quorum of a double quorum. By its own
numbers this is exclusive: of c0 - b0 - c1 only c0 has a double quorum, and only c0 is settled.

The unsettled rest is ordered for the worst case, as in Consistent Ordering: a node comes first that an indexer may
have settled already with an unseen node. That unseen node is the indexer's next, on top of its last node and at most
one other known node; it must find the node settled by the rule above; and the indexer has no unsettled node beside it.
Again the first by depth, writer and length comes next, with its ancestors, and so on. The remaining nodes go by key and
stay unsettled. The indexer may be the observer itself.

The document leaves open that ties go by writer, that tails are compared again after one has gone, how much may be
unseen, and whether the order agrees with that of other writers. It does not always; see `test_design.py` in the tests.

Source: the design document of Autobase, Quorums to Consistent Ordering.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.consensus import KNOWN, list_tails, ordering, place, place_rest, with_ancestors
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: The most nodes of a base: the degrees take two bytes for each pair of nodes.
DESIGN_LIMIT = 5_000

#: The degree of every quorum of a single indexer.
_ENDLESS = np.int16(2**15 - 1)
_NO_LEAD = 2**31 - 1


class _Leads(NamedTuple):
    """The degrees of all quorums of a base, and the state of the search for nodes that lead."""

    degree: np.ndarray  # int16[nodes, nodes], the degree over the first node that the second knows; -1 if it is unseen
    beside: np.ndarray  # int32[nodes, indexers], each log's first unsettled node beside each node; -1 none, -2 unknown
    lead: np.ndarray  # int32[nodes], the causal place of the first node at which each leads
    follow: np.ndarray  # int32[...], the nodes that an unseen node may follow
    clock: np.ndarray  # int32[indexers], the clock of an unseen node; scratch


@inner
def _degree_with(x, own, clock, degree, base):
    """Return the degree over x that a node of log `own` knows with this clock, itself not counted; -1 if unseen."""
    if clock[base.indexer[x]] <= x - base.first[base.indexer[x]]:
        return -1
    n = len(base.known)
    if n == 1:
        return int(_ENDLESS)
    highest = voters = 0
    for k in range(n):
        if clock[k] > 0:
            found = degree[x, base.first[k] + clock[k] - 1]
            if found > highest:
                highest, voters = int(found), 0
            voters += k != own and found == highest
    # The node itself votes, too.
    return highest + (voters + 1 > n // 2)


@compiled
def _degrees(base, clock):
    """Find the degree over each indexer node that each indexer node knows; `clock` is scratch."""
    nodes = len(base.indexer)
    degree = np.full((nodes, nodes), np.int16(-1))
    for x in range(nodes):
        a = base.indexer[x]
        for i in range(base.place[x], nodes if a >= 0 else 0):
            y = base.causal[i]
            if base.indexer[y] >= 0 and base.clock[y, a] > x - base.first[a]:
                clock[:] = base.clock[y]
                clock[base.indexer[y]] -= 1
                degree[x, y] = max(
                    0 if len(clock) > 1 else _ENDLESS, _degree_with(x, np.int64(base.indexer[y]), clock, degree, base)
                )
    return degree


@inner
def _update_beside(x, beside, view, base):
    """Find the first unsettled node of each log beside x; say whether one has changed."""
    a = base.indexer[x]
    is_changed = False
    for k in range(len(view.known)):
        at = max(base.clock[x, k], view.removed[k])
        z = base.first[k] + at
        if at >= view.known[k] or base.clock[z, a] > x - base.first[a]:
            z = -1
        is_changed |= beside[x, k] != z
        beside[x, k] = z
    return is_changed


@inner
def _first_lead(x, leads, view, base):
    """Find the causal place of the first known node at which x leads."""
    beside, degree = leads.beside[x], leads.degree
    for i in range(base.place[x], len(base.causal)):
        y = base.causal[i]
        if degree[x, y] >= 2 and view.stage[y] != 0:
            rival = 0
            for z in beside:
                if z >= 0:
                    rival = max(rival, degree[z, y])
            if degree[x, y] >= 2 + rival:
                return i
    return _NO_LEAD


@inner
def _next_lead(least, leads, view, base):
    """Find the node that is settled next, or -1; and the place before which no unsettled indexer node is."""
    best = np.int64(-1)
    i = least
    # A node comes before all nodes at which it leads.
    while i < len(base.causal) and (best < 0 or i < leads.lead[best]):
        x = np.int64(base.causal[i])
        is_left = base.indexer[x] >= 0 and view.stage[x] == KNOWN
        least += not is_left and i == least
        i += 1
        if not is_left:
            continue
        if _update_beside(x, leads.beside, view, base):
            leads.lead[x] = _first_lead(x, leads, view, base)
        if leads.lead[x] < _NO_LEAD and (best < 0 or leads.lead[x] < leads.lead[best]):
            best = x
    return best, least


@inner
def _place_with(x, hidden, leads, view, base, at):
    """Place a node and its ancestors, tail by tail; the end of the order."""
    while view.stage[x] == KNOWN:
        best, best_degree = x, -1
        for i in range(list_tails(view, base)):
            t = np.int64(view.tail[i])
            if t != x and base.clock[x, base.indexer[t]] > t - base.first[base.indexer[t]]:
                highest = 0
                for k in range(len(view.known)):
                    length = base.clock[x, k] - (k == base.indexer[x])
                    if length > 0:
                        highest = max(highest, leads.degree[t, base.first[k] + length - 1])
                if highest > best_degree:
                    best, best_degree = t, highest
        view.group[0] = best
        size = with_ancestors(np.int64(1), view, base)
        at = place(view.group[:size], hidden, view, base, at)
    return at


@compiled
def _followable(base):
    """List the nodes that an unseen node may follow: those of indexers, and others that see more than one before."""
    found = np.empty(len(base.indexer), np.int32)
    count = 0
    for x in range(len(found)):
        is_needed = base.batch[x] == 1
        for e in range(base.start[x], base.start[x + 1] if is_needed and base.indexer[x] < 0 else 0):
            p = base.previous[e]
            if base.batch[p] == 1 and np.array_equal(base.clock[p], base.clock[x]):
                is_needed = False
        if is_needed:
            found[count] = x
            count += 1
    return found[:count]


@inner
def _leads_unseen(x, w, leads, base):
    """Say whether x leads at the next node of log w with the clock of `leads`."""
    degree = _degree_with(x, w, leads.clock, leads.degree, base)
    if degree < 2:
        return False
    for z in leads.beside[x]:
        if z >= 0 and _degree_with(np.int64(z), w, leads.clock, leads.degree, base) > degree - 2:
            return False
    return True


@inner
def _may_be_settled_unseen(x, leads, view, base):
    """Say whether the next node of an indexer could settle x, on top of its last node and at most one other node."""
    highest = -1
    for k in range(len(view.known)):
        if view.known[k] > 0:
            highest = max(highest, leads.degree[x, base.first[k] + view.known[k] - 1])
    is_silent_done = highest < 1
    for w in range(len(view.known) if highest > 0 else 0):
        # All indexers without nodes give the same answer.
        if leads.beside[x, w] >= 0 or (view.known[w] == 0 and is_silent_done):
            continue
        is_silent_done |= view.known[w] == 0
        last = base.first[w] + view.known[w] - 1 if view.known[w] > 0 else -1
        for at in range(-1, len(leads.follow)):
            q = leads.follow[at] if at >= 0 else -1
            if q >= 0 and (view.stage[q] == 0 or q == last):
                continue
            for k in range(len(leads.clock)):
                own = base.clock[last, k] if last >= 0 else 0
                leads.clock[k] = max(own, base.clock[q, k]) if q >= 0 else own
            if _leads_unseen(x, w, leads, base):
                return True
    return False


@inner
def _next_unseen(leads, view, base):
    """Find the first node that may be settled by an unseen node, or -1."""
    for x32 in base.causal:
        x = np.int64(x32)
        # With the same nodes beside it the test would fail again.
        if (
            base.indexer[x] >= 0
            and view.stage[x] == KNOWN
            and _update_beside(x, leads.beside, view, base)
            and _may_be_settled_unseen(x, leads, view, base)
        ):
            return x
    return np.int64(-1)


@inner
def _order(count, leads, view, base):
    """Order a view of `count` nodes; the number of settled nodes, and of all nodes in the order."""
    at = np.int64(0)
    leads.beside[:] = -2
    x, least = _next_lead(np.int64(0), leads, view, base)
    while x >= 0:
        at = _place_with(x, view.no_node, leads, view, base, at)
        x, least = _next_lead(least, leads, view, base)
    confirmed = at
    leads.beside[:] = -2
    # A single indexer has confirmed all its nodes.
    x = _next_unseen(leads, view, base) if len(view.known) > 1 else np.int64(-1)
    while x >= 0:
        at = _place_with(x, base.is_relayed, leads, view, base, at)
        x = _next_unseen(leads, view, base)
    return confirmed, place_rest(count, view, base, at)[1]


@inner
def _new_leads(base):
    """Allocate the search; `_order` and `_next_lead` fill `beside` and `lead`."""
    clock = np.empty(len(base.known), np.int32)
    return _Leads(
        _degrees(base, clock),
        np.empty(base.clock.shape, np.int32),
        np.empty(len(base.indexer), np.int32),
        _followable(base),
        clock,
    )


_order_views = ordering(_new_leads, _order)


@compiled
def order_views(bases, base, top):
    """Order the nodes of views by the rule of the design document; as `consensus.order_views`."""
    return _order_views(bases, base, top)
