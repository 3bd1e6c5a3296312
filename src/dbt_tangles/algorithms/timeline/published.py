"""The orders that an earlier run published."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.arrays import starts
from dbt_tangles.algorithms.graph.dense_ids import Nodes
from dbt_tangles.kernel_runtime.spill_buffer import Rows


class Published(NamedTuple):
    """What an earlier run published of the same timelines.

    Attributes:
        row: int64[rows], where its rows are in the table, those of a timeline side by side.
        start: int64[timelines + 1], into these rows.
        name: int32[rows], the number of the name.
    """

    row: np.ndarray
    start: np.ndarray
    name: np.ndarray


def read_published(nodes: Nodes, name: np.ndarray, is_new: np.ndarray) -> Published:
    """Find the published rows of a table.

    Args:
        nodes: Its numbered rows.
        name: int32[nodes], number of the name.
        is_new: bool[rows], those that are arrivals and not published.
    """
    node = np.flatnonzero(~is_new[nodes.row])  # ascending, and so by timeline
    timeline = np.searchsorted(nodes.graph_start, node, side="right") - 1
    counts = np.bincount(timeline, minlength=len(nodes.graph_start) - 1)
    return Published(nodes.row[node], starts(counts), name[node])


def integers(table: pa.Table | Rows, column: str) -> np.ndarray:
    """Read a column of integers; a null is 0."""
    return table[column].fill_null(0).to_numpy()
