"""One pass over the messages of each set, for the questions about ancestors: backlinks, holders, faults of writers.

The chain clocks of a set answer whether one message is an ancestor of another. Each set is searched independently of
the others, with two budgets of steps: one for clocks, backlinks and holders, one for clocks and `writer_rules`.

Source: protospec.md, "Feed tangle" (backlinks). Bridged messages and holders are the project's, for pruning.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.set.chain_clocks import STEPS_PER_ENTRY, allocate_clocks, build_chain_clocks, reaches
from dbt_tangles.algorithms.set.set_messages import SetTangles, Superseding
from dbt_tangles.algorithms.set.writer_rules import (
    BACKLINK,
    NO_ITEM,
    Pending,
    SetSearch,
    Supersedes,
    add_fault,
    check_message,
)
from dbt_tangles.algorithms.structures.space import with_space
from dbt_tangles.columns.arrays import starts
from dbt_tangles.kernel_runtime.compiled import compiled, inner

# Cells of pending deletions for each clock entry of the bound.
_CELLS_PER_ENTRY = 4
_FIELDS = 4


class Findings(NamedTuple):
    """The result of `search_sets`."""

    is_bridged: np.ndarray  # bool[messages], whether followers have a backlink beyond it to a known message
    holds: np.ndarray  # bool[operations], whether it adds a present item that no descendant adds or deletes
    is_checked: np.ndarray  # bool[sets], whether the set is within its bounds
    fault: np.ndarray  # int32[rows * 4], the faults of the checked sets, see `writer_rules`


@compiled
def search_sets(tangles, backlinks, operations, supersedes, is_present, room):
    """Search many sets.

    Beyond the bounds of the first budget no message is bridged, and the last operation on an item holds it.

    `backlinks` int64[2, messages] has the backlink depth of each message, and of a message that is one deeper; negative
    numbers are none. `is_present` bool[items] tells whether the item is in its set. `room` bounds the clock entries of
    a set, and the rows of its faults; its steps are bounded by `STEPS_PER_ENTRY` times as many, its pending deletions
    by `_CELLS_PER_ENTRY` times as many.
    """
    messages = len(tangles.depth)
    search = _allocate_search(tangles, operations, supersedes, room)
    is_bridged, holds = np.zeros(messages, np.bool_), np.zeros(len(operations.message), np.bool_)
    is_checked = np.zeros(len(tangles.set_start) - 1, np.bool_)
    listed_by, reached = np.full(messages, np.int32(-1)), np.full((2, messages), np.int32(-1))
    fault, count = np.empty(0, np.int32), 0
    for s in range(len(is_checked)):
        begin, end = tangles.set_start[s], tangles.set_start[s + 1]
        steps = build_chain_clocks(begin, end, tangles, search.clocks, STEPS_PER_ENTRY * room)
        left = STEPS_PER_ENTRY * room - steps if steps >= 0 else -1
        search.budget[0] = left
        search.fault_count[0] = 0
        for m in range(begin, end):
            if search.budget[0] >= 0:
                is_bridged[m] = _is_bridged(m, begin, backlinks[1, m], search)
                _check_backlink(m, begin, backlinks[0, m], listed_by, search)
        for i in range(operations.item_start[s], operations.item_start[s + 1]):
            if is_present[i]:
                _mark_holders(i, holds, reached, search)
        if search.budget[0] < 0:
            is_bridged[begin:end] = False
            holds[operations.start[begin] : operations.start[end]] = False
            for i in range(operations.item_start[s], operations.item_start[s + 1]):
                holds[operations.latest[i]] = is_present[i]
            continue
        before = count
        fault, count = _append_faults(fault, count, search)
        search.budget[0] = left
        search.pending.used[0] = 0
        for m in range(begin, end):
            if search.budget[0] >= 0:
                check_message(m, search)
        is_checked[s] = search.budget[0] >= 0
        fault, count = _append_faults(fault, count, search)
        if not is_checked[s]:
            count = before
    return Findings(is_bridged, holds, is_checked, fault[:count].copy())


def both_ways(superseding: Superseding, tangles: SetTangles) -> Supersedes:
    """Group pairs of messages by the first, and by the second."""
    message, other = superseding
    start, by_start = (starts(np.bincount(part, minlength=len(tangles.depth))) for part in superseding)
    return Supersedes(start, other, by_start, message[np.argsort(other, kind="stable")])


@compiled
def _allocate_search(tangles, operations, supersedes, room):
    """Allocate the state of a `SetSearch`."""
    messages, count = len(tangles.depth), len(operations.message)
    pending = Pending(
        np.empty(messages, np.int32),
        np.empty(_CELLS_PER_ENTRY * room, np.int32),
        np.empty(_CELLS_PER_ENTRY * room, np.int32),
        np.zeros(1, np.int64),
        np.full(count, np.int32(-1)),
        np.empty(count, np.int32),
    )
    return SetSearch(
        tangles,
        operations,
        supersedes,
        allocate_clocks(messages, room),
        pending,
        np.full(len(operations.latest), np.int32(-1)),
        np.full(messages, np.int32(-1)),
        np.empty((room, _FIELDS), np.int32),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )


@compiled
def _append_faults(fault, count, search):
    """Move the faults of the set behind the `count` used fields; return both."""
    more = _FIELDS * search.fault_count[0]
    fault = with_space(fault, count, more)
    fault[count : count + more] = search.faults[: search.fault_count[0]].reshape(-1)
    search.fault_count[0] = 0
    return fault, count + more


@inner
def _is_bridged(m, begin, wanted, search):
    """Say whether a message descends from a message at the depth that its followers link back to."""
    depth = search.tangles.depth
    if wanted < 0 or wanted >= depth[m]:
        return False
    x = begin + np.searchsorted(depth[begin:m], wanted)
    while x < m and depth[x] == wanted:
        search.budget[0] -= 1
        if reaches(m, x, search.clocks):
            return True
        x += 1
    return False


@inner
def _check_backlink(m, begin, wanted, listed_by, search):
    """Add a fault for each known message at the backlink depth that a message does not list."""
    start, previous, depth = search.tangles.start, search.tangles.previous, search.tangles.depth
    if wanted < 0 or wanted >= depth[m] - 1:
        return
    for e in range(start[m], start[m + 1]):
        listed_by[previous[e]] = m
    x = begin + np.searchsorted(depth[begin:m], wanted)
    while x < m and depth[x] == wanted:
        search.budget[0] -= 1
        if listed_by[x] != m and reaches(m, x, search.clocks):
            add_fault(m, BACKLINK, NO_ITEM, x, search)
        x += 1


@inner
def _mark_holders(i, holds, reached, search):
    """Mark the operations that add an item and have no descendant on it, from the latest backwards.

    `reached` int32[2, chains] has the latest message on each chain that such an operation reaches, and for which item.
    """
    operations, clocks = search.operations, search.clocks
    latest, of_item = reached[0], reached[1]
    t = operations.latest[i]
    while t >= 0 and search.budget[0] >= 0:
        x = operations.message[t]
        if of_item[clocks.chain[x]] != i or latest[clocks.chain[x]] < x:
            holds[t] = not operations.deletes[t]
            for c in range(clocks.width[x]):
                known = clocks.entry[clocks.at[x] + c]
                if of_item[c] != i or latest[c] < known:
                    of_item[c] = i
                    latest[c] = known
            of_item[clocks.chain[x]] = i
            latest[clocks.chain[x]] = x
            # The first entry is free: it stands for reading the operation.
            search.budget[0] -= max(clocks.width[x] - 1, 0)
        t = operations.before[t]
