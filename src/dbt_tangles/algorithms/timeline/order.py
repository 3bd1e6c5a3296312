"""The converged order of every timeline and its edits, from a table of arrivals (ScuttleSort 2022-05-09, section 2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.arrays import flags, keep_entries, starts, sums
from dbt_tangles.algorithms.graph.orders import positions
from dbt_tangles.algorithms.graph.ties import broken_ties
from dbt_tangles.algorithms.graph.topological_generations import children, generations
from dbt_tangles.algorithms.timeline.admission import ACCEPTED
from dbt_tangles.algorithms.timeline.admitted_arrivals import Arrivals, Listed, Names, admit_arrivals, number_names
from dbt_tangles.algorithms.timeline.arrivals import causes_of_events, lists_itself, missing_causes, number_accepted
from dbt_tangles.algorithms.timeline.edits import edit_stream, number_steps
from dbt_tangles.algorithms.timeline.published import read_published
from dbt_tangles.algorithms.timeline.schemas import PLACE_SCHEMA
from dbt_tangles.algorithms.timeline.timeline_rows import (
    Edits,
    cyclic_column,
    edit_column,
    missing_column,
    reason_column,
    scatter,
    update_columns,
)
from dbt_tangles.algorithms.timeline.updates import name_orders, updates
from dbt_tangles.kernel_runtime.spill_buffer import Rows

NO_LIMIT = 2**63 - 1


class Limits(NamedTuple):
    """The settings of edit scripts, see `order_timelines`."""

    batch_size: int
    arrivals: int
    commands: int


class Events(NamedTuple):
    """The admitted events, ascending by name within each timeline."""

    start: np.ndarray  # int64[timelines + 1], into the events
    arrival: np.ndarray  # int32[events], the accepted arrival of each
    cause_start: np.ndarray  # int64[events + 1], into the causes
    cause: np.ndarray  # int32[...], events
    number: np.ndarray  # int32[...], the event by the number of its name, or -1


class _Target(NamedTuple):
    """The places of the result's rows."""

    row: np.ndarray  # int64[...]; the row of the input for each row of the result
    of_arrival: np.ndarray  # int64[arrivals], a row of the result
    of_event: np.ndarray  # int64[events], a row of the result
    is_in: np.ndarray  # bool[...]; whether the row is an accepted arrival

    def spread_arrivals(self, values: np.ndarray) -> np.ndarray:
        """Put a value of each arrival at its row."""
        return scatter(len(self.row), self.of_arrival, values)

    def spread_events(self, values: np.ndarray) -> pa.Array:
        """Put a value of each event at its row; null elsewhere."""
        return pa.array(scatter(len(self.row), self.of_event, values), mask=~self.is_in)


class _Order(NamedTuple):
    """The input table and all that its rows are made from."""

    table: pa.Table | Rows
    names: Names
    listed: Listed
    arrivals: Arrivals
    events: Events
    target: _Target

    @property
    def is_order_only(self) -> np.ndarray:
        """Whether each timeline has an order without scripts: bool[timelines]."""
        marked = np.zeros(len(self.events.start) - 1, np.bool_)
        if "is_order_only" in self.table.column_names:
            marked[self.names.timeline[flags(self.table, "is_order_only")]] = True
        return marked

    @property
    def event_row(self) -> np.ndarray:
        """The row of the input of each event: int64[events]."""
        return self.names.nodes.row[self.arrivals.node[self.events.arrival]]


def order_timelines(
    table: pa.Table | Rows, batch_size: int, edit_limit: int = NO_LIMIT, edit_command_limit: int = NO_LIMIT
) -> pa.Table:
    """Order the events of many timelines, and write the edit scripts that lead to the order.

    Events are ordered by rank, the longest path over known causes, then by name (code points). Arrivals are admitted in
    the order of their numbers; `admission.admit` and `conflicts.conflicting` state the reasons for a refusal. Messages
    are never refused: links that close a cycle are left out (`cycle_breaking.cyclic_links`).

    Args:
        table: One row per arrival, in any order, whole timelines only: `INPUT_SCHEMA`. `causes` are distinct;
            `refusal` is the reason of an arrival that was refused beforehand. `cause_kinds` are null for events; for
            messages they name the source of each cause, and links of an `unproven_feed` are left out first where there
            is a cycle. The messages of a timeline are distinct. Further rows with `is_published` true and the columns
            of `PUBLISHED_SCHEMA` hold the result of an earlier run for these timelines; all these columns are optional.
            So is `is_order_only`, true for the arrivals of timelines without scripts; these have no published rows.
        batch_size: Number of arrivals, including refused ones, that share a script; 0 turns scripts off.
        edit_limit: Timelines with more arrivals have no scripts.
        edit_command_limit: Timelines whose scripts would take more commands in total have no scripts.

    Returns:
        One row per arrival (`PLACE_SCHEMA`), in the order of the input:
            `edits_left_out` string, `order_only`, or the limit that left out its timeline's scripts, `too_long` or
            `too_many_commands`; otherwise null;
            `ordinal` int64, its place among the timeline's arrivals, from 1;
            `reason` string, null for an accepted arrival, otherwise `conflict`, `duplicate`, `cycle` or the refusal.
            Accepted arrivals alone have `rank` int32, `position` int32 from 0, `is_tip` (whether the event is the cause
            of no other), `is_tie_broken` (whether it does not follow the event directly before it, see
            `ties.broken_ties`), `missing_causes` (listed ids without an event, sorted), `cyclic_causes` (links left
            out, and the event if it lists itself, sorted) and `edits`: the commands that concern this event,
            `from_position` null for its insertion. All commands of a timeline, by batch and step, turn an empty list
            into the order. They depend on the arrivals alone.
            `publication` string, a digest of the timeline's order, and `previous_publication`, the digest of the order
            that was published before; null for a new timeline, and where events have left it since. `update_step`,
            `update_from_position`, `update_to_position`: its command in the script from the earlier to the new order.

    Raises:
        ValueError: An event_id is null.
        OverflowError: There are more than 2^31 - 1 rows or causes.
    """
    names = number_names(table)
    arrivals, listed = admit_arrivals(table, names)
    events = _events(arrivals, names.number)
    order = _Order(table, names, listed, arrivals, events, _target(names, arrivals, events))
    rank, position, is_tip = _places(events)
    is_tie_broken = broken_ties(events.cause_start, events.cause, position)
    columns = {
        "ordinal": pa.array(order.target.spread_arrivals(arrivals.ordinal)),
        "reason": _reasons(order),
        "rank": order.target.spread_events(rank),
        "position": order.target.spread_events(position),
        "is_tip": order.target.spread_events(is_tip),
        "is_tie_broken": order.target.spread_events(is_tie_broken),
        "missing_causes": _missing(order),
        "cyclic_causes": _cyclic(order),
        **_scripts(order, Limits(batch_size, edit_limit, edit_command_limit)),
        **_updates(order, position),
    }
    return pa.table([columns[name] for name in PLACE_SCHEMA.names], schema=PLACE_SCHEMA)


def _events(arrivals: Arrivals, name: np.ndarray) -> Events:
    accepted = arrivals.verdict == ACCEPTED
    number, arrival = number_accepted(arrivals.node, name, accepted)
    start = starts(sums(accepted, arrivals.start))
    causes = keep_entries(arrivals.cause_start, arrivals.cause, ~arrivals.is_cyclic)
    return Events(start, arrival, *causes_of_events(arrival, *causes, number), number)


def _target(names: Names, arrivals: Arrivals, events: Events) -> _Target:
    out = (np.cumsum(names.is_new) - 1)[names.nodes.row[arrivals.node]]
    row = np.flatnonzero(names.is_new)
    return _Target(row, out, out[events.arrival], scatter(len(row), out[events.arrival], np.True_))


def _reasons(order: _Order) -> pa.ChunkedArray:
    refusal = order.table["refusal"].cast(pa.string())
    if len(order.target.row) < len(order.table):
        refusal = refusal.take(order.target.row)
    return reason_column(order.target.spread_arrivals(order.arrivals.verdict), refusal)


def _missing(order: _Order) -> pa.ListArray:
    names, arrivals, events, target = order.names, order.arrivals, order.events, order.target
    missing = missing_causes(events.arrival, arrivals.node, names.number, *order.listed, events.number)
    return missing_column(order.table["causes"], missing, target.of_event, target.is_in)


def _cyclic(order: _Order) -> pa.ListArray:
    names, arrivals, events, target = order.names, order.arrivals, order.events, order.target
    own = np.flatnonzero(lists_itself(events.arrival, arrivals.node, names.number, *order.listed))
    owner = np.repeat(target.of_arrival, np.diff(arrivals.cause_start))[arrivals.is_cyclic]
    source = events.number[arrivals.cause[arrivals.is_cyclic]]
    owners, sources = np.concatenate([owner, target.of_event[own]]), np.concatenate([source, own])
    return cyclic_column(order.table["event_id"], order.event_row[sources], owners, target.is_in)


def _updates(order: _Order, position: np.ndarray) -> dict[str, pa.Array]:
    """Write the scripts from the published orders to the new ones."""
    names, events, target = order.names, order.events, order.target
    published = read_published(names.nodes, names.number, names.is_new)
    publication = name_orders(names.ids, events.start, order.event_row, position)
    scripted = np.where(np.repeat(order.is_order_only, np.diff(events.start)), np.int32(-1), position)
    update = updates(order.table, publication, events.start, scripted, published, events.number[published.name])
    timeline = pa.array(names.timeline[target.row])
    step = number_steps(events.start, update.commands.event, update.commands.batch)
    return {
        "publication": update.publication.take(timeline),
        "previous_publication": update.previous_publication.take(timeline),
        **update_columns(update, step, target.of_event, order.table, len(target.row)),
    }


def _places(events: Events) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rank and the position of each event, and whether it is a tip."""
    effects = children(events.cause_start, events.cause)
    rank = generations(events.start, events.cause_start, effects)
    return rank, positions(events.start, rank), np.diff(effects.start) == 0


def _scripts(order: _Order, limits: Limits) -> dict[str, pa.Array]:
    """Write the commands of all batches, except for timelines that exceed a limit or have an order only."""
    arrivals, target, is_order_only = order.arrivals, order.target, order.is_order_only
    is_long = np.diff(arrivals.start) > limits.arrivals
    edits, reasons = None, np.full(len(is_long), None, object)
    if limits.batch_size:
        edits, is_over = _edits(arrivals, order.events, is_long | is_order_only, limits)
        for reason, applies in {"too_many_commands": is_over, "too_long": is_long, "order_only": is_order_only}.items():
            reasons[applies] = reason
    return {
        "edits_left_out": pa.array(reasons, pa.string()).take(pa.array(order.names.timeline[target.row])),
        "edits": edit_column(edits, target.of_event, target.is_in),
    }


def _edits(arrivals: Arrivals, events: Events, is_left_out: np.ndarray, limits: Limits) -> tuple[Edits, np.ndarray]:
    """Write the commands of all batches, except for timelines left out, or that take more commands than the limit.

    Returns:
        The commands, and bool[timelines], the timelines that take more commands than the limit.
    """
    accepted = np.flatnonzero(arrivals.verdict == ACCEPTED)
    sizes = np.diff(events.start)
    arrived = np.empty(len(arrivals.node), np.int32)
    arrived[events.arrival] = np.arange(len(events.arrival), dtype=np.int32)
    batch = (arrivals.ordinal[accepted] - 1) // limits.batch_size + 1
    stream = events.start, events.cause_start, events.cause, arrived[accepted], batch
    commands = edit_stream(*stream, np.where(is_left_out, sizes, 0), limits.commands)
    step = number_steps(events.start, commands.event, commands.batch)
    has_commands = np.zeros(len(sizes), np.bool_)
    has_commands[np.searchsorted(events.start, commands.event[step == 1], side="right") - 1] = True
    is_over = ~is_left_out & ~has_commands & (sizes > 0)
    return Edits(commands.event, commands.batch, step, commands.taken, commands.put), is_over
