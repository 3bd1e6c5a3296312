"""The nodes that a writer's next node has to follow directly, if the writer knows all there is.

They are those that no other follows, among the nodes that can be followed: a relayed writer's node is never a head, and
of a batch only the last node may be followed. What only such nodes follow is a head all the same.

Source: the design document of Autobase, Writer Roles; autobase 7.28.1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase.bases import number_bases
from dbt_tangles.algorithms.autobase.clocks import causal_order, depths
from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH, collect
from dbt_tangles.kernel_runtime.compiled import compiled

HEAD_SCHEMA = pa.schema([("base_id", pa.string()), ("node_id", pa.string())])


def heads(
    start: np.ndarray, previous: np.ndarray, batch: np.ndarray, is_relayed: np.ndarray, causal: np.ndarray
) -> np.ndarray:
    """Find the heads among nodes.

    Args:
        start: int64[nodes + 1], into the edges.
        previous: int32[edges], what each node follows directly.
        batch: int32[nodes]; how many nodes of the batch are left, this one included.
        is_relayed: bool[nodes].
        causal: int32[nodes], all of them, each behind what it follows.

    Returns:
        bool[nodes].
    """
    return _heads(start, previous, batch, is_relayed, causal)


def heads_of_bases(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Find the heads of many bases.

    Args:
        table: As for `bases.order_bases`.

    Yields:
        Rows of `HEAD_SCHEMA`.

    Raises:
        ValueError: What `bases.number_bases` raises, or there is a cycle.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    if not len(table):
        return
    bases = number_bases(table)
    depth = depths(bases.start, bases.edge_start, bases.previous)
    causal = causal_order(bases.start, depth)
    is_head = heads(bases.edge_start, bases.previous, bases.batch, bases.is_relayed, causal)
    rows = table.select(HEAD_SCHEMA.names).take(pa.array(np.sort(bases.row[is_head])))
    yield from rows.cast(HEAD_SCHEMA).combine_chunks().to_batches(max_chunksize=ROWS_PER_BATCH)


def head_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield `heads_of_bases` of the whole bases in a partition."""
    table = collect(batches)
    if table is not None:
        yield from heads_of_bases(table)


@compiled
def _heads(start, previous, batch, is_relayed, causal):
    nodes = len(batch)
    is_followed = np.zeros(nodes, np.bool_)
    is_head = np.zeros(nodes, np.bool_)
    # From late to early: who follows a node, directly or not, has told it before it is its turn.
    for i in range(nodes - 1, -1, -1):
        x = causal[i]
        can_be_followed = not is_relayed[x] and batch[x] == 1
        is_head[x] = can_be_followed and not is_followed[x]
        if can_be_followed or is_followed[x]:
            for e in range(start[x], start[x + 1]):
                is_followed[previous[e]] = True
    return is_head
