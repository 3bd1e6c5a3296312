"""Replays the edit scripts of a warehouse with a progress bar, for `tangles check` without a file."""

import re
from pathlib import Path

from dbt_tangles.algorithms.timeline.verify_edits import Report, TableError, replay
from dbt_tangles.cli.missing_tables import describe_missing_tables
from dbt_tangles.cli.options import FOUND, NOT_FOUND, print_json_answer
from dbt_tangles.cli.page import Page, quantity
from dbt_tangles.cli.progress import progress_bar
from dbt_tangles.cli.tables import CommandError

_SHOWN = 20
_URI = re.compile(r"[a-z][a-z0-9+.-]*:/")


def check_edits(warehouse: str, schema: str, as_json: bool) -> int:
    """Print whether the edit scripts lead to the published orders, and back from them; return the exit code.

    Raises:
        CommandError: The tables are missing or malformed, or have no edit scripts.
    """
    folder = f"{warehouse.rstrip('/')}/{schema}.db"
    if not _URI.match(folder) and not Path(folder).is_dir():
        raise CommandError(describe_missing_tables(Path(warehouse), schema))
    with progress_bar("reading the edit scripts") as tell:
        try:
            report = replay(folder, lambda done, total: tell("replaying the edit scripts", done, total))
        except TableError as error:
            raise CommandError(str(error)) from error
    if as_json:
        print_json_answer({"edits": {**report._asdict(), "agree": report.agree}})
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
