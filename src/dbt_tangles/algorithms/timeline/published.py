"""Reads the orders that an earlier run published, from the rows of the kernel's input."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.arrays import starts
from dbt_tangles.algorithms.graph.dense_ids import Nodes
from dbt_tangles.kernel_runtime.spill_buffer import Rows


class Published(NamedTuple):
    """The published rows of the same timelines."""

    row: np.ndarray  # int64[rows], the places of published rows in the table, contiguous for each timeline
    start: np.ndarray  # int64[timelines + 1], into these rows
    name: np.ndarray  # int32[rows], the number of the event's name


def read_published(nodes: Nodes, name: np.ndarray, is_new: np.ndarray) -> Published:
    """Find the published rows of a table.

    Args:
        nodes: Its numbered rows.
        name: int32[nodes], the number of each node's name.
        is_new: bool[rows], the arrivals; all other rows are published ones.
    """
    node = np.flatnonzero(~is_new[nodes.row])  # ascending, and so by timeline
    timeline = np.searchsorted(nodes.graph_start, node, side="right") - 1
    counts = np.bincount(timeline, minlength=len(nodes.graph_start) - 1)
    return Published(nodes.row[node], starts(counts), name[node])


def integers(table: pa.Table | Rows, column: str) -> np.ndarray:
    """Read a column of integers, with 0 for null."""
    return table[column].fill_null(0).to_numpy()
