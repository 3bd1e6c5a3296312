"""The window of a view: the nodes behind its last neck, whose order decides alone about next nodes.

A *neck* is a place in the settled order such that each later indexer node sees all earlier indexer nodes, and that does
not split a batch. Earlier nodes then never stand beside a later one, and their lengths are floors as after a change of
the indexers; so both rules settle the same nodes of the window as of the whole view.

Source: autobase 7.28.1, which restarts its linearizer from confirmed lengths.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.clocks import clocks
from dbt_tangles.algorithms.autobase.views import ViewArrays
from dbt_tangles.columns.arrays import keep_entries, starts, sums
from dbt_tangles.kernel_runtime.compiled import compiled


class Order(NamedTuple):
    """The order of many views, as `consensus.order_views` gives it."""

    order: np.ndarray  # int32[nodes], the nodes of each view from its start, and -1 behind them
    placed: np.ndarray  # int64[views]
    confirmed: np.ndarray  # int64[views]


def settled_nodes(view_start: np.ndarray, order: Order) -> np.ndarray:
    """Mark the settled nodes: bool[nodes]."""
    position = np.arange(len(order.order)) - np.repeat(view_start[:-1], np.diff(view_start))
    settled = np.zeros(len(order.order), np.bool_)
    settled[order.order[position < np.repeat(order.confirmed, np.diff(view_start))]] = True
    return settled


def cut_windows(views: ViewArrays, order: Order) -> tuple[ViewArrays, np.ndarray]:
    """Cut many views at their last necks.

    Returns:
        The windows, one for each view; and int64[nodes of the windows], the node of the view that each is.

    Raises:
        ValueError: Edges close a cycle.
    """
    clock_start, clock = clocks(views.view_start, views.start, views.previous, views.indexer, views.floor_start)
    is_kept, removed = _cut(views, order, clock_start, clock)
    node = np.flatnonzero(is_kept)
    place = np.full(len(is_kept), np.int32(-1))
    place[node] = np.arange(len(node), dtype=np.int32)
    edge_kept = np.repeat(is_kept, np.diff(views.start)) & is_kept[views.previous]
    start, previous = keep_entries(views.start, views.previous, edge_kept)
    counts = np.diff(start)[node]
    return ViewArrays(
        starts(sums(is_kept, views.view_start)),
        starts(counts),
        place[previous],
        views.writer[node],
        views.length[node],
        views.batch[node],
        views.indexer[node],
        views.is_relayed[node],
        views.floor_start,
        views.floor + removed,
    ), node


@compiled
def _cut(views, order, clock_start, clock):
    """Find the nodes behind the last neck of each view, and the length of each log before it."""
    view_start, _, _, writer, _, batch, indexer, _, floor_start, _ = views
    is_kept = np.ones(len(writer), np.bool_)
    removed = np.zeros(floor_start[-1], np.int64)
    for v in range(len(view_start) - 1):
        begin, end = view_start[v], view_start[v + 1]
        n = floor_start[v + 1] - floor_start[v]
        before = removed[floor_start[v] : floor_start[v + 1]]
        low = np.full(n, np.int64(2**62))
        # The neck moves down from the end of the settled order; `split` batches have parts on both sides.
        neck = begin + order.confirmed[v]
        for i in range(begin, neck):
            is_kept[order.order[i]] = False
            if indexer[order.order[i]] >= 0:
                before[indexer[order.order[i]]] += 1
        for x in range(begin, end):
            if is_kept[x] and indexer[x] >= 0:
                _lower(low, x, begin, clock_start[v], clock)
        split = 0
        for x in range(begin, end - 1):
            split += batch[x] > 1 and writer[x + 1] == writer[x] and is_kept[x] != is_kept[x + 1]
        while neck > begin and (split > 0 or (low < before).any()):
            neck -= 1
            x = order.order[neck]
            is_kept[x] = True
            if x > begin and writer[x - 1] == writer[x] and batch[x - 1] > 1:
                split += 1 if not is_kept[x - 1] else -1
            if x + 1 < end and writer[x + 1] == writer[x] and batch[x] > 1:
                split += 1 if not is_kept[x + 1] else -1
            if indexer[x] >= 0:
                before[indexer[x]] -= 1
                _lower(low, x, begin, clock_start[v], clock)
    return is_kept, removed


@compiled
def _lower(low, x, begin, first, clock):
    """Lower the least clock entries to those of a node."""
    n = len(low)
    for k in range(n):
        low[k] = min(low[k], clock[first + (x - begin) * n + k])
