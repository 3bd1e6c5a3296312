"""`tangles follow`: keeps a replica of a timeline in an SQLite file (ScuttleSort 2022-05-09, figure 1)."""

import time
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

import click

from dbt_tangles.algorithms.timeline.replica import EditError
from dbt_tangles.cli.missing_tables import explain_absence
from dbt_tangles.cli.options import FOUND, NOT_FOUND, as_json, print_json_line, with_tables
from dbt_tangles.cli.page import escape_line, quantity
from dbt_tangles.cli.sqlite_replica import LockedError, SqliteReplica
from dbt_tangles.cli.suggest import examples
from dbt_tangles.cli.tables import CommandError, Tables


class Step(NamedTuple):
    """One look at the tables: the way the file was brought up to date, and its effects."""

    timeline_id: str
    publication: str
    way: str  # `unchanged`, `update`, `script` or `load`
    commands: int
    rows_written: int
    events: int


@click.command("follow", epilog=examples("follow ssb:log --into log.db", "follow ssb:log --into log.db --every 5"))
@click.argument("timeline")
@click.option("--into", "path", required=True, type=click.Path(dir_okay=False), metavar="FILE", help="The SQLite file.")
@click.option("--every", type=click.FloatRange(min=0.1), metavar="SECONDS", help="Look again, until interrupted.")
@as_json
@with_tables
def command(timeline: str, path: str, every: float | None, as_json: bool, warehouse: str, schema: str) -> int:
    """Keep a timeline in an SQLite file, by the commands of timeline_updates.

    The view `positions` of the file has the order, the table `events` the contents of SSB messages. A file that has
    missed publications, or is new, catches up from timeline_events. While another program has locked the file, the
    command waits for at most 30 s; with --every it then goes on. Exit code 1: there is no such timeline.
    """
    if Path(path).resolve().is_relative_to(Path(warehouse).resolve()):  # Builds move and remove the folders there.
        raise CommandError(f"{path}: the file is inside the warehouse {warehouse}; name a file outside of it")
    with suppress(KeyboardInterrupt) if every else nullcontext():
        while True:
            try:
                step = _look(warehouse, schema, path, timeline)
            except LockedError as error:
                if not every:
                    raise
                click.echo(escape_line(f"tangles: {error}; the next try is in {every:g} s"), err=True)
            else:
                if step is None:
                    click.echo(escape_line(f"tangles: {timeline}: timeline_events has no such timeline"), err=True)
                    return NOT_FOUND
                if step.way != "unchanged" or not every:
                    _print(step, as_json)
                if not every:
                    return FOUND
            time.sleep(every)
    return FOUND


def _look(warehouse: str, schema: str, path: str, timeline_id: str) -> Step | None:
    """Bring the replica of a timeline to the published order; return None if the tables do not have the timeline.

    The latest update is applied if the replica holds the order where it begins. Otherwise the shortest script from the
    replica's order is computed, or the order is loaded if the replica lacks the timeline or events have left it.
    """
    replica = SqliteReplica(path)
    tables = Tables(warehouse, schema)
    for name in ("timeline_events", "timeline_updates"):
        if not tables.has(name):
            raise CommandError(f"{tables.folder}: {explain_absence(tables, name)}")
    held = replica.publication(timeline_id)
    update = tables.rows(
        "select op, event_id, from_position, to_position, previous_publication, publication from timeline_updates "
        "where timeline_id = $timeline order by step",
        timeline=timeline_id,
    )
    publication, previous = (update[0]["publication"], update[0]["previous_publication"]) if update else (None, None)
    commands, written = [], 0
    columns = ("op", "event_id", "from_position", "to_position")
    if held is not None and held in (publication, previous):
        way = "unchanged" if held == publication else "update"
        commands = [tuple(row[column] for column in columns) for row in update if way == "update"]
    else:
        sql = "select event_id from timeline_events where timeline_id = $timeline order by position"
        order = [row["event_id"] for row in tables.rows(sql, timeline=timeline_id)]
        if not order:
            return None
        publication, earlier = _name(order), replica.order(timeline_id)
        has_left = held is None or not {*earlier} <= {*order}
        way = "unchanged" if held == publication else "load" if has_left else "script"
        if way == "script":
            from dbt_tangles.algorithms.timeline.edits import script_between  # Needs numba.

            commands = script_between(earlier, order)
    if way == "load":
        written = replica.load(timeline_id, _contents(tables, timeline_id, order), publication)
    elif way != "unchanged":
        inserted = _contents(tables, timeline_id, [event for op, event, _, _ in commands if op == "ins"])
        try:
            written = replica.apply(timeline_id, commands, inserted, publication)
        except EditError as error:
            raise CommandError(
                f"{timeline_id}: the file holds another order than it says ({error}); delete it"
            ) from error
    return Step(timeline_id, publication, way, len(commands), written, replica.count_events(timeline_id))


def _contents(tables: Tables, timeline_id: str, event_ids: list[str]) -> list[dict]:
    """Read the contents of the SSB messages of a timeline; events of other logs have their author alone."""
    contents = {event: dict.fromkeys(("author", "sent_at", "content_type", "content")) for event in event_ids}
    events = "timeline_events where timeline_id = $timeline and event_id in (select unnest($ids))"
    for sql in (
        f"select event_id, author from {events}",
        "select message_id as event_id, author, asserted_ms as sent_at, content_type, content "
        f"from ssb_messages where message_id in (select message_id from {events})",
    ):
        for row in tables.rows(sql, timeline=timeline_id, ids=event_ids):
            contents[row.pop("event_id")].update(row)
    return [{"event_id": event, **content} for event, content in contents.items()]


def _name(order: list[str]) -> str:
    """Return the publication of an order, as `timeline_updates` names it."""
    import pyarrow as pa

    from dbt_tangles.algorithms.timeline.updates import name_order

    return name_order(pa.array(order, pa.string()))


def _print(step: Step, as_json: bool) -> None:
    if as_json:
        print_json_line(step._asdict())
        return
    commands = quantity(step.commands, "command{|s}")
    words = {"update": f"{commands} of the latest update", "script": f"{commands} to catch up", "load": "loaded"}
    written, events = quantity(step.rows_written, "row{|s}"), quantity(step.events, "event{|s}")
    said = f"{step.timeline_id}: {words.get(step.way, step.way)}, {written} written; {events}"
    click.echo(escape_line(said))
