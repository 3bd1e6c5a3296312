"""`tangles replay`: applies the published edit scripts and compares the result with the published order."""

import re
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from dbt_tangles.algorithms.timeline.verify_edits import Report, TableError, replay
from dbt_tangles.cli.missing_tables import describe_missing_tables
from dbt_tangles.cli.options import FOUND, NOT_FOUND, as_json, print_json_answer, with_tables
from dbt_tangles.cli.page import Page, quantity
from dbt_tangles.cli.tables import CommandError

_SHOWN = 20
_URI = re.compile(r"[a-z][a-z0-9+.-]*:/")


@click.command("replay")
@click.option("--timeline", "timelines", multiple=True, metavar="ID", help="Replay only this timeline; repeatable.")
@click.option("--updates", is_flag=True, help="Also undo the steps of timeline_updates, from last to first.")
@as_json
@with_tables
def command(timelines: tuple[str, ...], updates: bool, as_json: bool, warehouse: str, schema: str) -> int:
    """Replay timeline_edits and compare the resulting orders with timeline_events.

    The warehouse may also be a URI. Exit code 0: all timelines agree; 1: some differ.
    """
    folder = f"{warehouse.rstrip('/')}/{schema}.db"
    if not _URI.match(folder) and not Path(folder).is_dir():
        raise CommandError(describe_missing_tables(Path(warehouse), schema))
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("commands", total=None)

        def begin(total: int):
            progress.update(task, total=total)
            return lambda further: progress.advance(task, further)

        try:
            report = replay(folder, [*timelines] or None, updates, begin)
        except TableError as error:
            raise CommandError(str(error)) from error
    if as_json:
        print_json_answer({**report._asdict(), "agree": report.agree})
    else:
        _write(Page(), report)
    return NOT_FOUND if report.differ else FOUND


def _write(page: Page, report: Report) -> None:
    for name, wrong in [*report.differ.items()][:_SHOWN]:
        page.line(f"{name!r}: {wrong}")
    if len(report.differ) > _SHOWN:
        page.line(f"… and {len(report.differ) - _SHOWN} more (--json lists them)")
    page.line(
        f"{quantity(report.timelines, 'timeline{|s}')}, {quantity(report.events, 'event{|s}')}, "
        f"{quantity(report.commands, 'command{|s}')}: "
        f"{report.agree:,} agree, {len(report.differ):,} differ"
        + (f", {report.without_edits:,} without edits" if report.without_edits else "")
    )
