"""Links of messages that lead back to where they came from.

Links by hash close no cycle. That a message follows its author's earlier ones is the author's word alone: whoever signs
a low sequence late contradicts the hashes, and where signatures are not verified ids are words as well.
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
    """Say which links do not count.

    Of the links on cycles the weak ones go, all at once; if what is left has cycles still, all links on those. So the
    answer depends on the links alone and not on any arrival, and links that are on no cycle stay.

    Args:
        event: int32[rows], the event whose causes a row has; those of knotted rows are distinct.
        cause_start: int64[rows + 1], into the causes.
        cause: int32[causes], events; distinct within a row, none the row's own.
        weak_start: int64[rows + 1], into the weak causes.
        weak: int32[...], events.
        knotted: bool[rows]; links of the others always count. Causes of knotted rows are events of knotted rows.

    Returns:
        bool[causes]: without these, knotted rows have no cycle.
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
