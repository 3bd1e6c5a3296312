"""Heads of bases: the previous nodes of the next node of a writer that knows all nodes.

A head is a node that can be followed and has no descendant that can be followed. Relayed nodes cannot be followed, nor
can the nodes of a batch but its last one.

Source: the design document of Autobase, Writer Roles; autobase 7.28.1.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase.bases import number_bases
from dbt_tangles.algorithms.autobase.clocks import causal_order, depths
from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH
from dbt_tangles.kernel_runtime.compiled import compiled

HEAD_SCHEMA = pa.schema([("base_id", pa.string()), ("node_id", pa.string())])


@compiled
def heads(start, previous, batch, is_relayed, causal):
    """Find the heads among nodes.

    Args:
        start: int64[nodes + 1], into the edges.
        previous: int32[edges], the previous nodes of each node.
        batch: int32[nodes], the number of nodes left in the batch, this one included.
        is_relayed: bool[nodes].
        causal: int32[nodes], all nodes in topological order.

    Returns:
        bool[nodes].
    """
    nodes = len(batch)
    is_followed = np.zeros(nodes, np.bool_)
    is_head = np.zeros(nodes, np.bool_)
    # In reverse topological order, all descendants of a node are visited before it.
    for i in range(nodes - 1, -1, -1):
        x = causal[i]
        can_be_followed = not is_relayed[x] and batch[x] == 1
        is_head[x] = can_be_followed and not is_followed[x]
        if can_be_followed or is_followed[x]:
            for e in range(start[x], start[x + 1]):
                is_followed[previous[e]] = True
    return is_head


def heads_of_bases(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Find the heads of many bases.

    Args:
        table: As for `bases.order_bases`.

    Yields:
        Rows of `HEAD_SCHEMA`.

    Raises:
        ValueError: As `bases.number_bases`, or the edges close a cycle.
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
