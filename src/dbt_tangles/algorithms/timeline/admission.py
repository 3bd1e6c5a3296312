"""Admits the arrivals of timelines: accepts each event once and refuses arrivals that would close a cycle.

Source: ScuttleSort 2022-05-09, section 2.2.

An event is admitted with the first accepted arrival that names it; the causes of that arrival are the event's causes
from then on. Arrivals are rows; the rows of a timeline are contiguous (`timeline_start` int64[timelines + 1]) and in
order of arrival. `event` int32[rows] is the event of each row, and its causes are compressed rows (`cause_start`
int64[rows + 1] into `cause` int32[causes]). Events are numbered from 0; timelines share no events.

One depth-first pass over a timeline finds whether its arrivals close a cycle. In nearly every timeline they do not, and
all of them are admitted. Otherwise only events of a strong component with more than one event, over the causes of all
arrivals, can close a cycle. Within such a component the pass tries many arrivals at once, more after a success and
fewer after a failure. Arrivals of a small block are judged one by one: a pass carries one bit for each of them along
the causes, and so finds the pairs of which one leads to the other.

In the worst case a block costs a few passes over the admitted events of its component, and all arrivals cost
O(arrivals / block) passes; a single cycle costs O(log(arrivals)) passes. The code is iterative; memory is linear.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.components import strong_components
from dbt_tangles.kernel_runtime.compiled import compiled, inner

ACCEPTED, DUPLICATE, CYCLE, REFUSED = range(4)

#: Arrivals of a block: 128 bytes for each event of a component. Wider blocks need fewer passes and compare more pairs.
BLOCK = 1024

_UNSEEN, _DONE = -1, -2


def admit(
    timeline_start: np.ndarray,
    event: np.ndarray,
    cause_start: np.ndarray,
    cause: np.ndarray,
    refused: np.ndarray,
    block: int = BLOCK,
) -> np.ndarray:
    """Judge the arrivals of many timelines, each timeline's in order.

    The first arrival of an event that does not close a cycle is accepted. An arrival closes a cycle if one of its
    causes is, or follows, an admitted event that follows the arrival's event; links count as soon as their causes are
    admitted, also where a cause was listed before it arrived. A refused arrival has no effect, and its event may arrive
    again. Causes that are never admitted are ignored.

    Source: ScuttleSort 2022-05-09, section 2.2. There a cycle is found while ranks are being raised, and some ranks
    remain raised; here ranks are computed after the verdicts.

    Args:
        timeline_start: int64[timelines + 1], into the rows.
        event: int32[rows]; the event of each row. The numbers of a timeline's events are contiguous.
        cause_start: int64[rows + 1], into the causes.
        cause: int32[causes]; the distinct causes of each row among the events of its timeline, without the row's own
            event.
        refused: bool[rows]; rows that were refused beforehand.
        block: Number of arrivals that are judged together where there are cycles. Time depends on it, and memory: one
            bit per arrival for each event of the largest component. The verdicts do not.

    Returns:
        int8[rows]: `ACCEPTED`, `DUPLICATE` (the event was admitted before), `CYCLE`, or `REFUSED` (beforehand).

    Raises:
        ValueError: The lengths of arrays contradict each other, or a cause is an event of another timeline.
    """
    rows = len(event)
    if len(cause_start) != rows + 1 or len(refused) != rows or timeline_start[-1] != rows:
        raise ValueError("timelines, events, causes and refusals differ in length; pass one entry per arrival in each")
    if cause_start[-1] != len(cause) or block < 1:
        raise ValueError("cause_start does not end at the number of causes, or block is below 1; correct them")
    arrivals = _Arrivals(event, cause_start, cause)
    verdict, knotted = _admit_all(timeline_start, arrivals, refused)
    if knotted.any():
        waiting = np.repeat(knotted, np.diff(timeline_start)) & ~refused
        events = int(event.max()) + 1
        every = np.ones(events, np.bool_)
        component, size = strong_components(*_all_causes(events, arrivals, waiting), every)
        _admit_some(arrivals, waiting, component, size, block, verdict)
    return verdict


class _Arrivals(NamedTuple):
    """The arrivals of all timelines, see `admit`."""

    event: np.ndarray
    cause_start: np.ndarray
    cause: np.ndarray


class _State(NamedTuple):
    """The events admitted so far, and scratch for sorting them."""

    chosen: np.ndarray  # int32[events]; the row whose causes count, or -1 for events that are not admitted
    component: np.ndarray  # int32[events]; causes of another component are ignored
    edge: np.ndarray  # int64[events], scratch
    path: np.ndarray  # int32[...], scratch for as many events as are sorted


class _Bits(NamedTuple):
    """One bit for each new event of a block.

    Attributes:
        bit: int32[events]; the bit of an event, or -1. All -1 between blocks.
        place: int32[events]; the row of an admitted event in `carried`.
        carried: uint64[admitted events or more, words]; the events of the block that each admitted event follows.
        words: int64[1]; the number of words that the block's bits take.
    """

    bit: np.ndarray
    place: np.ndarray
    carried: np.ndarray
    words: np.ndarray


@inner
def _enter(rows, event, chosen, nodes, count, verdict):
    """Accept the first arrival of every event that is not yet admitted."""
    for row in rows:
        if chosen[event[row]] >= 0:
            verdict[row] = DUPLICATE
        else:
            verdict[row] = ACCEPTED
            chosen[event[row]] = row
            nodes[count] = event[row]
            count += 1
    return count


@inner
def _sorts(nodes, count, arrivals, state, order):
    """Sort events topologically, causes first."""
    cause_start, cause = arrivals.cause_start, arrivals.cause
    chosen, component, edge, path = state.chosen, state.component, state.edge, state.path
    for i in range(count):
        edge[nodes[i]] = _UNSEEN
    placed = 0
    for i in range(count):
        if edge[nodes[i]] != _UNSEEN:
            continue
        path[0] = nodes[i]
        edge[nodes[i]] = cause_start[chosen[nodes[i]]]
        length = 1
        while length > 0:
            node = path[length - 1]
            e = edge[node]
            end = cause_start[chosen[node] + 1]
            descended = False
            while e < end and not descended:
                c = cause[e]
                e += 1
                if chosen[c] >= 0 and component[c] == component[node] and edge[c] != _DONE:
                    if edge[c] != _UNSEEN:  # The event is on the path.
                        return False
                    edge[c] = cause_start[chosen[c]]
                    path[length] = c
                    length += 1
                    descended = True
            if descended:
                edge[node] = e
            else:
                edge[node] = _DONE
                order[placed] = node
                placed += 1
                length -= 1
    return True


@compiled
def _admit_all(timeline_start, arrivals, refused):
    """Accept the first arrival of every event in all timelines without a cycle.

    Returns:
        The verdicts, int8[rows], and bool[timelines], the timelines with a cycle, whose verdicts are still to be found.

    Raises:
        ValueError: A cause is an event of another timeline.
    """
    event, cause_start, cause = arrivals.event, arrivals.cause_start, arrivals.cause
    events = 0
    for row in range(len(event)):
        events = max(events, event[row] + 1)
    verdict = np.full(len(event), np.int8(REFUSED))
    knotted = np.zeros(len(timeline_start) - 1, np.bool_)
    chosen = np.full(events, np.int32(-1))
    state = _State(chosen, np.zeros(events, np.int32), np.empty(events, np.int64), np.empty(events, np.int32))
    nodes = np.empty(events, np.int32)
    order = np.empty(events, np.int32)
    for t in range(len(timeline_start) - 1):
        first, end = timeline_start[t], timeline_start[t + 1]
        lowest, highest = events, -1
        for row in range(first, end):
            lowest = min(lowest, event[row])
            highest = max(highest, event[row])
        if lowest < 0:
            raise ValueError("an event of the arrivals has no number; number them from 0")
        count = 0
        for row in range(first, end):
            for e in range(cause_start[row], cause_start[row + 1]):
                if cause[e] < lowest or cause[e] > highest:
                    raise ValueError("a cause is not an event of its timeline; leave out causes that never arrive")
            if refused[row]:
                continue
            if chosen[event[row]] >= 0:
                verdict[row] = DUPLICATE
            else:
                verdict[row] = ACCEPTED
                chosen[event[row]] = row
                nodes[count] = event[row]
                count += 1
        knotted[t] = not _sorts(nodes, count, arrivals, state, order)
    return verdict, knotted


@compiled
def _all_causes(events, arrivals, waiting):
    """Collect the causes of all waiting rows, by event.

    Returns:
        Compressed rows, int64[events + 1] and int32[...]; a cause may occur repeatedly.
    """
    event, cause_start, cause = arrivals.event, arrivals.cause_start, arrivals.cause
    start = np.zeros(events + 1, np.int64)
    for row in range(len(event)):
        if waiting[row]:
            start[event[row] + 1] += cause_start[row + 1] - cause_start[row]
    for x in range(events):
        start[x + 1] += start[x]
    fill = start[:-1].copy()
    gathered = np.empty(start[events], np.int32)
    for row in range(len(event)):
        if waiting[row]:
            for e in range(cause_start[row], cause_start[row + 1]):
                gathered[fill[event[row]]] = cause[e]
                fill[event[row]] += 1
    return start, gathered


@compiled
def _admit_some(arrivals, waiting, component, size, block, verdict):
    """Judge the waiting rows component by component; fill their verdicts."""
    events = len(component)
    chosen = np.full(events, np.int32(-1))
    row_start, queue = _queue_components(arrivals.event, waiting, component, size, chosen, verdict)
    largest = 0
    for k in range(len(size)):
        if row_start[k] < row_start[k + 1]:
            largest = max(largest, size[k])
    state = _State(chosen, component, np.empty(events, np.int64), np.empty(largest, np.int32))
    words = (min(block, largest) + 63) >> 6
    bits = _Bits(
        np.full(events, np.int32(-1)),
        np.empty(events, np.int32),
        np.empty((largest, words), np.uint64),
        np.empty(1, np.int64),
    )
    order = np.empty(largest, np.int32)
    other = np.empty(largest, np.int32)
    for k in range(len(size)):
        inside = 0  # Number of admitted events of the component: the first of `order`, causes first.
        at, end = row_start[k], row_start[k + 1]
        at_once = max(end - at, block)
        while at < end:
            stop = min(at + at_once, end)
            if stop - at > block:
                count = _enter(queue[at:stop], arrivals.event, chosen, order, inside, verdict)
                if _sorts(order, count, arrivals, state, other):
                    inside = count
                    at = stop
                    at_once *= 2
                    order, other = other, order
                else:
                    for i in range(inside, count):
                        chosen[order[i]] = -1
                    at_once = max(block, (stop - at) // 2)
            else:
                inside, refusals = _judge_block(queue[at:stop], arrivals, state, bits, order, inside, verdict)
                _sorts(order, inside, arrivals, state, other)
                at = stop
                at_once = block if refusals else 2 * block
                order, other = other, order


@compiled
def _queue_components(event, waiting, component, size, chosen, verdict):
    """Admit waiting rows whose events are alone in their components, and queue all others by component.

    Returns:
        Compressed rows, int64[components + 1] and int32[...]; the queued rows of each component in order.
    """
    components = len(size)
    row_start = np.zeros(components + 1, np.int64)
    for row in range(len(event)):
        if waiting[row] and size[component[event[row]]] > 1:
            row_start[component[event[row]] + 1] += 1
    for k in range(components):
        row_start[k + 1] += row_start[k]
    queue = np.empty(row_start[components], np.int32)
    fill = row_start[:-1].copy()
    for row in range(len(event)):
        if not waiting[row]:
            continue
        x = event[row]
        if size[component[x]] > 1:
            queue[fill[component[x]]] = row
            fill[component[x]] += 1
        elif chosen[x] >= 0:
            verdict[row] = DUPLICATE
        else:
            verdict[row] = ACCEPTED
            chosen[x] = row
    return row_start, queue


@inner
def _add_followed(follows, at, row, arrivals, state, bits):
    """Set the bits of all events of the block that an arrival follows through its causes, in row `at` of `follows`."""
    own = state.component[arrivals.event[row]]
    bit = bits.bit
    for e in range(arrivals.cause_start[row], arrivals.cause_start[row + 1]):
        c = arrivals.cause[e]
        if state.component[c] != own:
            continue
        if bit[c] >= 0:
            follows[at, bit[c] >> 6] |= np.uint64(1) << np.uint64(bit[c] & 63)
        elif state.chosen[c] >= 0:
            for w in range(bits.words[0]):
                follows[at, w] |= bits.carried[bits.place[c], w]


@inner
def _has(follows, at, bit):
    """Whether a bit is set in row `at`."""
    return (follows[at, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != 0


@inner
def _unite(follows, at, other):
    """Set the bits of row `other` in row `at`."""
    for w in range(follows.shape[1]):
        follows[at, w] |= follows[other, w]


@inner
def _judge_block(rows, arrivals, state, bits, order, inside, verdict):
    """Judge one block of arrivals in order; fill their verdicts."""
    event, bit, chosen = arrivals.event, bits.bit, state.chosen
    count = refusals = entries = 0
    for row in rows:
        x = event[row]
        if chosen[x] < 0 and bit[x] < 0:
            bit[x] = count
            count += 1
    words = (count + 63) >> 6
    bits.words[0] = words
    # Events admitted before carry the bits of the block's events that they follow.
    for i in range(inside):
        bits.place[order[i]] = i
        bits.carried[i, :words] = 0
        _add_followed(bits.carried, i, chosen[order[i]], arrivals, state, bits)
    # Newly admitted events carry the bits of all events that they follow, also of those not yet admitted.
    follows = np.empty((count + 1, words), np.uint64)
    entered = np.empty(count, np.int32)
    for row in rows:
        x = event[row]
        if chosen[x] >= 0:
            verdict[row] = DUPLICATE
            continue
        own = bit[x]
        follows[count] = 0  # The last row is that of the arrival until it is admitted.
        _add_followed(follows, count, row, arrivals, state, bits)
        for i in range(entries):
            if _has(follows, count, entered[i]):
                _unite(follows, count, entered[i])
        if _has(follows, count, own):
            verdict[row] = CYCLE
            refusals += 1
            continue
        verdict[row] = ACCEPTED
        chosen[x] = row
        order[inside + entries] = x
        for i in range(entries):
            if _has(follows, entered[i], own):
                _unite(follows, entered[i], count)
        follows[own] = follows[count]
        entered[entries] = own
        entries += 1
    for row in rows:
        bit[event[row]] = -1
    return inside + entries, refusals
