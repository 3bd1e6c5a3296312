"""The arrivals of timelines, read from a table, sorted by arrival, and admitted or refused one after the other.

Source: ScuttleSort 2022-05-09, section 2.2. `admission` judges the arrivals; this module numbers names and breaks the
cycles of messages, which are never refused.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.arrays import flags, keep_entries, sums
from dbt_tangles.algorithms.graph.dense_ids import Nodes, group_rows, number_ids, number_nodes
from dbt_tangles.algorithms.graph.links import look_up
from dbt_tangles.algorithms.graph.orders import in_order
from dbt_tangles.algorithms.graph.strings import Strings, lists_of, strings_of
from dbt_tangles.algorithms.timeline.admission import CYCLE, admit
from dbt_tangles.algorithms.timeline.arrivals import causes_of_arrivals
from dbt_tangles.algorithms.timeline.conflicts import CONFLICT, conflicting
from dbt_tangles.algorithms.timeline.cycle_breaking import cyclic_links
from dbt_tangles.algorithms.timeline.published import integers
from dbt_tangles.algorithms.timeline.schemas import INPUT_SCHEMA
from dbt_tangles.kernel_runtime.spill_buffer import Rows, chunks_of

#: The kind of a cause that only the author's feed gives, without a verified chain.
UNPROVEN_FEED = "unproven_feed"
#: The columns that distinguish lines of one event, places last.
_SAID = [name for name in INPUT_SCHEMA.names if name not in ("timeline_id", "event_id")]


class Names(NamedTuple):
    """The numbers of timelines and events."""

    ids: Strings  # The event ids of the rows
    timeline: np.ndarray  # int32[rows]
    nodes: Nodes  # The rows by timeline and name
    number: np.ndarray  # int32[nodes], the number of each node's name; ascends by name within a timeline
    is_new: np.ndarray  # bool[rows]; false for rows of the published order


class Listed(NamedTuple):
    """The causes that each node lists: items `start` to `end` of the column `causes`, and their nodes, or -1."""

    start: np.ndarray
    end: np.ndarray
    found: np.ndarray


class Arrivals(NamedTuple):
    """The arrivals of all timelines, in order within each timeline."""

    start: np.ndarray  # int64[timelines + 1], into the arrivals
    node: np.ndarray  # int32[arrivals]
    verdict: np.ndarray  # int8[arrivals], see `admission` and `conflicts`
    ordinal: np.ndarray  # int64[arrivals], the place in the timeline, from 1
    cause_start: np.ndarray  # int64[arrivals + 1], into the causes
    cause: np.ndarray  # int32[...], the numbers of the causes' names
    is_cyclic: np.ndarray  # bool[...], causes that are left out because they close a cycle of messages


def number_names(table: pa.Table | Rows) -> Names:
    """Number the timelines and events of a table.

    Raises:
        ValueError: An event_id is null.
    """
    ids = strings_of(chunks_of(table, "event_id"))
    if not ids.valid.all():
        raise ValueError("an event_id of the arrivals is null; fill it in")
    timeline, timeline_count = group_rows(strings_of(chunks_of(table, "timeline_id")))
    nodes = number_nodes(timeline, timeline_count, ids)
    is_new = np.ones(len(table), np.bool_)
    if "is_published" in table.column_names:
        is_new = ~flags(table, "is_published")
    return Names(ids, timeline, nodes, number_ids(nodes, ids), is_new)


def _look_up_causes(table: pa.Table | Rows, names: Names) -> Listed:
    """Find the nodes of the listed causes."""
    lists = lists_of(chunks_of(table, "causes"))
    row = names.nodes.row
    found = look_up(names.nodes, names.ids, lists, names.is_new[row], np.zeros(len(table), np.bool_))
    return Listed(lists.starts[row], lists.starts[row + 1], found)


def _keep_unproven(table: pa.Table | Rows, row: np.ndarray, listed: Listed) -> Listed:
    """Keep the causes that only an unproven feed gives.

    Args:
        table: The input of `order.order_timelines`; a row without kinds has no such causes.
        row: int64[nodes], the row of each node.
        listed: The causes of each node.
    """
    count = np.zeros(len(table), np.int64)
    is_unproven = [np.zeros(0, np.bool_)]
    at = 0
    for chunk in chunks_of(table, "cause_kinds"):
        count[at : at + len(chunk)] = pc.list_value_length(chunk).fill_null(0).to_numpy()
        is_unproven.append(pc.equal(chunk.flatten(), UNPROVEN_FEED).to_numpy(zero_copy_only=False))
        at += len(chunk)
    first = np.zeros(len(table), np.int64)
    first[row] = listed.start
    item = np.arange(count.sum()) + np.repeat(first - (np.cumsum(count) - count), count)
    found = np.full(len(listed.found), -1, listed.found.dtype)
    kept = item[np.concatenate(is_unproven)]
    found[kept] = listed.found[kept]
    return listed._replace(found=found)


def admit_arrivals(table: pa.Table | Rows, names: Names) -> tuple[Arrivals, Listed]:
    """Sort the arrivals of each timeline and admit or refuse them.

    Args:
        table: The input of `order.order_timelines`.
        names: Its numbers.

    Returns:
        The arrivals, and the causes that each node lists.
    """
    nodes, number = names.nodes, names.number
    listed = _look_up_causes(table, names)
    start, node = in_order(nodes.graph_start, _arrival_numbers(table)[nodes.row], names.is_new[nodes.row])
    _settle_ties(table, nodes, number, node)
    causes = causes_of_arrivals(node, number, *listed)
    row = nodes.row[node]
    is_conflict = conflicting(table, nodes, number, names.is_new)[node]
    refused = table["refusal"].is_valid().to_numpy()[row] | is_conflict
    verdict = admit(start, number[node], *causes, refused)
    is_message = table["cause_kinds"].is_valid().to_numpy()[row]
    knotted = sums((verdict == CYCLE) & is_message, start) > 0
    is_cyclic = np.zeros(len(causes[1]), np.bool_)
    if knotted.any():
        weak = causes_of_arrivals(node, number, *_keep_unproven(table, nodes.row, listed))
        is_cyclic = cyclic_links(number[node], *causes, *weak, np.repeat(knotted, np.diff(start)))
        verdict = admit(start, number[node], *keep_entries(*causes, ~is_cyclic), refused)
    verdict[is_conflict] = CONFLICT
    ordinal = np.arange(len(node)) - np.repeat(start[:-1], np.diff(start)) + 1
    return Arrivals(start, node, verdict, ordinal, *causes, is_cyclic), listed


def _arrival_numbers(table: pa.Table | Rows) -> np.ndarray:
    """Return int64[rows] that sort the lines of a timeline by arrival, and messages by receive time, unknown last."""
    arrival, received_ms = table["arrival"], table["received_ms"].fill_null(np.nan)
    bits = (received_ms.to_numpy() + 0.0).view(np.int64)  # -0.0 + 0.0 is 0.0.
    # The bits of floats sort like the floats, except that those of negative ones sort backwards.
    ascending = np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)
    return np.where(arrival.is_valid().to_numpy(), integers(table, "arrival"), ascending)


def _settle_ties(table: pa.Table | Rows, nodes: Nodes, name: np.ndarray, node: np.ndarray) -> None:
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
    keys = list(zip(*(map(_nulls_first, table[name].take(pa.array(rows)).to_pylist()) for name in _SAID), strict=True))
    run = np.concatenate([[0], np.cumsum(~is_tied)])[places]  # Tied arrivals have no end of a run between them.
    by_key = sorted(range(len(places)), key=lambda i: (run[i], keys[i]))
    node[places] = node[places[by_key]]


def _nulls_first(value: Any) -> tuple[bool, Any]:
    """Make a sort key that distinguishes null from empty values, also within lists."""
    return value is not None, list(map(_nulls_first, value)) if type(value) is list else value
