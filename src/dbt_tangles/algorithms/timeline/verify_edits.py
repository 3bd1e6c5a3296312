"""Replays published edits and compares the result with the published order, for `tangles check`.

A `Replica` applies each timeline's edits and must end with the order of `timeline_events`. The tables are parquet files
in a folder or behind a URI. The replay needs no Spark and validates all values that it reads.

Source: ScuttleSort 2022-05-09, section 3: replicas are built, and kept in sync, by commands alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from dbt_tangles.algorithms.timeline.replica import EditError, Replica, follow

#: Ids as large strings: all ids of a column may be longer than two gigabytes.
_ID, _NUMBER = pa.large_string(), pa.int64()
_EVENT = {"timeline_id": _ID, "event_id": _ID}
_COMMAND = _EVENT | {"step": _NUMBER, "op": pa.string(), "from_position": _NUMBER, "to_position": _NUMBER}
#: By table, the columns that sort the rows of a timeline, and the columns with their types.
_TABLES = {
    "timeline_events": (["position"], _EVENT | {"position": _NUMBER}),
    "timeline_edits": (["batch", "step"], _COMMAND | {"batch": _NUMBER}),
    "timeline_updates": (["step"], _COMMAND | {"previous_publication": _ID}),
}
_STATS = {"timeline_id": _ID, "edit_count": _NUMBER}
_MAY_BE_NULL = {"from_position", "previous_publication"}

_AT_ONCE = 1 << 16  # Number of commands that are Python objects at a time.


class TableError(Exception):
    """A table that is missing or malformed."""


class Sorted(NamedTuple):
    """A table by timeline."""

    columns: dict[str, pa.Array]  # its columns in order of timeline, then of the keys
    start: list[int]  # the first row of each timeline, and the end of the last

    def values(self, column: str, first: int, end: int) -> list:
        """Return some rows of a column as Python objects."""
        return self.columns[column][first:end].to_pylist()

    def commands(self, first: int, end: int) -> Iterator[tuple]:
        """Return some rows as commands."""
        names = ("op", "event_id", "from_position", "to_position")
        return zip(*(self.values(name, first, end) for name in names), strict=True)


class Report(NamedTuple):
    """The result of a replay."""

    timelines: int  # Number of timelines
    events: int  # Number of their events
    commands: int  # Number of replayed commands
    without_edits: int  # Number of timelines that were built without edits
    differ: dict[str, str]  # The problem of each timeline that differs

    @property
    def agree(self) -> int:
        """Number of timelines that agree."""
        return self.timelines - len(self.differ) - self.without_edits


def replay(folder: str, tell: Callable[[int, int], object] = lambda done, total: None) -> Report:
    """Replay the edits of timelines, compare with their published order, and undo the latest updates.

    Args:
        folder: Path or URI of the folder with the tables.
        tell: Called with the number of replayed commands and the number of all.

    Raises:
        TableError: The tables cannot be replayed.
    """
    tables = [_read(folder, name, types) for name, (_, types) in _TABLES.items()]
    if len(tables[0]) and not len(tables[1]):
        wanted = "build with `edit_batch_size` above 0, and `log_timeline: full` for the log's timeline"
        raise TableError(f"{folder}/timeline_edits: there are no edits; {wanted}")
    names, (events, edits, updates) = _sort(tables)
    without_edits = _without_edits(folder)
    differ, left_out = {}, 0
    for timeline, name in enumerate(names):
        wrong = None
        if name in without_edits and edits.start[timeline] == edits.start[timeline + 1]:
            left_out += 1
        else:
            wrong = _check_edits(events, edits, timeline, lambda done: tell(done, len(tables[1])))
        wrong = wrong or _check_updates(events, updates, timeline)
        if wrong:
            differ[name] = wrong
    return Report(len(names), len(tables[0]), len(tables[1]), left_out, differ)


def _read(folder: str, name: str, types: dict[str, pa.DataType]) -> pa.Table:
    """Read the columns of a table.

    Raises:
        TableError: The table is missing or unreadable, or a column is missing, has another type, or holds a null.
    """
    # Spark has a scheme of its own for the same store.
    where = f"{folder.rstrip('/')}/{name}".replace("s3a://", "s3://", 1)
    try:
        dataset = ds.dataset(where, format="parquet")
        missing = [column for column in types if column not in dataset.schema.names]
        if missing:
            raise TableError(f"{where}: no column {missing[0]}; is that a table of this project?")
        table = dataset.to_table(columns=list(types)).cast(pa.schema(list(types.items())))
        table.validate(full=True)
    except FileNotFoundError:
        hint = "build it with `dbt build`, or name the warehouse with --warehouse"
        raise TableError(f"{where}: there is no such table; {hint}") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(f"{where}: cannot be read: {error}") from error
    for column in types:
        if column not in _MAY_BE_NULL and table[column].null_count:
            raise TableError(f"{where}: {column} is null in {table[column].null_count} rows; build the table again")
    return table


def _without_edits(folder: str) -> set[str]:
    """List the timelines without edits, by `timeline_stats`; an empty list where that table is missing."""
    try:
        stats = _read(folder, "timeline_stats", _STATS)
    except TableError:
        return set()
    return set(stats.filter(pc.equal(stats["edit_count"], 0))["timeline_id"].to_pylist())


def _sort(tables: list[pa.Table]) -> tuple[list[str], list[Sorted]]:
    """Sort `_TABLES` by timeline; return the timelines of all tables, ascending, and the tables."""
    names = pc.unique(pa.chunked_array([chunk for table in tables for chunk in table["timeline_id"].chunks], _ID))
    names = names.take(pc.sort_indices(names))
    found = []
    for table, (keys, _) in zip(tables, _TABLES.values(), strict=True):
        number = pc.index_in(table["timeline_id"], names)
        ordered = pa.table({"timeline": number, **{key: table[key] for key in keys}})
        order = pc.sort_indices(ordered, [(name, "ascending") for name in ordered.column_names])
        start = np.searchsorted(number.take(order).to_numpy(), np.arange(len(names) + 1)).tolist()
        found.append(Sorted({name: table[name].combine_chunks().take(order) for name in table.column_names}, start))
    return names.to_pylist(), found


def _check_edits(events: Sorted, edits: Sorted, timeline: int, tell: Callable[[int], object]) -> str | None:
    """Replay a timeline's edits; return the problem. `tell` gets the number of commands replayed so far."""
    first, end = events.start[timeline], events.start[timeline + 1]
    positions = events.columns["position"][first:end].to_numpy()
    wrong = np.flatnonzero(positions != np.arange(len(positions)))
    if len(wrong):
        return f"timeline_events has no position {wrong[0]}, or has it twice"
    replica = Replica()
    last = edits.start[timeline + 1]
    for begin in range(edits.start[timeline], last, _AT_ONCE):
        stop = min(begin + _AT_ONCE, last)
        try:
            follow(edits.commands(begin, stop), replica)
        except EditError as error:
            batch, step = (edits.columns[name][begin + error.place].as_py() for name in ("batch", "step"))
            return f"timeline_edits, batch {batch}, step {step}: {error.problem}"
        tell(stop)
    return _first_difference(replica.order(), events.values("event_id", first, end))


def _first_difference(ours: list, published: list) -> str | None:
    """Describe the first difference of two orders."""
    for position, (mine, theirs) in enumerate(zip(ours, published, strict=False)):
        if mine != theirs:
            return f"at position {position} the edits put {mine!r}, published is {theirs!r}"
    if len(ours) == len(published):
        return None
    return f"the edits make {len(ours)} events, published are {len(published)}"


def _check_updates(events: Sorted, updates: Sorted, timeline: int) -> str | None:
    """Follow a timeline's latest script backwards, from the published order; return the problem.

    Each command must have put its event at the position where the event is found. The remaining events are the order
    that was published before. Where the script leads from the empty order, no event may remain.
    """
    first, end = updates.start[timeline], updates.start[timeline + 1]
    if first == end:
        return None
    replica = Replica(events.values("event_id", events.start[timeline], events.start[timeline + 1]))
    steps, commands = updates.values("step", first, end), list(updates.commands(first, end))
    for step, (op, event, taken, put) in zip(reversed(steps), reversed(commands), strict=True):
        where = f"timeline_updates, step {step}"
        if op not in ("ins", "mov") or (op == "ins") != (taken is None):
            return f"{where}: it is neither an ins nor a mov: {op!r}, from {taken}, to {put}"
        try:
            found = replica.take(put)
            if found != event:
                return f"{where}: it puts {event!r} at {put}, but {found!r} is there"
            if op == "mov":
                replica.on_insert(taken, event)
        except IndexError as error:
            return f"{where} ({op} {event!r}): {error}"
    previous = set(updates.values("previous_publication", first, end))
    if len(previous) > 1:
        return "timeline_updates names more than one previous_publication"
    if previous == {None} and len(replica):
        return f"timeline_updates starts from nothing, but {len(replica)} events are there without it"
    return None
