"""One timeline in memory to which events are added one by one: a kernel that ranks an event, and moves its followers.

Source: ScuttleSort 2022-05-09, sections 2.1 and 2.2.

Events are numbered in the order in which their names are first heard, so equal ranks are ordered by the bytes of the
names: UTF-8 sorts as code points do. The kernels of whole logs (`ranks`) number the events by name instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.heap import drop_first, push
from dbt_tangles.algorithms.timeline.ranks import EVENT
from dbt_tangles.algorithms.timeline.scripts import Script, plan, write
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: The rows of `Graph.event` behind those of a script: the rank (-1 for an awaited event), the latest link to an effect
#: or -1, the new rank of an event that an arrival raises, otherwise -1, and scratch.
RANK, LINK, TARGET, _BEFORE_OLD, _BEFORE_NEW, EVENT_ROWS = range(13, 19)
#: The rows of `Graph.order`: the events in order, the first byte of each name, which ends where the next begins, and
#: scratch.
ORDER, BEGIN, _OLD, _NEW, _LINE, ORDER_ROWS = range(4, 10)
#: The rows of `Graph.link`: the effect, and the next link of the same cause or -1.
EFFECT, NEXT = range(2)


class Graph(NamedTuple):
    """The events of a timeline; each array has room for more. The kernel takes few arrays, as each slows a call."""

    event: np.ndarray  # int32[EVENT_ROWS, events]
    order: np.ndarray  # int64[ORDER_ROWS, events]
    link: np.ndarray  # int32[2, links]
    text: np.ndarray  # uint8[...]; the names in UTF-8


class _Moved(NamedTuple):
    """The events that an arrival raises, as `scripts.plan` takes them (`ranks.Change`)."""

    old_key: np.ndarray
    before_old: np.ndarray
    new_key: np.ndarray
    before_new: np.ndarray


@compiled
def insert(event, order, link, text, causes, arrival):
    """Insert an event, and plan the shortest script from the order before to the order with it.

    Args:
        event: An array of `Graph`, as the next three.
        order: See `Graph`.
        link: See `Graph`.
        text: See `Graph`.
        causes: int32[...]; the distinct causes of the event. Those that are awaited have the rank -1.
        arrival: The number of the event, and the numbers of events and links that have arrived.

    Returns:
        A cause that follows the event, so that the event is refused and the graph is unchanged, otherwise -1; the
        position of the event, if it moves no other; and otherwise the numbers of moved events and of commands, for
        `script`. An array as the result would double the time of a call.
    """
    rank, target, key = event[RANK], event[TARGET], order[ORDER]
    x, size, links = arrival
    needed = np.int64(0)
    for c in causes:
        needed = max(needed, np.int64(rank[c]) + 1)
    raised = _wave(event, order, link, x, needed)
    # The events on a path from the event to one of its causes have ranks below the needed one, so the wave gets there.
    for c in causes:
        if target[c] >= 0:
            target[x] = -1
            for i in range(raised):
                target[order[_OLD, i]] = -1
            return c, 0, 0, 0
    for i in range(len(causes)):
        link[EFFECT, links + i] = x
        link[NEXT, links + i] = event[LINK, causes[i]]
        event[LINK, causes[i]] = links + i
    if raised == 0:
        at = _search(event, order, text, size, x)
        for k in range(size, at, -1):
            key[k] = key[k - 1]
        key[at], rank[x], target[x] = x, needed, -1
        return -1, at, 0, 0
    _merge(event, order, text, x, size, raised)
    moved = _Moved(order[_OLD], event[_BEFORE_OLD], order[_NEW], event[_BEFORE_NEW])
    movers, steps = plan(_scratch(event, order), moved, key, size + 1, raised, raised + 1)
    return -1, 0, movers, steps


@compiled
def script(event, order, movers, steps):
    """Write the script that `insert` has planned: the commands, int32[5 x commands], see `edits.Commands`."""
    out = np.empty(5 * steps, np.int32)
    write(_scratch(event, order), movers, steps, out, 0)
    return out


@inner
def _scratch(e, o):
    """Lay out the scratch of a script in the first rows of `Graph.event` and `Graph.order`."""
    return Script(
        e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7], e[8], e[9], e[10], e[11], o[8], o[0], o[1], o[2], o[3], e[12]
    )


@inner
def _wave(event, order, link, x, needed):
    """Set the new ranks of an event and of all events that it raises; return the number of raised events.

    Causes have lower ranks than their effects, so each event has its last rank when it leaves the heap.
    """
    rank, target, raised, heap = event[RANK], event[TARGET], order[_OLD], order[_LINE]
    target[x] = needed
    count, size = 0, push(heap, np.int64(0), np.int64(x), None)
    while size > 0:
        y = heap[0] & EVENT
        size = drop_first(heap, size, None)
        now = np.int64(target[y])
        at = event[LINK, y]
        while at >= 0:
            z = link[EFFECT, at]
            if rank[z] <= now and target[z] <= now:
                if target[z] < 0:
                    size = push(heap, size, (np.int64(rank[z]) << 32) | z, None)
                    raised[count] = z
                    count += 1
                target[z] = now + 1
            at = link[NEXT, at]
    return count


@inner
def _is_before(order, text, first_rank, first, second_rank, second):
    """Whether an event with a rank precedes another."""
    if first_rank != second_rank:
        return first_rank < second_rank
    a, b = order[BEGIN, first], order[BEGIN, second]
    a_end, b_end = order[BEGIN, first + 1], order[BEGIN, second + 1]
    while a < a_end and b < b_end and text[a] == text[b]:
        a += 1
        b += 1
    if a == a_end or b == b_end:
        return a == a_end and b < b_end
    return text[a] < text[b]


@inner
def _search(event, order, text, size, x):
    """Return the number of events in the order before the place of an event: by its new rank, or else by its rank."""
    rank, key = event[RANK], order[ORDER]
    own = event[TARGET, x] if rank[x] < 0 else rank[x]
    low, high = 0, size
    while low < high:
        middle = (low + high) >> 1
        if _is_before(order, text, rank[key[middle]], key[middle], own, x):
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _merge(event, order, text, x, size, raised):
    """Move the raised events, insert an event, and note the number of other events before each of them."""
    rank, target, key = event[RANK], event[TARGET], order[ORDER]
    old, new, line = order[_OLD], order[_NEW], order[_LINE]
    at = _search(event, order, text, size, x)
    for y in old[:raised]:
        while at > 0 and rank[key[at - 1]] >= rank[y]:
            at -= 1
    low = at
    for i in range(raised):  # In the order before, the raised events are those with a new rank.
        while target[key[at]] < 0:
            at += 1
        old[i] = new[i] = key[at]
        event[_BEFORE_OLD, i] = at - i
        at += 1
    new[raised] = x
    _sort(order, text, target, new[: raised + 1], line)
    at, gone, put = low, 0, 0
    while gone < raised or put <= raised:
        if gone < raised and target[key[at]] >= 0:
            gone += 1
            at += 1
        elif put <= raised and (
            at == size or _is_before(order, text, target[new[put]], new[put], rank[key[at]], key[at])
        ):
            event[_BEFORE_NEW, put] = at - gone
            line[at - low - gone + put] = new[put]
            put += 1
        else:
            line[at - low - gone + put] = key[at]
            at += 1
    for k in range(size, at, -1):
        key[k] = key[k - 1]
    key[low : at + 1] = line[: at + 1 - low]
    for y in new[: raised + 1]:
        rank[y] = target[y]
        target[y] = -1


@inner
def _sort(order, text, target, events, spare):
    """Sort events by new rank and name: merge longer and longer parts."""
    width, count = 1, len(events)
    while width < count:
        for begin in range(0, count - width, 2 * width):
            middle, end = begin + width, min(begin + 2 * width, count)
            a, b = events[middle - 1], events[middle]
            if not _is_before(order, text, target[b], b, target[a], a):
                continue
            spare[begin:middle] = events[begin:middle]
            left, right = begin, middle
            for at in range(begin, end):
                if left == middle:
                    break
                a = spare[left]
                if right < end and _is_before(order, text, target[events[right]], events[right], target[a], a):
                    events[at] = events[right]
                    right += 1
                else:
                    events[at] = a
                    left += 1
        width *= 2
