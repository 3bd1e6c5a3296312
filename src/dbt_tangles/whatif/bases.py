"""Replays bases of Autobase: replicas receive the nodes, and order all that they can use so far."""

from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase.base_graphs import Graphs, index_graphs, with_clocks
from dbt_tangles.algorithms.autobase.bases import NumberedBases, number_bases
from dbt_tangles.algorithms.autobase.consensus import order_views
from dbt_tangles.cli.tables import SETTINGS
from dbt_tangles.lint.rules import check_lines
from dbt_tangles.queries import sections
from dbt_tangles.whatif.deliveries import Delivery, Items
from dbt_tangles.whatif.logs import number_feeds
from dbt_tangles.whatif.measures import Replay
from dbt_tangles.whatif.timelines import keep_events

#: The most updates of a view, besides those at the moments; in a longer log, several arrivals share an update.
MOST_UPDATES = 100
#: The most bases, and the most nodes times indexers of all; their clocks take four bytes for each.
BASE_LIMIT, ENTRY_LIMIT = 1_000, 2**28

_SQL = sections(__file__)


def read_nodes(batches: Iterator[pa.RecordBatch], most_indexers: int | None) -> tuple[Items, NumberedBases | None]:
    """Read the consistent nodes of the lines of an Autobase log, of `LINE_SCHEMA`, in their order, if it has any.

    Only the `most_indexers` indexers of each base with the least keys vote.
    """
    with duckdb.connect(":memory:", config=SETTINGS) as database:
        count = check_lines(database, "autobase", batches)
        most = {"most": most_indexers or 2**31}
        table = database.sql(_SQL["nodes"], params=most).to_arrow_table() if count else ()
    if not len(table):
        return Items(np.empty(0, np.int32), []), None
    numbered = number_bases(table)
    nodes, indexers = np.diff(numbered.graphs.base_start), np.diff(numbered.graphs.indexer_start)
    if most_indexers and indexers.max() < most_indexers:
        raise ValueError(f"--indexers {most_indexers}: bases have at most {indexers.max()} indexers; lower it")
    if len(nodes) > BASE_LIMIT or (nodes * indexers).sum() > ENTRY_LIMIT:
        raise ValueError("the log has too many bases, nodes or indexers; replay a part of it, or lower --indexers")
    return Items(*number_feeds(table["writer"].to_pylist())), numbered


def replay(numbered: NumberedBases, delivery: Delivery, counts: np.ndarray) -> Replay:
    """Follow a replica, which uses a node once it has all nodes before it; `numbered` has rows in the order of receipt.

    `counts`, int64[moments], has the numbers of arrivals after which the order is wanted.
    """
    size = len(numbered.row)
    usable = usable_from(numbered, delivery.arrived)
    some = np.linspace(0, size, min(size, MOST_UPDATES) + 1).astype(np.int64)[1:]
    step_end = np.unique(np.concatenate([some, counts[counts > 0]]))
    undone, settled, orders = np.zeros(len(step_end), np.int64), np.zeros(size, np.int64), {}
    before = [np.empty(0, np.int64)] * (len(numbered.graphs.base_start) - 1)
    for step, end in enumerate(step_end):
        views, confirmed = order_nodes(numbered.graphs, usable <= end)
        for base, (view, old) in enumerate(zip(views, before, strict=True)):
            length = min(len(view), len(old))
            differs = np.append(view[:length] != old[:length], True)
            undone[step] += len(old) - np.argmax(differs)
            fresh = view[: confirmed[base]]
            settled[fresh[settled[fresh] == 0]] = end
        before = views
        orders[end] = np.concatenate(views)
    at_row = np.empty_like(settled)
    at_row[numbered.row] = settled
    empty = np.empty(0, np.int64)
    facts = {"rebases": int((undone > 0).sum())}
    return Replay(step_end, undone, at_row[delivery.arrived], [orders.get(count, empty) for count in counts], facts)


def usable_from(numbered: NumberedBases, arrived: np.ndarray) -> np.ndarray:
    """Find the arrival, from 1, with which each node and all before it are there: int64[nodes]."""
    graphs, bases = numbered.graphs, index_graphs(numbered.graphs)
    place = np.empty(len(arrived), np.int64)
    place[arrived] = np.arange(1, len(arrived) + 1)
    usable = place[numbered.row].tolist()
    first = np.repeat(graphs.base_start[:-1], np.diff(graphs.base_start))
    start, previous = graphs.start.tolist(), graphs.previous.tolist()
    for node in (first + bases.causal).tolist():
        usable[node] = max([usable[node], *(usable[each] for each in previous[start[node] : start[node + 1]])])
    return np.array(usable)


def order_nodes(graphs: Graphs, is_known: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Order the known nodes of each base; return the nodes of each in order, and int64[bases], how many are settled.

    All nodes before one of `is_known`, bool[nodes], are known.
    """
    kept = np.flatnonzero(is_known)
    start, previous = keep_events(graphs.start, graphs.previous, kept)
    known = Graphs(
        np.searchsorted(kept, graphs.base_start),
        start,
        previous,
        *(each[kept] for each in (graphs.writer, graphs.batch, graphs.indexer, graphs.is_relayed)),
        graphs.indexer_start,
    )
    count = len(graphs.base_start) - 1
    bases = with_clocks(index_graphs(known), 0, count)
    view_start, order, settled = order_views(bases, np.arange(count), np.full(count, -1))
    orders = [kept[low + each] for low, each in zip(known.base_start, np.split(order, view_start[1:-1]), strict=False)]
    return orders, settled
