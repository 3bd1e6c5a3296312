"""What an earlier run published, and how much of it still stands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.graph.arrays import starts, sums
from dbt_tangles.graph.identity import Nodes, group_rows
from dbt_tangles.graph.strings import strings_of
from dbt_tangles.held import Rows, chunks_of
from dbt_tangles.timelines.arrivals import common_prefix


class Published(NamedTuple):
    """What an earlier run published of the same timelines.

    Attributes:
        row: int64[rows], where its rows are in the table, those of a timeline by ordinal.
        start: int64[timelines + 1], into these rows.
        name: int32[rows], the number of the name.
    """

    row: np.ndarray
    start: np.ndarray
    name: np.ndarray


class Edits(NamedTuple):
    """Commands by event: `event` int32, `batch` int64, `step` int32, `taken` int32 (-1: an insertion), `put` int32."""

    event: np.ndarray
    batch: np.ndarray
    step: np.ndarray
    taken: np.ndarray
    put: np.ndarray


def read_published(table: pa.Table | Rows, nodes: Nodes, name: np.ndarray, is_new: np.ndarray) -> Published:
    """Find the published rows of a table.

    Args:
        table: See `order.order_timelines`.
        nodes: Its numbered rows.
        name: int32[nodes], number of the name.
        is_new: bool[rows], those that are arrivals and not published.
    """
    node = np.flatnonzero(~is_new[nodes.row])
    timeline = np.searchsorted(nodes.graph_start, node, side="right") - 1
    row = nodes.row[node]
    order = np.lexsort((integers(table, "ordinal")[row], timeline)) if len(node) else node
    counts = np.bincount(timeline, minlength=len(nodes.graph_start) - 1)
    return Published(row[order], starts(counts), name[node][order])


def kept_batches(
    table: pa.Table | Rows, start: np.ndarray, row: np.ndarray, published: Published, batch_size: int
) -> np.ndarray:
    """Count, for each timeline, the whole leading batches whose arrivals are those that were published.

    Args:
        table: See `order.order_timelines`.
        start: int64[timelines + 1], into the arrivals.
        row: int64[arrivals], where they are in the table.
        published: The published rows.
        batch_size: Arrivals in a batch; 0 for no batches.

    Returns:
        int64[timelines].
    """
    if not len(published.row) or not batch_size:
        return np.zeros(len(start) - 1, np.int64)
    digest, _ = group_rows(strings_of(chunks_of(table, "digest")))
    return common_prefix(start, digest[row], published.start, digest[published.row]) // batch_size


def was_knotted(table: pa.Table | Rows, published: Published) -> np.ndarray:
    """Say which timelines had links left out, as bool[timelines]."""
    if not len(published.row):
        return np.zeros(len(published.start) - 1, np.bool_)
    left_out = pc.list_value_length(table["cyclic_causes"]).fill_null(0).to_numpy()
    return sums(left_out[published.row] > 0, published.start) > 0


def published_edits(table: pa.Table | Rows, published: Published, kept: np.ndarray) -> Edits:
    """Read the published commands of the batches that are kept.

    Args:
        table: See `order.order_timelines`.
        published: The published rows.
        kept: int64[timelines], the batches.

    Returns:
        The commands, `event` being the number of the name.
    """
    lists = table["edits"].combine_chunks().take(pa.array(published.row))
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy()
    flat = lists.flatten()
    batch = flat.field("batch").to_numpy(zero_copy_only=False)
    owner = np.repeat(np.arange(len(published.row)), lengths)
    timeline = np.searchsorted(published.start, owner, side="right") - 1
    is_kept = batch <= kept[timeline]
    taken = flat.field("from_position").fill_null(-1)
    return Edits(
        published.name[owner[is_kept]],
        batch[is_kept],
        flat.field("step").to_numpy(zero_copy_only=False)[is_kept],
        taken.to_numpy(zero_copy_only=False)[is_kept],
        flat.field("to_position").to_numpy(zero_copy_only=False)[is_kept],
    )


def integers(table: pa.Table | Rows, column: str) -> np.ndarray:
    """Read a column of integers; a null is 0."""
    return table[column].fill_null(0).to_numpy()
