"""Stretches of a base's order at which the rules of `consensus` and `design` place different nodes.

Source: autobase 7.28.1; the design document of Autobase, Quorums to Consistent Ordering.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase import consensus, design
from dbt_tangles.algorithms.autobase.bases import (
    are_within_limit,
    extract_views,
    number_bases,
    split_views,
    view_arrays,
)
from dbt_tangles.columns.arrays import keep_entries, runs

DIFFERENCE_SCHEMA = pa.schema(
    [
        ("base_id", pa.string()),
        ("position_from", pa.int32()),
        ("autobase_order", pa.list_(pa.string())),
        ("design_order", pa.list_(pa.string())),
    ]
)


def stretches(view_start: np.ndarray, one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the maximal runs of positions of each view at which two orders differ.

    Args:
        view_start: int64[views + 1], into the positions.
        one: int32[positions], the node at each position, or -1 behind the end of the order.
        other: The same of the second order.

    Returns:
        int64[runs], the first position of each run, and int64[runs], the position behind its last one. Both count over
        all views.
    """
    differs = one != other
    is_first = np.zeros(len(one) + 1, np.bool_)
    is_first[view_start] = True
    begin = np.flatnonzero(differs & (is_first[:-1] | ~np.concatenate([[False], differs[:-1]])))
    end = np.flatnonzero(differs & (is_first[1:] | ~np.concatenate([differs[1:], [False]]))) + 1
    return begin, end


def differences_of_bases(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Compare the orders of both rules for an observer with all nodes.

    Args:
        table: As for `bases.order_bases`; bases of more than `bases.ENTRY_LIMIT` indexers times nodes, or of more than
            `design.DESIGN_LIMIT` nodes, are left out.

    Yields:
        Rows of `DIFFERENCE_SCHEMA`, one for each maximal run of positions at which the orders differ. An order that
        ends earlier, because it leaves out relayed nodes that it does not settle, has no nodes at later positions.

    Raises:
        ValueError: As `bases.order_bases`.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    if not len(table):
        return
    bases = number_bases(table)
    in_reach = np.flatnonzero(are_within_limit(bases) & (np.diff(bases.start) <= design.DESIGN_LIMIT))
    if not len(in_reach):
        return
    for base, top in split_views(bases, in_reach, np.full(len(in_reach), -1)):
        views = extract_views(bases, base, top)
        arrays = view_arrays(bases, views)
        orders = [rule(arrays)[0] for rule in (consensus.order_views, design.order_views)]
        begin, end = stretches(views.start, *orders)
        if not len(begin):
            continue
        first = views.start[np.searchsorted(views.start, begin, "right") - 1]
        row = bases.row[views.node]
        columns = [
            table["base_id"].take(pa.array(row[first])),
            pa.array((begin - first).astype(np.int32)),
            *(_node_lists(table["node_id"], row, order, begin, end) for order in orders),
        ]
        yield from pa.table(columns, DIFFERENCE_SCHEMA.names).cast(DIFFERENCE_SCHEMA).combine_chunks().to_batches()


def _node_lists(
    node_id: pa.ChunkedArray, row: np.ndarray, order: np.ndarray, begin: np.ndarray, end: np.ndarray
) -> pa.Array:
    """List the ids of the nodes of an order between positions."""
    bounds = np.stack([begin, end], axis=1).ravel()
    start, entry = runs(bounds, np.arange(0, len(bounds), 2))
    start, nodes = keep_entries(start, order[entry], order[entry] >= 0)
    ids = node_id.take(pa.array(row[nodes])).combine_chunks()
    ids = ids if isinstance(ids, pa.Array) else pa.concat_arrays(ids.chunks)
    return pa.ListArray.from_arrays(pa.array(start.astype(np.int32)), ids)
