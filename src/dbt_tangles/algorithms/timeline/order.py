"""The converged order of every timeline and its edits, from a table of arrivals (ScuttleSort 2022-05-09, section 2)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.orders import positions
from dbt_tangles.algorithms.graph.ties import broken_ties
from dbt_tangles.algorithms.graph.topological_generations import Children, children, generations
from dbt_tangles.algorithms.timeline.admission import Graph, break_cycles, ranks
from dbt_tangles.algorithms.timeline.arrivals import Arrivals, Links, Names, link_events, number_names, sort_arrivals
from dbt_tangles.algorithms.timeline.edits import Commands, Timelines, edit_stream
from dbt_tangles.algorithms.timeline.result import Target
from dbt_tangles.algorithms.timeline.schemas import Arrival, Place
from dbt_tangles.algorithms.timeline.updates import Published, name_orders, updates
from dbt_tangles.columns.arrays import flags, runs, starts, sums
from dbt_tangles.kernel_runtime.kernel import kernel
from dbt_tangles.kernel_runtime.output import Nested
from dbt_tangles.kernel_runtime.rows_on_disk import NO_LIMIT
from dbt_tangles.reasons import EventReason

#: The kind of a cause that only the author's feed gives, without a verified chain.
UNPROVEN_FEED = "unproven_feed"


class Limits(NamedTuple):
    """The settings of edit scripts, see `order_timelines`."""

    batch_size: int
    arrivals: int
    commands: int


class _Order(NamedTuple):
    """The input table and all that its rows are made from."""

    table: pa.Table
    names: Names
    arrivals: Arrivals
    links: Links
    is_cyclic: np.ndarray  # bool[links], left out between messages because they close a cycle
    number: np.ndarray  # int32[names], the admitted event of each name, or -1
    node: np.ndarray  # int64[events]
    events: Timelines
    position: np.ndarray  # int32[events]
    target: Target


@kernel(keys=["timeline_id"], reads=Arrival, writes=Place, appends=True, context="is_published")
def order_timelines(
    table: pa.Table, batch_size: int, edit_limit: int = NO_LIMIT, edit_command_limit: int = NO_LIMIT
) -> dict[str, Any]:
    """Order the events of many timelines, and write the edit scripts that lead to the order.

    Events are ordered by rank, the longest path over known causes, then by name (code points). Arrivals are admitted in
    the order of their numbers; `admission.admit` and `conflicts.conflicting` state the reasons for a refusal. Messages
    are never refused: links that close a cycle are left out.

    Args:
        table: One row per arrival, in any order, whole timelines only. `causes` are distinct. `cause_kinds` are null
            for events; for messages they name the source of each cause, and links of an `unproven_feed` are left out
            first where there is a cycle. The messages of a timeline are distinct. Rows with `is_published` hold the
            result of an earlier run for these timelines. Timelines with `is_order_only` have no published rows.
        batch_size: Number of arrivals, including refused ones, that share a script; 0 turns scripts off.
        edit_limit: Timelines with more arrivals have no scripts.
        edit_command_limit: Timelines whose scripts would take more commands in total have no scripts.

    Returns:
        By column, a value for each row of the table:
            `edits_left_out` string, `order_only`, or the limit that left out its timeline's scripts, `too_long` or
            `too_many_commands`; otherwise null;
            `ordinal` int64, its place among the timeline's arrivals, from 1;
            `reason` string, null for an accepted arrival, otherwise `conflict`, `duplicate`, `cycle` or the refusal.
            Accepted arrivals alone have `rank` and `latest_rank` int32 (see `latest_ranks`), `position` int32 from 0,
            `is_tip` (whether the event is the cause of no other), `is_tie_broken` (whether it does not follow the event
            directly before it, see `ties.broken_ties`), `missing_causes` (listed ids without an event, sorted),
            `cyclic_causes` (links left out, and the event if it lists itself, sorted) and `edits`: the commands that
            concern this event, `from_position` null for its insertion. All commands of a timeline, by batch and step,
            turn an empty list into the order. They depend on the arrivals alone.
            `publication` string, a digest of the timeline's order, and `previous_publication`, the digest of the order
            that was published before; null for a new timeline, and where events have left it since. `update_step`,
            `update_from_position`, `update_to_position`: its command in the script from the earlier to the new order.

    Raises:
        ValueError: An event_id is null.
        OverflowError: There are more than 2^31 - 1 rows or causes.
    """
    order = _admit(table)
    arrivals, events, target = order.arrivals, order.events, order.target
    ordinal = np.arange(len(arrivals.node)) - np.repeat(arrivals.start[:-1], np.diff(arrivals.start)) + 1
    is_marked, is_order_only = flags(table, "is_order_only"), np.zeros(len(events.start) - 1, np.bool_)
    is_order_only[order.names.timeline[is_marked]] = True
    is_tip = np.ones(len(order.node), np.bool_)
    is_tip[events.cause] = False
    return {
        **_without_links(table, is_marked),
        "ordinal": target.of_arrivals(ordinal),
        "reason": _reasons(order),
        "rank": target.of_events(events.rank),
        "latest_rank": target.of_events(latest_ranks(events)),
        "position": target.of_events(order.position),
        "is_tip": target.of_events(is_tip),
        "is_tie_broken": target.of_events(broken_ties(events.cause_start, events.cause, order.position)),
        **_causes(order),
        **_scripts(order, ordinal, is_order_only, Limits(batch_size, edit_limit, edit_command_limit)),
        **_updates(order, is_order_only),
    }


def latest_ranks(events: Timelines) -> np.ndarray:
    """Compute the greatest rank that an event can have in its timeline, without a rank above the timeline's last.

    Its effects need ranks above its own, so the longest path of effects decides. The events on the longest paths of a
    timeline are tight: this rank is the least one, too.

    Source: ScuttleSort 2022-05-09, section 2.3 and figure 6.

    Returns:
        int32[events].
    """
    effects = children(events.cause_start, events.cause)
    above = generations(events.start, effects.start, Children(events.cause_start, events.cause))
    timeline = np.repeat(np.arange(len(events.start) - 1), np.diff(events.start))
    last = np.zeros(len(events.start) - 1, np.int32)
    np.maximum.at(last, timeline, events.rank)
    return last[timeline] - above


def _without_links(table: pa.Table, is_marked: np.ndarray) -> dict[str, pa.ChunkedArray]:
    """Leave out the links of marked rows; without marked rows, all columns stay."""
    names, kind = ("causes", "cause_kinds"), pa.list_(pa.string())
    if not is_marked.any():
        return {}
    return {name: pc.if_else(pa.array(is_marked), pa.scalar(None, kind), table[name]) for name in names}


def _admit(table: pa.Table) -> _Order:
    """Read the arrivals, admit them, and order the events."""
    names = number_names(table)
    nodes = names.nodes
    arrivals = sort_arrivals(table, names)
    arrived = arrivals.node[arrivals.is_first]
    is_event = np.zeros(len(nodes.row), np.bool_)
    is_event[arrived] = True
    links = link_events(table, names, is_event)
    owner = np.repeat(np.arange(len(nodes.row)), np.diff(links.start))
    graph = Graph(nodes.graph_start, is_event, links.start, links.cause)
    rank, is_cyclic = ranks(graph), np.zeros(len(owner), np.bool_)
    if (rank[is_event] < 0).any():
        is_message = table["cause_kinds"].is_valid().to_numpy()[nodes.row]
        is_weak = _is_unproven(table, nodes.row[owner], links)
        rank, is_cyclic = break_cycles(graph, rank, arrived, is_message, is_weak)
    node = np.flatnonzero(rank >= 0)
    number = np.full(len(is_event), np.int32(-1))
    number[names.number[node]] = np.arange(len(node), dtype=np.int32)
    is_kept = (rank[owner] >= 0) & (rank[links.cause] >= 0) & ~is_cyclic
    cause = number[names.number[links.cause[is_kept]]]
    event_start = starts(sums(rank >= 0, nodes.graph_start))
    events = Timelines(event_start, starts(sums(is_kept, links.start)[node]), cause, rank[node])
    target = Target.of(len(table), nodes.row[arrivals.node], nodes.row[node])
    position = positions(event_start, events.rank)
    return _Order(table, names, arrivals, links, is_cyclic, number, node, events, position, target)


def _is_unproven(table: pa.Table, row: np.ndarray, links: Links) -> np.ndarray:
    """Mark the links that only an unproven feed gives: bool[links]. `row` is the row of each link's owner."""
    kinds = table["cause_kinds"]
    lengths = pc.list_value_length(kinds).fill_null(0).to_numpy()
    is_unproven = pc.equal(pc.list_flatten(kinds), UNPROVEN_FEED).to_numpy()
    is_weak = lengths[row] > 0
    place = starts(lengths)[row] + links.item - links.list_start[row]
    is_weak[is_weak] = is_unproven[place[is_weak]]
    return is_weak


def _reasons(order: _Order) -> pa.ChunkedArray:
    """Give the reason of each refused row; null for accepted rows."""
    arrivals, target = order.arrivals, order.target
    is_refused = order.number[order.names.number[arrivals.node]] < 0
    code = np.select([arrivals.is_conflict, is_refused, ~arrivals.is_first], [3, 2, 1], 0)
    reasons = (EventReason.DUPLICATE, EventReason.CYCLE, EventReason.CONFLICT)
    names = pa.array([None, *(reason.value for reason in reasons)])
    return pc.coalesce(order.table["refusal"], names.take(pa.array(target.of_arrivals(code))))


def _causes(order: _Order) -> dict[str, Nested]:
    """List the missing and the cyclic causes of each event."""
    table, links, number = order.table, order.links, order.names.number
    row = order.names.nodes.row
    start, item = runs(links.list_start, row[order.node])
    owner = np.repeat(np.arange(len(order.node)), np.diff(start))
    found = links.found[item]
    is_missing = (found < 0) | (order.number[number[found]] < 0)
    missing = pc.list_flatten(table["causes"]).take(pa.array(item[is_missing]))
    is_own = found == order.node[owner]
    dropped = np.repeat(number, np.diff(links.start))[order.is_cyclic]
    source = np.concatenate([order.number[number[links.cause[order.is_cyclic]]], owner[is_own]])
    cyclic = table["event_id"].take(pa.array(row[order.node[source]]))
    return {
        "missing_causes": order.target.sorted_lists(owner[is_missing], missing),
        "cyclic_causes": order.target.sorted_lists(np.concatenate([order.number[dropped], owner[is_own]]), cyclic),
    }


def _scripts(order: _Order, ordinal: np.ndarray, is_order_only: np.ndarray, limits: Limits) -> dict[str, Any]:
    """Write the commands of all batches, except for timelines that exceed a limit or have an order only."""
    arrivals, events, target, reasons = order.arrivals, order.events, order.target, np.full(len(is_order_only), None)
    commands = Commands(*np.empty((5, 0), np.int32))
    if limits.batch_size:
        event = order.number[order.names.number[arrivals.node]]
        is_in = arrivals.is_first & (event >= 0)
        is_long = np.diff(arrivals.start) > limits.arrivals
        batch = (ordinal[is_in] - 1) // limits.batch_size + 1
        commands = edit_stream(events, event[is_in], batch, limits.commands, is_long | is_order_only)
        has_commands = np.diff(np.searchsorted(np.sort(commands.event), events.start)) > 0
        reasons[(np.diff(events.start) > 0) & ~has_commands] = "too_many_commands"
        reasons[is_long] = "too_long"
        reasons[is_order_only] = "order_only"
    return {
        "edits_left_out": pa.array(reasons, pa.string()).take(pa.array(order.names.timeline)),
        "edits": target.edits(commands),
    }


def _updates(order: _Order, is_order_only: np.ndarray) -> dict[str, Any]:
    """Write the scripts from the published orders to the new ones."""
    names, events, target = order.names, order.events, order.target
    row, sizes = names.nodes.row, np.diff(events.start)
    ordered = np.empty(len(order.node), np.int32)
    ordered[np.repeat(events.start[:-1], sizes) + order.position] = row[order.node]
    publication = name_orders(names.ids, events.start, ordered)
    node = np.flatnonzero(~names.is_new[row])
    published = Published(row[node], names.timeline[row[node]], order.number[names.number[node]])
    position = np.where(np.repeat(is_order_only, sizes), np.int32(-1), order.position)
    found = updates(order.table, publication, events.start, position, published)
    timeline = pa.array(names.timeline)
    return {
        "publication": publication.take(timeline),
        "previous_publication": found.previous_publication.take(timeline),
        **target.updates(found, order.table),
    }
