"""The window of a base: the nodes behind its last neck, whose order decides alone about next nodes.

A *neck* is a place in the settled order such that each later indexer node sees all earlier indexer nodes, and that does
not split a batch. Earlier nodes then never stand beside a later one; so both rules settle the same nodes of the window
as of the whole base.

Source: autobase 7.28.1, which restarts its linearizer from confirmed lengths.
"""

from itertools import chain
from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.autobase.base_graphs import Bases, Graphs, base_of, index_graphs, with_clocks
from dbt_tangles.algorithms.autobase.next_nodes import Draft, Sequence, Window
from dbt_tangles.algorithms.autobase.rules import RULES
from dbt_tangles.columns.arrays import keep_entries, runs, starts, sums
from dbt_tangles.kernel_runtime.compiled import compiled


class Order(NamedTuple):
    """The orders of some bases with all their nodes, as `consensus.order_views` gives them."""

    base: np.ndarray  # int64[views], ascending
    view_start: np.ndarray  # int64[views + 1]
    order: np.ndarray  # int32[...]
    confirmed: np.ndarray  # int64[views]


class Windows(NamedTuple):
    """The windows of bases; those without an order are empty."""

    graphs: Graphs  # The nodes and edges
    length: np.ndarray  # int64[nodes], the length of the writer's log with each node
    node: np.ndarray  # int64[nodes], the node of the bases that each is, numbered over all bases


def settled_nodes(bases: Bases, found: Order) -> np.ndarray:
    """Mark the settled nodes: bool[nodes]."""
    view = np.repeat(np.arange(len(found.base)), np.diff(found.view_start))
    is_early = np.arange(len(found.order)) - found.view_start[view] < found.confirmed[view]
    settled = np.zeros(bases.base_start[-1], np.bool_)
    settled[(bases.base_start[found.base[view]] + found.order)[is_early]] = True
    return settled


def cut_windows(bases: Bases, found: Order, length: np.ndarray) -> Windows:
    """Cut ordered bases at their last necks; `length` int64[nodes] is that of each writer's log."""
    is_kept = _behind_necks(bases, found)
    node = np.flatnonzero(is_kept)
    place = np.full(len(is_kept), np.int32(-1))
    place[node] = np.arange(len(node), dtype=np.int32)
    first = np.repeat(bases.base_start[:-1], np.diff(bases.base_start))
    degrees = np.diff(bases.start)
    previous = bases.previous[bases.start[0] : bases.start[-1]] + np.repeat(first, degrees)
    start, previous = keep_entries(starts(degrees), previous, np.repeat(is_kept, degrees) & is_kept[previous])
    graphs = Graphs(
        starts(sums(is_kept, bases.base_start)),
        starts(np.diff(start)[node]),
        place[previous],
        *(getattr(bases, name)[node] for name in ("writer", "batch", "indexer", "is_relayed")),
        bases.indexer_start - bases.indexer_start[0],
    )
    return Windows(graphs, length[node], node)


@compiled
def _behind_necks(bases, found):
    """Mark the nodes behind the last neck of each ordered base."""
    is_kept = np.zeros(len(bases.writer), np.bool_)
    for v in range(len(found.base)):
        b = found.base[v]
        base = base_of(bases, b)
        kept = is_kept[bases.base_start[b] : bases.base_start[b + 1]]
        order = found.order[found.view_start[v] : found.view_start[v + 1]]
        # The neck moves down from the end of the settled order; `split` batches have parts on both sides.
        neck = found.confirmed[v]
        kept[:] = True
        kept[order[:neck]] = False
        before, low = np.zeros(len(base.known), np.int64), np.full(len(base.known), np.int64(2**62))
        split = 0
        for x in range(len(kept)):
            if base.indexer[x] >= 0:
                if kept[x]:
                    low = np.minimum(low, base.clock[x])
                else:
                    before[base.indexer[x]] += 1
            is_within = x + 1 < len(kept) and base.writer[x + 1] == base.writer[x] and base.batch[x] > 1
            split += is_within and kept[x] != kept[x + 1]
        while neck > 0 and (split > 0 or (low < before).any()):
            neck -= 1
            x = order[neck]
            kept[x] = True
            if x > 0 and base.writer[x - 1] == base.writer[x] and base.batch[x - 1] > 1:
                split += -1 if kept[x - 1] else 1
            if x + 1 < len(kept) and base.writer[x + 1] == base.writer[x] and base.batch[x] > 1:
                split += -1 if kept[x + 1] else 1
            if base.indexer[x] >= 0:
                before[base.indexer[x]] -= 1
                low = np.minimum(low, base.clock[x])
    return is_kept


def settled_by(windows: Windows, chosen: list[tuple[Window, Sequence]], rule: str) -> list[np.ndarray]:
    """Publish sequences, each on top of its window alone, and order the results.

    Returns:
        For each sequence bool[nodes of the window], the nodes that are settled then.
    """
    graphs, node = _publish(windows, chosen)
    bases = with_clocks(index_graphs(graphs), 0, len(chosen))
    every = np.arange(len(chosen))
    found = Order(every, *RULES[rule](bases, every, np.full(len(chosen), -1)))
    by_local = np.empty(len(node), np.bool_)
    by_local[node] = settled_nodes(bases, found)
    return [by_local[at : at + window.size] for at, (window, _) in zip(graphs.base_start, chosen, strict=False)]


def _publish(windows: Windows, chosen: list[tuple[Window, Sequence]]) -> tuple[Graphs, np.ndarray]:
    """Make a base of each sequence, and the place of each node before nodes are sorted: int64[nodes].

    Before, the nodes of a base are those of its window, then the drafts.
    """
    graphs = windows.graphs
    number = np.array([window.number for window, _ in chosen])
    drafts = [(window, draft) for window, sequence in chosen for draft in sequence]
    sizes = np.diff(graphs.base_start)[number]
    counts = np.array([len(sequence) for _, sequence in chosen])
    base_start = starts(sizes + counts)
    base = np.repeat(np.arange(len(chosen)), sizes + counts)
    is_draft = np.arange(base_start[-1]) - base_start[base] >= sizes[base]
    _, entry = runs(graphs.base_start, number)
    writers = [window.writers[draft.writer] for window, draft in drafts]

    def column(values: np.ndarray, of_drafts: list[int]) -> np.ndarray:
        joined = np.empty(len(base), values.dtype)
        joined[~is_draft], joined[is_draft] = values[entry], of_drafts
        return joined

    of_drafts = [_previous(window, draft) for window, draft in drafts]
    degrees = column(np.diff(graphs.start), [len(each) for each in of_drafts])
    _, edge = runs(graphs.start, entry)
    first = np.repeat(graphs.base_start[number], sizes)
    local = np.empty(degrees.sum(), np.int64)
    is_drafted = np.repeat(is_draft, degrees)
    local[~is_drafted] = graphs.previous[edge] - np.repeat(first, np.diff(graphs.start)[entry])
    local[is_drafted] = list(chain.from_iterable(of_drafts))
    target = local + np.repeat(base_start[base], degrees)

    writer = column(graphs.writer, [who.place for who in writers])
    node = np.lexsort((column(windows.length, [draft.length for _, draft in drafts]), writer, base))
    place = np.empty(len(node), np.int32)
    place[node] = np.arange(len(node), dtype=np.int32)
    start, edge = runs(starts(degrees), node)
    return Graphs(
        base_start,
        start,
        place[target[edge]],
        writer[node],
        column(graphs.batch, [draft.batch for _, draft in drafts])[node],
        column(graphs.indexer, [who.indexer for who in writers])[node],
        column(graphs.is_relayed, [False] * len(drafts))[node],
        starts(np.diff(graphs.indexer_start)[number]),
    ), node


def _previous(window: Window, draft: Draft) -> list[int]:
    """Number the previous nodes of a draft without those outside of the window."""
    size, outer = window.size, window.outer
    heads = sorted({*draft.heads, draft.own} - {-1})
    return [x if x < size else x - outer for x in heads if not size <= x < size + outer]
