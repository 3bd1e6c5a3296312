"""The supersedes relation of one set, collected message by message: linked lists of superseders."""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.set.chain_clocks import reaches
from dbt_tangles.kernel_runtime.compiled import compiled, inner


class Superseders(NamedTuple):
    """For each message the messages that supersede it, as a linked list from the latest backwards."""

    latest: np.ndarray  # int32[messages], from the first of the set: the head of the list, or -1
    by: np.ndarray  # int32[names], the superseding message
    before: np.ndarray  # int32[names], the next entry of the list, or -1
    listed_by: np.ndarray  # int32[messages], the last message that superseded it


@compiled
def allocate_superseders(set_start, is_entry, list_start):
    """Allocate `Superseders` for the largest of some sets.

    Args:
        set_start: int64[sets + 1], into the messages.
        is_entry: bool[messages]; other messages supersede nothing.
        list_start: int64[messages + 1], into `superseded`.

    Returns:
        `Superseders`.
    """
    most = np.int64(0)
    most_names = np.int64(0)
    for s in range(len(set_start) - 1):
        names = np.int64(0)
        for m in range(set_start[s], set_start[s + 1]):
            if is_entry[m]:
                names += list_start[m + 1] - list_start[m]
        most = max(most, set_start[s + 1] - set_start[s])
        most_names = max(most_names, names)
    return Superseders(
        np.empty(most, np.int32),
        np.empty(most_names, np.int32),
        np.empty(most_names, np.int32),
        np.full(most, np.int32(-1)),
    )


@inner
def record_superseded(m, begin, names, list_start, superseded, superseders):
    """Record the messages that a message supersedes; only earlier messages of its set count."""
    latest, by, before, listed_by = superseders
    for k in range(list_start[m], list_start[m + 1]):
        d = superseded[k]
        if begin <= d < m and listed_by[d - begin] != m:
            listed_by[d - begin] = m
            by[names] = m
            before[names] = latest[d - begin]
            latest[d - begin] = names
            names += 1
    return names


@inner
def is_superseded_at(m, d, begin, clocks, superseders, budget):
    """Say whether a message or one of its ancestors supersedes an earlier message."""
    t = superseders.latest[d - begin]
    while t >= 0 and not reaches(m, superseders.by[t], begin, clocks):
        t = superseders.before[t]
        budget[0] -= 1
    return t >= 0
