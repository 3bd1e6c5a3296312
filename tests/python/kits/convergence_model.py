"""A model of one replica that repairs its order at each arrival (docs/explanation/convergence.md, section 3).

The model is independent of the kernels: sets of events are bit masks, and every state is small.
"""

import numpy as np
from numba import njit


def list_dags(count: int) -> np.ndarray:
    """List all acyclic graphs on so many events, each once: int8[graphs, count], the causes of each event as a mask."""
    graphs = np.zeros((1, 0), np.int8)
    for size in range(count):
        graphs = _join_event(graphs, size)
    return graphs


@njit
def _join_event(graphs, size):
    """Join one event to each graph with any causes and effects that close no cycle."""
    found = np.empty((1024, size + 1), np.int8)
    n = 0
    above = np.empty(size, np.int64)
    for g in range(len(graphs)):
        for v in range(size):
            above[v] = 1 << v
        for _ in range(size):
            for v in range(size):
                for c in range(size):
                    if graphs[g, v] >> c & 1:
                        above[v] |= above[c]
        for effects in range(1 << size):
            before = 0  # The causes, and their ancestors, must not include an effect.
            for v in range(size):
                if above[v] & effects:
                    before |= 1 << v
            for causes in range(1 << size):
                if causes & before:
                    continue
                if n == len(found):
                    larger = np.empty((2 * n, size + 1), np.int8)
                    larger[:n] = found
                    found = larger
                for v in range(size):
                    found[n, v] = graphs[g, v] | (effects >> v & 1) << size
                found[n, size] = causes
                n += 1
    return found[:n].copy()


@njit
def _rank_of(causes, event, state):
    """Return the rank that the equation demands: one more than the highest rank of an arrived cause, or 0."""
    rank = 0
    for c in range(len(causes)):
        if causes[event] >> c & 1 and state[c] >= 0:
            rank = max(rank, state[c] + 1)
    return rank


@njit
def arrive(causes, event, state, order, size, next_state, next_order):
    """Let an event arrive: rank it, visit each arrived event once in the old order, and sort.

    `state` has the ranks of the arrived events, and -1 for all others; the first `size` of `order` are those in order.
    """
    next_state[:] = state
    next_state[event] = _rank_of(causes, event, state)
    for i in range(size):
        next_state[order[i]] = _rank_of(causes, order[i], next_state)
    next_order[:size] = order[:size]
    next_order[size] = event
    # Insertion sort by rank, then name.
    for i in range(size + 1):
        v = next_order[i]
        k = i
        while k > 0 and (
            next_state[next_order[k - 1]] > next_state[v]
            or (next_state[next_order[k - 1]] == next_state[v] and next_order[k - 1] > v)
        ):
            next_order[k] = next_order[k - 1]
            k -= 1
        next_order[k] = v
