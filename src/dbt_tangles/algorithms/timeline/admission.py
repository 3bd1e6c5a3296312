"""Which arrivals a timeline lets in.

An event is in once an arrival that names it was accepted; that arrival's causes are the event's causes from then on.
Arrivals are rows, those of a timeline being neighbours (`timeline_start` int64[timelines + 1]) and in order of
arrival; `event` int32[rows] is what each names, its causes compressed rows (`cause_start` int64[rows + 1] into
`cause` int32[causes]). Events are numbered from 0, and a timeline shares no event with another.

Arrivals that together close no cycle are all let in: one depth-first pass says so, and for nearly every timeline
nothing else happens. Otherwise only the events of a strong component of more than one event, over the causes of all
arrivals, can ever close a cycle. Within it the same pass tries as many arrivals at once as it can, more after a
success and fewer after a failure. Down at a block, its arrivals are judged one by one: a pass carries a bit for each
of them along the causes, and that says which of them leads to which.

However arrivals are contrived, a block of them costs a few passes over what is in of their component, hence all of
them O(arrivals / block) passes; a single cycle costs O(log(arrivals)). Nothing recurses, and memory is linear.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.algorithms.structures.components import strong_components
from dbt_tangles.kernel_runtime.compiled import compiled, inner

ACCEPTED, DUPLICATE, CYCLE, REFUSED = range(4)

#: 128 bytes for each event of a component. Wider blocks need fewer passes, but their arrivals are compared pairwise.
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

    The first arrival of an event that closes no cycle is accepted. It would close one if something that is in and
    follows the event, by the causes of what is in, is or leads to one of the arrival's own causes; this may rest on
    causes that were not in when they were first listed. An arrival that is not accepted leaves no trace, and the same
    event may arrive again. A cause that never gets in counts for nothing.

    Source: ScuttleSort 2022-05-09, section 2.2. There a cycle is found while ranks are being raised, which leaves some
    of them raised; here nothing is touched before the verdict.

    Args:
        timeline_start: int64[timelines + 1], into the rows.
        event: int32[rows]; the event that each row names. The numbers of a timeline are contiguous and its own.
        cause_start: int64[rows + 1], into the causes.
        cause: int32[causes]; the distinct causes of each row among the events that rows of its timeline name, without
            the row's own event.
        refused: bool[rows]; what is not let in for reasons of its own.
        block: How many arrivals are judged at once where there are cycles. The verdicts do not depend on it; time and
            memory do, which is that many bits for each event of the largest component.

    Returns:
        int8[rows]: `ACCEPTED`, `DUPLICATE` (the event is in already), `CYCLE`, or `REFUSED` beforehand.

    Raises:
        ValueError: Arrays do not fit together, or a cause is no event of the row's timeline.
    """
    rows = len(event)
    if len(cause_start) != rows + 1 or len(refused) != rows or timeline_start[-1] != rows:
        raise ValueError("timelines, events, causes and refusals are not of the same rows")
    if cause_start[-1] != len(cause) or block < 1:
        raise ValueError("the causes are not those of the rows, or a block holds nothing")
    verdict, knotted = _admit_all(timeline_start, event, cause_start, cause, refused)
    if knotted.any():
        waiting = np.repeat(knotted, np.diff(timeline_start)) & ~refused
        events = int(event.max()) + 1
        every = np.ones(events, np.bool_)
        component, size = strong_components(*_all_causes(events, event, cause_start, cause, waiting), every)
        _admit_some(event, cause_start, cause, waiting, component, size, block, verdict)
    return verdict


@inner
def _enter(rows, event, chosen, nodes, count, verdict):
    """Let in the first arrival of every event that is not in.

    Args:
        rows: int32[...], the arrivals in order.
        event: int32[rows].
        chosen: int32[events], filled.
        nodes: int32[...]; those that get in are added behind the first `count`.
        count: How many were in.
        verdict: int8[rows], filled.

    Returns:
        How many are in now.
    """
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
def _sorts(nodes, count, chosen, component, cause_start, cause, edge, path, order):
    """Put events after their causes.

    Args:
        nodes: int32[...]; the first `count` are the events, those whose row is chosen.
        count: How many they are.
        chosen: int32[events]; the row whose causes count, -1 where there is none.
        component: int32[events]; causes of another component do not count.
        cause_start: int64[rows + 1].
        cause: int32[causes].
        edge: int64[events], scratch.
        path: int32[count or more], scratch.
        order: int32[count or more]; filled, but of no use after a failure.

    Returns:
        Whether that is possible, which is whether there is no cycle.
    """
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
                    if edge[c] != _UNSEEN:  # It is on the path.
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
def _admit_all(timeline_start, event, cause_start, cause, refused):
    """Let in the first arrival of every event, in timelines where that makes no cycle.

    Returns:
        The verdicts, int8[rows], and bool[timelines]: where there is a cycle, and verdicts mean nothing yet.

    Raises:
        ValueError: A cause is no event of the row's timeline.
    """
    events = 0
    for row in range(len(event)):
        events = max(events, event[row] + 1)
    verdict = np.full(len(event), np.int8(REFUSED))
    knotted = np.zeros(len(timeline_start) - 1, np.bool_)
    component = np.zeros(events, np.int32)
    chosen = np.full(events, np.int32(-1))
    edge = np.empty(events, np.int64)
    nodes = np.empty(events, np.int32)
    path = np.empty(events, np.int32)
    order = np.empty(events, np.int32)
    for t in range(len(timeline_start) - 1):
        first, end = timeline_start[t], timeline_start[t + 1]
        lowest, highest = events, -1
        for row in range(first, end):
            lowest = min(lowest, event[row])
            highest = max(highest, event[row])
        if lowest < 0:
            raise ValueError("an event has no number")
        count = 0
        for row in range(first, end):
            for e in range(cause_start[row], cause_start[row + 1]):
                if cause[e] < lowest or cause[e] > highest:
                    raise ValueError("a cause is no event of the timeline")
            if refused[row]:
                continue
            if chosen[event[row]] >= 0:
                verdict[row] = DUPLICATE
            else:
                verdict[row] = ACCEPTED
                chosen[event[row]] = row
                nodes[count] = event[row]
                count += 1
        knotted[t] = not _sorts(nodes, count, chosen, component, cause_start, cause, edge, path, order)
    return verdict, knotted


@compiled
def _all_causes(events, event, cause_start, cause, waiting):
    """Gather what any of the waiting rows lists, by event.

    Returns:
        Compressed rows, int64[events + 1] and int32[...]; the same cause may be there repeatedly.
    """
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
def _admit_some(event, cause_start, cause, waiting, component, size, block, verdict):
    """Let in what closes no cycle, component by component; fills the verdicts of the waiting rows."""
    events = len(component)
    components = len(size)
    largest = 0
    row_start = np.zeros(components + 1, np.int64)
    for row in range(len(event)):
        if waiting[row] and size[component[event[row]]] > 1:
            row_start[component[event[row]] + 1] += 1
            largest = max(largest, size[component[event[row]]])
    for k in range(components):
        row_start[k + 1] += row_start[k]
    queue = np.empty(row_start[components], np.int32)
    fill = row_start[:-1].copy()
    chosen = np.full(events, np.int32(-1))
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
    edge = np.empty(events, np.int64)
    place = np.empty(events, np.int32)
    bit = np.full(events, np.int32(-1))
    order = np.empty(largest, np.int32)
    other = np.empty(largest, np.int32)
    path = np.empty(largest, np.int32)
    width = (min(block, largest) + 63) >> 6
    carried = np.empty((largest, width), np.uint64)
    for k in range(components):
        inside = 0  # So many events of the component are in; they are the first of `order`, causes first.
        at, end = row_start[k], row_start[k + 1]
        at_once = max(end - at, block)
        while at < end:
            stop = min(at + at_once, end)
            if stop - at > block:
                count = _enter(queue[at:stop], event, chosen, order, inside, verdict)
                if _sorts(order, count, chosen, component, cause_start, cause, edge, path, other):
                    inside = count
                    at = stop
                    at_once *= 2
                    order, other = other, order
                else:
                    for i in range(inside, count):
                        chosen[order[i]] = -1
                    at_once = max(block, (stop - at) // 2)
            else:
                inside, refusals = _judge_block(
                    queue[at:stop],
                    event,
                    cause_start,
                    cause,
                    chosen,
                    component,
                    order,
                    inside,
                    place,
                    bit,
                    carried,
                    verdict,
                )
                _sorts(order, inside, chosen, component, cause_start, cause, edge, path, other)
                at = stop
                at_once = block if refusals else 2 * block
                order, other = other, order


@compiled
def _judge_block(rows, event, cause_start, cause, chosen, component, order, inside, place, bit, carried, verdict):
    """Judge one block of arrivals in order; fills their verdicts.

    Args:
        rows: int32[block], arrivals of events of one component.
        event: int32[rows].
        cause_start: int64[rows + 1].
        cause: int32[causes].
        chosen: int32[events]; changed for events that get in.
        component: int32[events].
        order: int32[...]; the first `inside` are the component's events that are in, causes first. The events that
            get in are added behind them.
        inside: How many were in.
        place: int32[events], scratch.
        bit: int32[events], all -1; scratch.
        carried: uint64[inside or more, words], scratch.
        verdict: int8[rows].

    Returns:
        How many are in now, and how many arrivals were refused for a cycle.
    """
    bits = refusals = 0
    for row in rows:
        x = event[row]
        if chosen[x] < 0 and bit[x] < 0:
            bit[x] = bits
            bits += 1
    words = (bits + 63) >> 6
    # What was in before carries the bits of those of the block's events that it follows.
    for i in range(inside):
        node = order[i]
        place[node] = i
        carried[i, :words] = 0
        for e in range(cause_start[chosen[node]], cause_start[chosen[node] + 1]):
            c = cause[e]
            if component[c] != component[node]:
                continue
            if bit[c] >= 0:
                carried[i, bit[c] >> 6] |= np.uint64(1) << np.uint64(bit[c] & 63)
            elif chosen[c] >= 0:
                for w in range(words):
                    carried[i, w] |= carried[place[c], w]
    # What gets in from the block has all bits that it follows, by any way: also of events that are not in so far.
    above = np.empty((bits, words), np.uint64)
    entered = np.empty(bits, np.int32)
    follows = np.empty(words, np.uint64)
    entries = 0
    for row in rows:
        x = event[row]
        if chosen[x] >= 0:
            verdict[row] = DUPLICATE
            continue
        follows[:] = 0
        for e in range(cause_start[row], cause_start[row + 1]):
            c = cause[e]
            if component[c] != component[x]:
                continue
            if bit[c] >= 0:
                follows[bit[c] >> 6] |= np.uint64(1) << np.uint64(bit[c] & 63)
            elif chosen[c] >= 0:
                for w in range(words):
                    follows[w] |= carried[place[c], w]
        for i in range(entries):
            b = entered[i]
            if (follows[b >> 6] >> np.uint64(b & 63)) & np.uint64(1):
                for w in range(words):
                    follows[w] |= above[b, w]
        own = bit[x]
        own_word, own_shift = own >> 6, np.uint64(own & 63)
        if (follows[own_word] >> own_shift) & np.uint64(1):
            verdict[row] = CYCLE
            refusals += 1
            continue
        verdict[row] = ACCEPTED
        chosen[x] = row
        order[inside + entries] = x
        for i in range(entries):
            b = entered[i]
            if (above[b, own_word] >> own_shift) & np.uint64(1):
                for w in range(words):
                    above[b, w] |= follows[w]
        above[own, :] = follows
        entered[entries] = own
        entries += 1
    for row in rows:
        bit[event[row]] = -1
    return inside + entries, refusals
