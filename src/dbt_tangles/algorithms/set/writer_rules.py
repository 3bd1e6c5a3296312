"""Faults of writers of pzp sets: messages that supersede too little or too much, by protospec.md, "Msg content".

The rules, in the order of `RULES`:

* `must`: a message that adds or deletes an item supersedes the deepest message on that item that its writer knew. Where
  several of them are equally deep, one is enough.
* `should`: a message that adds an item supersedes all deepest deletions that its writer knew, of any item. A deletion
  that a known message already supersedes is exempt.
* `supersedes_standing_item`: a message does not supersede the message that keeps an item in the set, unless it adds or
  deletes that item itself. This rule is the project's: pruning removes superseded messages, so the item would be lost.
* `lipmaa_left_out`: a message links back to all known messages at its backlink depth (`backlinks`); the depth directly
  below is exempt. `set_search` finds these faults.
* `supersedes_later_message`: a message supersedes only messages before it in the set's order. Peers ignore other
  entries, so a later message stays an item root, and by the document it is not one. `reduction` finds these faults.

A writer knew all ancestors of its message, through messages of every kind. A fault is a row for each message left out:
the message at fault, the rule, the item or `NO_ITEM`, and a message that should have been superseded (for `must`, one
of them was enough), that should not have been superseded, or that is missing in `prev`.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.set.chain_clocks import Clocks, reaches
from dbt_tangles.algorithms.set.operations import Operations
from dbt_tangles.algorithms.set.set_messages import SetTangles
from dbt_tangles.kernel_runtime.compiled import inner

RULES = ("must", "should", "supersedes_standing_item", "lipmaa_left_out", "supersedes_later_message")
MUST, SHOULD, STANDING, BACKLINK, LATER = range(len(RULES))
NO_ITEM = -1


class Supersedes(NamedTuple):
    """The earlier messages that each message with operations supersedes, and the reverse; both ascend."""

    start: np.ndarray  # int64[messages + 1], into `other`
    other: np.ndarray  # int32[pairs]
    by_start: np.ndarray  # int64[messages + 1], into `by`
    by: np.ndarray  # int32[pairs]


class Pending(NamedTuple):
    """The pending deletions of each message as linked lists, which share their ends.

    A deletion is pending at a message if the message makes it or descends from it, no ancestor supersedes it, and no
    deeper ancestor adds or deletes its item. A deletion is the number of its operation.
    """

    head: np.ndarray  # int32[messages], the first cell of each list, or -1
    operation: np.ndarray  # int32[cells], the deletion in each cell
    next: np.ndarray  # int32[cells], the next cell, or -1
    used: np.ndarray  # int64[1], the number of used cells
    listed_by: np.ndarray  # int32[operations], the last message that inherited each deletion
    inherited: np.ndarray  # int32[operations], those pending before the current message


class SetSearch(NamedTuple):
    """The sets, and the state of the pass over one of them."""

    tangles: SetTangles
    operations: Operations
    supersedes: Supersedes
    clocks: Clocks
    pending: Pending
    latest: np.ndarray  # int32[items], the last operation on each item up to the current message, or -1
    superseded_by: np.ndarray  # int32[messages], the last message that superseded each message
    faults: np.ndarray  # int32[room, 4], of the set: the message, its rule, the item or NO_ITEM, the other message
    fault_count: np.ndarray  # int64[1]
    budget: np.ndarray  # int64[1], the steps left; negative once the set exceeds a bound


@inner
def add_fault(message, rule, item, other, search):
    """Add a row to the faults of the set; without room, the set exceeds a bound."""
    at = search.fault_count[0]
    if at == len(search.faults):
        search.budget[0] = -1
        return
    search.faults[at, 0] = message
    search.faults[at, 1] = rule
    search.faults[at, 2] = item
    search.faults[at, 3] = other
    search.fault_count[0] = at + 1


@inner
def check_message(m, search):
    """Check the rules on `supersedes` for the next message of a set."""
    operations, supersedes, pending = search.operations, search.supersedes, search.pending
    inherited_count = _inherit(m, search)  # while `latest` is without the operations of this message
    for k in range(supersedes.start[m], supersedes.start[m + 1]):
        search.superseded_by[supersedes.other[k]] = m
    for t in range(operations.start[m], operations.start[m + 1]):
        search.latest[operations.item[t]] = t
    _check_must(m, search)
    if operations.adds[m]:
        for q in pending.inherited[:inherited_count]:
            if search.superseded_by[operations.message[q]] != m:
                add_fault(m, SHOULD, operations.item[q], operations.message[q], search)
    _check_standing(m, search)
    _store_pending(m, inherited_count, search)


@inner
def _check_must(m, search):
    operations, depth, budget = search.operations, search.tangles.depth, search.budget
    for q in range(operations.start[m], operations.start[m + 1]):
        faults_before = search.fault_count[0]
        deepest = -1
        t = operations.before[q]
        while t >= 0 and (deepest < 0 or depth[operations.message[t]] == depth[deepest]) and budget[0] >= 0:
            x = operations.message[t]
            if reaches(m, x, search.clocks):
                if search.superseded_by[x] == m:
                    search.fault_count[0] = faults_before
                    break
                deepest = x
                add_fault(m, MUST, operations.item[q], x, search)
            t = operations.before[t]
            budget[0] -= 1


@inner
def _check_standing(m, search):
    operations, supersedes, clocks = search.operations, search.supersedes, search.clocks
    for k in range(supersedes.start[m], supersedes.start[m + 1]):
        d = supersedes.other[k]
        for q in range(operations.start[d], operations.start[d + 1]):
            t = search.latest[operations.item[q]]
            search.budget[0] -= 1
            if operations.deletes[q] or t >= operations.start[m] or search.budget[0] < 0:
                continue
            while t > q and not reaches(m, operations.message[t], clocks):
                t = operations.before[t]
                search.budget[0] -= 1
            if t == q and reaches(m, d, clocks):
                add_fault(m, STANDING, operations.item[q], d, search)


@inner
def _inherit(m, search):
    """List the deletions that are pending before a message; return their number."""
    start, previous, pending = search.tangles.start, search.tangles.previous, search.pending
    is_merge = start[m + 1] > start[m] + 1
    count = 0
    for e in range(start[m], start[m + 1]):
        cell = pending.head[previous[e]]
        while cell >= 0 and search.budget[0] >= 0:
            search.budget[0] -= 1
            q = pending.operation[cell]
            cell = pending.next[cell]
            if pending.listed_by[q] != m:
                pending.listed_by[q] = m
                if not (is_merge and _is_closed(m, q, search)):
                    pending.inherited[count] = q
                    count += 1
    return count


@inner
def _is_closed(m, q, search):
    """Say whether an ancestor of a message supersedes a deletion, or is deeper and adds or deletes its item."""
    operations, supersedes, depth = search.operations, search.supersedes, search.tangles.depth
    d = operations.message[q]
    for k in range(supersedes.by_start[d], supersedes.by_start[d + 1]):
        if supersedes.by[k] >= m:
            break
        if reaches(m, supersedes.by[k], search.clocks):
            return True
        search.budget[0] -= 1
    t = search.latest[operations.item[q]]
    while depth[operations.message[t]] > depth[d]:
        if reaches(m, operations.message[t], search.clocks):
            return True
        t = operations.before[t]
        search.budget[0] -= 1
    return False


@inner
def _store_pending(m, inherited_count, search):
    """Store the deletions that are pending at a message: the inherited ones that it leaves, and its own."""
    operations, pending, tangles = search.operations, search.pending, search.tangles
    start, depth = tangles.start, tangles.depth
    kept = 0
    for q in pending.inherited[:inherited_count]:
        d = operations.message[q]
        is_deeper = depth[m] > depth[d] and search.latest[operations.item[q]] >= operations.start[m]
        if search.superseded_by[d] != m and not is_deeper:
            pending.inherited[kept] = q
            kept += 1
    head = -1
    if kept == inherited_count and start[m + 1] == start[m] + 1:
        head = pending.head[tangles.previous[start[m]]]
        kept = 0
    for t in range(operations.start[m], operations.start[m + 1]):
        if operations.deletes[t]:
            pending.inherited[kept] = t
            kept += 1
    used = pending.used[0]
    if used + kept > len(pending.operation):
        search.budget[0] = -1
        return
    for q in pending.inherited[:kept]:
        pending.operation[used] = q
        pending.next[used] = head
        head = used
        used += 1
    pending.used[0] = used
    pending.head[m] = head
