"""Chooses the links of messages that are left out, so that the remaining links are acyclic.

Links by hash cannot form a cycle. The order of an author's own messages rests on sequence numbers alone: a low
sequence that its author signs late contradicts the hashes. Where signatures are not verified, ids can be false as well.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.algorithms.graph.arrays import keep_entries, starts
from dbt_tangles.algorithms.structures.components import strong_components


def cyclic_links(
    event: np.ndarray,
    cause_start: np.ndarray,
    cause: np.ndarray,
    weak_start: np.ndarray,
    weak: np.ndarray,
    knotted: np.ndarray,
) -> np.ndarray:
    """Mark the links that are left out.

    All weak links on cycles are left out at once; where cycles remain, all links on them are left out too. The result
    depends on the links alone, not on the arrivals, and every link outside of cycles stays.

    Args:
        event: int32[rows], the event of each row; the row lists its causes. Knotted rows have distinct events.
        cause_start: int64[rows + 1], into the causes.
        cause: int32[causes], events; distinct within a row, without the row's own event.
        weak_start: int64[rows + 1], into the weak causes.
        weak: int32[...], events.
        knotted: bool[rows]; the rows of timelines with a cycle. Only their links can be left out, and their causes are
            events of knotted rows.

    Returns:
        bool[causes]: the links to leave out.
    """
    events = int(event.max(initial=-1)) + 1
    row = np.repeat(np.arange(len(event)), np.diff(cause_start))
    weak_row = np.repeat(np.arange(len(event)), np.diff(weak_start))
    is_weak = np.isin(row * events + cause, weak_row * events + weak)
    # Links by event instead of by row.
    link = np.flatnonzero(knotted[row])
    link = link[np.argsort(event[row[link]], kind="stable")]
    owner, target = event[row[link]], cause[link]
    start = starts(np.bincount(owner, minlength=events))
    is_dropped = np.zeros(len(link), np.bool_)
    for may_go in (is_weak[link], np.ones(len(link), np.bool_)):
        component, _ = strong_components(*keep_entries(start, target, ~is_dropped), np.ones(events, np.bool_))
        is_dropped |= may_go & (component[owner] == component[target])
    is_cyclic = np.zeros(len(cause), np.bool_)
    is_cyclic[link] = is_dropped
    return is_cyclic
