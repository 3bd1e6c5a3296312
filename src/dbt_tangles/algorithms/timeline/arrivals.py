"""The arrivals of timelines, read from a table: numbered, sorted by arrival, and with the links of each event.

Nodes are the numbered rows of a partition (`graph.dense_ids`); nodes of one name are neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.orders import in_order
from dbt_tangles.algorithms.timeline.conflicts import conflicting
from dbt_tangles.algorithms.timeline.schemas import SAID
from dbt_tangles.columns.arrays import flags
from dbt_tangles.columns.dense_ids import Nodes, number_ids, number_rows
from dbt_tangles.columns.links import distinct_items, look_up
from dbt_tangles.columns.strings import Strings, lists_of


class Names(NamedTuple):
    """The numbers of timelines and events."""

    ids: Strings  # the event ids of the rows
    timeline: np.ndarray  # int32[rows]
    nodes: Nodes  # the rows by timeline and name
    number: np.ndarray  # int32[nodes], the number of each node's name; ascends by name within a timeline
    is_new: np.ndarray  # bool[rows]; false for rows of the published order


class Arrivals(NamedTuple):
    """The arrivals of all timelines, in order within each timeline."""

    start: np.ndarray  # int64[timelines + 1], into the arrivals
    node: np.ndarray  # int32[arrivals]
    is_conflict: np.ndarray  # bool[arrivals]
    is_first: np.ndarray  # bool[arrivals]; the first one of its name that is not refused beforehand or in conflict


class Links(NamedTuple):
    """The causes that each event lists, and the links to other events."""

    list_start: np.ndarray  # int64[rows + 1], into the items of the column `causes`
    found: np.ndarray  # int32[items]; for items of events, the listed event, or -1
    start: np.ndarray  # int64[nodes + 1], into the links
    cause: np.ndarray  # int32[links], the distinct listed events
    item: np.ndarray  # int64[links]; the item that lists it


def integers(table: pa.Table, column: str) -> np.ndarray:
    """Read a column of integers, with 0 for null."""
    return table[column].fill_null(0).to_numpy()


def number_names(table: pa.Table) -> Names:
    """Number the timelines and events of a table."""
    nodes, ids = number_rows(table, ["timeline_id"], "event_id")
    timeline = np.empty(len(table), np.int32)
    timeline[nodes.row] = np.repeat(np.arange(len(nodes.graph_start) - 1), np.diff(nodes.graph_start))
    return Names(ids, timeline, nodes, number_ids(nodes, ids), ~flags(table, "is_published"))


def sort_arrivals(table: pa.Table, names: Names) -> Arrivals:
    """Sort the arrivals of each timeline, and find the first one of each name that is not refused."""
    nodes, number = names.nodes, names.number
    is_new = names.is_new[nodes.row]
    start, node = in_order(nodes.graph_start, _arrival_numbers(table)[nodes.row], is_new)
    _settle_ties(table, nodes, number, node)
    is_conflict = conflicting(table, nodes, number, is_new)[node]
    is_usable = ~is_conflict & table["refusal"].is_null().to_numpy()[nodes.row[node]]
    first = np.full(number.max(initial=-1) + 1, np.int32(-1))
    latest_first = node[is_usable][::-1]
    first[number[latest_first]] = latest_first
    return Arrivals(start, node, is_conflict, first[number[node]] == node)


def link_events(table: pa.Table, names: Names, is_event: np.ndarray) -> Links:
    """Find the events that each event lists.

    Args:
        table: The input of `order.order_timelines`.
        names: Its numbers.
        is_event: bool[nodes].
    """
    lists = lists_of(table["causes"])
    found = look_up(names.nodes, names.ids, lists, is_event, np.zeros(len(is_event), np.bool_))
    node = np.empty(len(is_event), np.int32)
    node[names.nodes.row] = np.arange(len(is_event), dtype=np.int32)
    is_own = found == np.repeat(node, np.diff(lists.starts))
    start, item = distinct_items(names.nodes.row, lists.starts, is_event, np.where(is_own, np.int32(-1), found))
    return Links(lists.starts, found, start, found[item], item)


def _arrival_numbers(table: pa.Table) -> np.ndarray:
    """Return int64[rows] that sort the lines of a timeline by arrival, and messages by receive time, unknown last."""
    arrival, received_ms = table["arrival"], table["received_ms"].fill_null(np.nan)
    bits = (received_ms.to_numpy() + 0.0).view(np.int64)  # -0.0 + 0.0 is 0.0.
    # The bits of floats sort like the floats, except that those of negative ones sort backwards.
    ascending = np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)
    return np.where(arrival.is_valid().to_numpy(), integers(table, "arrival"), ascending)


def _settle_ties(table: pa.Table, nodes: Nodes, name: np.ndarray, node: np.ndarray) -> None:
    """Sort arrivals of one event that share an arrival number by their columns, places last, in place.

    A null sorts before all values. Rows that are equal in every column keep their order.
    """
    arrival = integers(table, "arrival")[nodes.row[node]]
    is_tied = (name[node[1:]] == name[node[:-1]]) & (arrival[1:] == arrival[:-1])
    tied = np.flatnonzero(is_tied)
    if not len(tied):
        return
    places = np.unique(np.concatenate([tied, tied + 1]))
    rows = nodes.row[node[places]]
    keys = list(zip(*(map(_nulls_first, table[name].take(pa.array(rows)).to_pylist()) for name in SAID), strict=True))
    run = np.concatenate([[0], np.cumsum(~is_tied)])[places]  # Tied arrivals have no end of a run between them.
    by_key = sorted(range(len(places)), key=lambda i: (run[i], keys[i]))
    node[places] = node[places[by_key]]


def _nulls_first(value: Any) -> tuple[bool, Any]:
    """Make a sort key that distinguishes null from empty values, also within lists."""
    return value is not None, list(map(_nulls_first, value)) if type(value) is list else value
