"""Arrays of arrivals and of the causes that each arrival lists.

Nodes are the numbered rows of a partition (`dbt_tangles.algorithms.graph.dense_ids`); several nodes may name the same
event. Arrivals are the nodes of the current input, without published rows, in the order of arrival in each timeline.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled


@compiled
def causes_of_arrivals(node, event, list_start, list_end, found):
    """Collect the causes of each arrival that are events of some arrival.

    Args:
        node: int32[arrivals].
        event: int32[nodes], the event of each node.
        list_start: int64[nodes], the start of each node's list.
        list_end: int64[nodes], its end.
        found: int32[items], a node with the listed id, or -1.

    Returns:
        `cause_start` int64[arrivals + 1] and `cause` int32[...], distinct events, without the arrival's own.
    """
    start = np.zeros(len(node) + 1, np.int64)
    cause = np.empty(len(found), np.int32)
    seen_by = np.full(len(event), np.int32(-1))
    count = 0
    for i in range(len(node)):
        own = event[node[i]]
        for item in range(list_start[node[i]], list_end[node[i]]):
            if found[item] >= 0:
                c = event[found[item]]
                if c != own and seen_by[c] != i:
                    seen_by[c] = i
                    cause[count] = c
                    count += 1
        start[i + 1] = count
    return start, cause[:count].copy()


@compiled
def number_accepted(node, event, accepted):
    """Renumber the accepted events, in the order of their old numbers.

    Args:
        node: int32[arrivals].
        event: int32[nodes].
        accepted: bool[arrivals], at most one for each event.

    Returns:
        int32[nodes at most], the new number by old number, or -1; and int32[events], the arrival of each event.
    """
    number = np.full(len(event), np.int32(-1))
    for i in range(len(node)):
        if accepted[i]:
            number[event[node[i]]] = i
    arrival = np.empty(len(node), np.int32)
    count = 0
    for e in range(len(number)):
        if number[e] >= 0:
            arrival[count] = number[e]
            number[e] = count
            count += 1
    return number, arrival[:count].copy()


@compiled
def causes_of_events(arrival, cause_start, cause, number):
    """Keep the accepted causes of each event.

    Args:
        arrival: int32[events].
        cause_start: int64[arrivals + 1].
        cause: int32[...], old numbers.
        number: The new numbers.

    Returns:
        int64[events + 1] and int32[...], new numbers.
    """
    start = np.zeros(len(arrival) + 1, np.int64)
    kept = np.empty(len(cause), np.int32)
    count = 0
    for e in range(len(arrival)):
        for k in range(cause_start[arrival[e]], cause_start[arrival[e] + 1]):
            if number[cause[k]] >= 0:
                kept[count] = number[cause[k]]
                count += 1
        start[e + 1] = count
    return start, kept[:count].copy()


@compiled
def missing_causes(arrival, node, event, list_start, list_end, found, number):
    """List the missing causes of each event: listed ids that are not ids of events in its timeline.

    Returns:
        int32[...] events, ascending, and int64[...] the items.
    """
    events = np.empty(len(found), np.int32)
    items = np.empty(len(found), np.int64)
    count = 0
    for e in range(len(arrival)):
        own = node[arrival[e]]
        for item in range(list_start[own], list_end[own]):
            if found[item] < 0 or (number[event[found[item]]] < 0 and event[found[item]] != event[own]):
                events[count] = e
                items[count] = item
                count += 1
    return events[:count].copy(), items[:count].copy()


@compiled
def lists_itself(arrival, node, event, list_start, list_end, found):
    """Mark the events that list themselves.

    Returns:
        bool[events].
    """
    marked = np.zeros(len(arrival), np.bool_)
    for e in range(len(arrival)):
        own = node[arrival[e]]
        for item in range(list_start[own], list_end[own]):
            if found[item] >= 0 and event[found[item]] == event[own]:
                marked[e] = True
    return marked
