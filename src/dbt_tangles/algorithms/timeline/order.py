"""The converged order of every timeline and its edits, from a table of arrivals (ScuttleSort 2022-05-09, section 2)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.arrays import flags, keep_entries, starts, sums
from dbt_tangles.algorithms.graph.dense_ids import Nodes, group_rows, number_ids, number_nodes
from dbt_tangles.algorithms.graph.links import look_up
from dbt_tangles.algorithms.graph.orders import in_order, positions
from dbt_tangles.algorithms.graph.strings import lists_of, strings_of
from dbt_tangles.algorithms.graph.topological_generations import children, generations
from dbt_tangles.algorithms.timeline.admission import ACCEPTED, CYCLE, admit
from dbt_tangles.algorithms.timeline.arrivals import (
    causes_of_arrivals,
    causes_of_events,
    missing_causes,
    number_accepted,
)
from dbt_tangles.algorithms.timeline.cycle_breaking import cyclic_links
from dbt_tangles.algorithms.timeline.edits import edit_stream, number_steps
from dbt_tangles.algorithms.timeline.published import integers, read_published
from dbt_tangles.algorithms.timeline.schemas import INPUT_SCHEMA, PLACE_SCHEMA
from dbt_tangles.algorithms.timeline.timeline_rows import (
    Edits,
    cyclic_column,
    edit_column,
    missing_column,
    reason_column,
    scatter,
    script_columns,
    update_columns,
)
from dbt_tangles.algorithms.timeline.updates import updates
from dbt_tangles.kernel_runtime.spill_buffer import Rows, chunks_of

NO_LIMIT = 2**63 - 1
#: The columns that distinguish lines of one event, places last.
_SAID = [name for name in INPUT_SCHEMA.names if name not in ("timeline_id", "event_id")]


class Arrivals(NamedTuple):
    """The arrivals of all timelines, in order within each timeline.

    Attributes:
        start: int64[timelines + 1], into the arrivals.
        node: int32[arrivals].
        verdict: int8[arrivals], see `admission`.
        batch: int64[arrivals], from 1; 0 without edit scripts.
    """

    start: np.ndarray
    node: np.ndarray
    verdict: np.ndarray
    batch: np.ndarray


class Events(NamedTuple):
    """The admitted events, ascending by name within each timeline.

    Attributes:
        start: int64[timelines + 1], into the events.
        arrival: int32[events], the accepted arrival of each.
        cause_start: int64[events + 1], into the causes.
        cause: int32[...], events.
        number: int32[...], the event by the number of its name, or -1.
    """

    start: np.ndarray
    arrival: np.ndarray
    cause_start: np.ndarray
    cause: np.ndarray
    number: np.ndarray


def order_timelines(
    table: pa.Table | Rows, batch_size: int, edit_limit: int = NO_LIMIT, edit_command_limit: int = NO_LIMIT
) -> pa.Table:
    """Order the events of many timelines, and write the edit scripts that lead to the order.

    Events are ordered by rank, the longest path over known causes, then by name (code points). Arrivals are admitted in
    the order of their numbers; `admission.admit` states the reasons for a refusal. Messages are never refused: links
    that close a cycle are left out (`cycle_breaking.cyclic_links`).

    Args:
        table: One row per arrival, in any order, whole timelines only: `INPUT_SCHEMA`. `causes` are distinct;
            `refusal` is the reason of an arrival that was refused beforehand. `weak_causes` are the links that are left
            out first where there is a cycle: null for events, a list for messages. The messages of a timeline are
            distinct. Further rows with `is_published` true and the columns of `PUBLISHED_SCHEMA` hold the result of
            an earlier run for these timelines; all these columns are optional.
        batch_size: Number of arrivals, including refused ones, that share a script; 0 turns scripts off.
        edit_limit: Timelines with more arrivals have no scripts.
        edit_command_limit: Timelines whose scripts would take more commands in total have no scripts.

    Returns:
        One row per arrival (`PLACE_SCHEMA`), in the order of the input:
            `edit_batch_size` int32, the number of arrivals of its timeline that share a script, or 0;
            `edit_command_limit` int64, the limit of its timeline's scripts, null where scripts are off;
            `edits_left_out` string, `too_long` or `too_many_commands` where a limit left out its timeline's scripts,
            otherwise null;
            `ordinal` int64, its place among the timeline's arrivals, from 1;
            `reason` string, null for an accepted arrival, otherwise `duplicate`, `cycle` or the refusal. Accepted
            arrivals alone have `rank` int32, `position` int32 from 0, `is_tip` (whether the event is the cause of no
            other), `missing_causes` (listed ids without an event, sorted), `cyclic_causes` (links left out, sorted) and
            `edits`: the commands that concern this event, `from_position` null for its insertion. All commands of a
            timeline, by batch and step, turn an empty list into the order. They depend on the arrivals alone.
            `publication` string, a digest of the timeline's order, and `previous_publication`, the digest of the order
            that was published before; null for a new timeline, and where events have left it since. `update_step`,
            `update_from_position`, `update_to_position`: this event's command in the script from the earlier order to
            the new one.

    Raises:
        ValueError: An event_id is null.
        OverflowError: There are more than 2^31 - 1 rows or causes.
    """
    ids = strings_of(chunks_of(table, "event_id"))
    if not ids.valid.all():
        raise ValueError("an event_id is null")
    timeline, timeline_count = group_rows(strings_of(chunks_of(table, "timeline_id")))
    nodes = number_nodes(timeline, timeline_count, ids)
    name = number_ids(nodes, ids)
    is_new = np.ones(len(table), np.bool_)
    if "is_published" in table.column_names:
        is_new = ~flags(table, "is_published")

    # Admission.
    causes = lists_of(chunks_of(table, "causes"))
    list_start, list_end = causes.starts[nodes.row], causes.starts[nodes.row + 1]
    found = look_up(nodes, ids, causes, is_new[nodes.row], np.zeros(len(table), np.bool_))
    del causes
    start, node = in_order(nodes.graph_start, integers(table, "arrival")[nodes.row], is_new[nodes.row])
    _settle_ties(table, nodes, name, node)
    listed = causes_of_arrivals(node, name, list_start, list_end, found)
    refused = table["refusal"].is_valid().to_numpy()[nodes.row[node]]
    verdict = admit(start, name[node], *listed, refused)
    is_message = table["weak_causes"].is_valid().to_numpy()[nodes.row[node]]
    knotted = sums((verdict == CYCLE) & is_message, start) > 0
    cyclic = np.zeros(len(listed[1]), np.bool_)
    if knotted.any():
        weak = lists_of(chunks_of(table, "weak_causes"))
        found_weak = look_up(nodes, ids, weak, is_new[nodes.row], np.zeros(len(table), np.bool_))
        weak_links = causes_of_arrivals(node, name, weak.starts[nodes.row], weak.starts[nodes.row + 1], found_weak)
        cyclic = cyclic_links(name[node], *listed, *weak_links, np.repeat(knotted, np.diff(start)))
        verdict = admit(start, name[node], *keep_entries(*listed, ~cyclic), refused)
    ordinal = np.arange(len(node)) - np.repeat(start[:-1], np.diff(start)) + 1
    arrivals = Arrivals(start, node, verdict, (ordinal - 1) // batch_size + 1 if batch_size else np.zeros_like(ordinal))
    events = _events(arrivals, name, *keep_entries(*listed, ~cyclic))

    # The order.
    rank, position, is_tip = _places(events)

    # The published order, and the script from it to the new order.
    published = read_published(nodes, name, is_new)
    row = nodes.row[node]
    is_long = np.diff(start) > edit_limit
    edits, is_over = None, np.zeros(len(is_long), np.bool_)
    if batch_size:
        edits, is_over = _edits(arrivals, events, is_long, edit_command_limit)
    event_of_published = events.number[published.name]
    update = updates(table, ids, events.start, row[events.arrival], position, published, event_of_published)
    missing = missing_causes(events.arrival, node, name, list_start, list_end, found, events.number)

    # Back to rows.
    ours = np.flatnonzero(is_new)
    out = np.cumsum(is_new) - 1  # the place of each row in the result
    out_row, out_event = out[row], out[row[events.arrival]]
    cyclic_owner = np.repeat(out_row, np.diff(listed[0]))[cyclic]
    cyclic_row = row[events.arrival[events.number[listed[1][cyclic]]]]
    refusal = table["refusal"].cast(pa.string())
    if len(ours) < len(table):
        refusal = refusal.take(ours)
    timeline_of_row = pa.array(timeline[ours])
    is_in = scatter(len(ours), out_event, np.True_)
    columns = [
        *script_columns(timeline[ours], is_long, is_over, batch_size, edit_command_limit),
        pa.array(scatter(len(ours), out_row, ordinal)),
        reason_column(scatter(len(ours), out_row, verdict), refusal),
        pa.array(scatter(len(ours), out_event, rank), mask=~is_in),
        pa.array(scatter(len(ours), out_event, position), mask=~is_in),
        pa.array(scatter(len(ours), out_event, is_tip), mask=~is_in),
        missing_column(table["causes"], missing, out_event, is_in),
        cyclic_column(table["event_id"], cyclic_row, cyclic_owner, is_in),
        edit_column(edits, out_event, is_in),
        update.publication.take(timeline_of_row),
        update.previous_publication.take(timeline_of_row),
        *update_columns(
            update,
            number_steps(events.start, update.commands.event, update.commands.batch),
            out_event,
            table,
            len(ours),
        ),
    ]
    return pa.table(columns, schema=PLACE_SCHEMA)


def _events(arrivals: Arrivals, name: np.ndarray, cause_start: np.ndarray, cause: np.ndarray) -> Events:
    accepted = arrivals.verdict == ACCEPTED
    number, arrival = number_accepted(arrivals.node, name, accepted)
    start = starts(sums(accepted, arrivals.start))
    return Events(start, arrival, *causes_of_events(arrival, cause_start, cause, number), number)


def _places(events: Events) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rank and the position of each event, and whether it is a tip."""
    effects = children(events.cause_start, events.cause)
    rank = generations(events.start, events.cause_start, effects)
    return rank, positions(events.start, rank), np.diff(effects.start) == 0


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


def _edits(
    arrivals: Arrivals, events: Events, is_long: np.ndarray, edit_command_limit: int
) -> tuple[Edits, np.ndarray]:
    """Write the commands of all batches, except for timelines that are long or take more commands than the limit.

    Returns:
        The commands, and bool[timelines], the timelines that take more commands than the limit.
    """
    accepted = np.flatnonzero(arrivals.verdict == ACCEPTED)
    sizes = np.diff(events.start)
    arrived = np.empty(len(arrivals.node), np.int32)
    arrived[events.arrival] = np.arange(len(events.arrival), dtype=np.int32)
    stream = events.start, events.cause_start, events.cause, arrived[accepted], arrivals.batch[accepted]
    commands = edit_stream(*stream, np.where(is_long, sizes, 0), edit_command_limit)
    step = number_steps(events.start, commands.event, commands.batch)
    has_commands = np.zeros(len(sizes), np.bool_)
    has_commands[np.searchsorted(events.start, commands.event[step == 1], side="right") - 1] = True
    is_over = ~is_long & ~has_commands & (sizes > 0)
    return Edits(commands.event, commands.batch, step, commands.taken, commands.put), is_over
