"""Publishes drafts on top of windows, and finds the nodes that each sequence of drafts settles."""

from itertools import chain

import numpy as np

from dbt_tangles.algorithms.autobase.bases import RULES
from dbt_tangles.algorithms.autobase.next_nodes import Sequence, Window
from dbt_tangles.algorithms.autobase.views import ViewArrays
from dbt_tangles.algorithms.autobase.windows import Order, settled_nodes
from dbt_tangles.columns.arrays import runs, starts


def settled_by(windows: ViewArrays, chosen: list[tuple[int, Window, Sequence]], rule: str) -> list[np.ndarray]:
    """Publish sequences, each on top of its window alone, and order the results.

    Args:
        windows: The windows, as views.
        chosen: The number of a window, the window, and a sequence of its drafts.
        rule: A rule of `bases.RULES`.

    Returns:
        For each sequence bool[nodes of the window], the nodes that are settled then.
    """
    views, node = _publish(windows, chosen)
    settled = settled_nodes(views.view_start, Order(*RULES[rule](views)))
    by_local = np.empty(len(settled), np.bool_)
    by_local[node] = settled
    first = starts(np.diff(views.view_start))[:-1]
    return [by_local[at : at + window.size] for at, (_, window, _) in zip(first, chosen, strict=True)]


def _publish(windows: ViewArrays, chosen: list[tuple[int, Window, Sequence]]) -> tuple[ViewArrays, np.ndarray]:
    """Make a view of each sequence, and the place of each node before nodes are sorted: int64[nodes].

    Before, the nodes of a view are those of its window, then the drafts.
    """
    number = np.array([each for each, _, _ in chosen])
    drafts = [(window, draft) for _, window, sequence in chosen for draft in sequence]
    counts = np.array([len(sequence) for _, _, sequence in chosen])
    sizes = np.diff(windows.view_start)[number]
    view_start = starts(sizes + counts)
    view = np.repeat(np.arange(len(chosen)), sizes + counts)
    is_draft = np.arange(view_start[-1]) - view_start[view] >= sizes[view]
    _, entry = runs(windows.view_start, number)
    writers = [window.writers[draft.writer] for window, draft in drafts]

    def column(values: np.ndarray, of_drafts: list[int]) -> np.ndarray:
        joined = np.empty(len(view), values.dtype)
        joined[~is_draft] = values[entry]
        joined[is_draft] = of_drafts
        return joined

    writer = column(windows.writer, [who.place for who in writers])
    length = column(windows.length, [draft.length for _, draft in drafts])
    batch = column(windows.batch, [draft.batch for _, draft in drafts])
    indexer = column(windows.indexer, [who.indexer for who in writers])
    is_relayed = column(windows.is_relayed, [False] * len(drafts))
    edges, degree = _edges(windows, entry, drafts)
    degrees = np.empty(len(view), np.int64)
    degrees[~is_draft], degrees[is_draft] = np.diff(windows.start)[entry], degree
    window_edges = np.repeat(~is_draft, degrees)
    local = np.empty(len(window_edges), np.int64)
    local[window_edges], local[~window_edges] = edges
    target = local + np.repeat(view_start[view], degrees)

    node = np.lexsort((length, writer, view))
    place = np.empty(len(node), np.int32)
    place[node] = np.arange(len(node), dtype=np.int32)
    edge_start, edge = runs(starts(degrees), node)
    floor_start, floor = runs(windows.floor_start, number)
    views = ViewArrays(
        view_start,
        edge_start,
        place[target[edge]],
        writer[node],
        length[node],
        batch[node],
        indexer[node],
        is_relayed[node],
        floor_start,
        windows.floor[floor],
    )
    return views, node


def _edges(windows: ViewArrays, entry: np.ndarray, drafts: list) -> tuple[tuple[np.ndarray, list[int]], list[int]]:
    """List the previous nodes by local number, of the windows' nodes and of the drafts; and their number per draft."""
    _, edge = runs(windows.start, entry)
    first = np.repeat(windows.view_start[:-1], np.diff(windows.view_start))[entry]
    of_windows = windows.previous[edge] - np.repeat(first, np.diff(windows.start)[entry])
    lists = [_previous(window, draft) for window, draft in drafts]
    return (of_windows, list(chain.from_iterable(lists))), [len(each) for each in lists]


def _previous(window: Window, draft) -> list[int]:
    """Number the previous nodes of a draft without those outside of the window."""
    heads = {*draft.heads, draft.own} - {-1}
    return [
        x if x < window.size else x - window.outer
        for x in sorted(heads)
        if not window.size <= x < window.size + window.outer
    ]
