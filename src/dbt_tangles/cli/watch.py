"""`tangles watch`: builds the tables whenever a log has grown, and says in words which verdicts changed."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import click

from dbt_tangles.cli import build, watch_changes
from dbt_tangles.cli.log_arguments import find_logs
from dbt_tangles.cli.options import FOUND, NOT_FOUND, as_json, print_json_line, with_tables
from dbt_tangles.cli.page import Page
from dbt_tangles.cli.tables import CommandError, Tables

#: The folder below `build.OWN_FOLDER` with links to the tables before a build.
_BEFORE = "before"


class Settings(NamedTuple):
    """The logs, and the options of `tangles build`."""

    logs: tuple[str, ...]
    place: Path
    schema: str
    options: tuple[str, ...]


@click.command("watch")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option(
    "--every",
    default=10.0,
    show_default=True,
    type=click.FloatRange(min=0.1),
    metavar="SECONDS",
    help="The shortest time between two builds.",
)
@click.option(
    "--builds", type=click.IntRange(min=1), metavar="N", help="Stop after N builds; default: when interrupted."
)
@build.with_build_options
@as_json
@with_tables
def command(
    logs: tuple[str, ...],
    every: float,
    builds: int | None,
    given: tuple[str, ...],
    as_json: bool,
    warehouse: str,
    schema: str,
    **choices: str | None,
) -> int:
    """Build the tables of logs now and whenever a log changes, and print the changes of verdicts.

    Changes are new and unblocked members of tangles, messages that were set aside, forks, reordered timelines, items of
    sets, settled nodes of bases, and rejected lines. Exit code 1: the last build failed.
    """
    options = [word for name, value in choices.items() if value for word in (f"--{name}", value)]
    options += [word for each in given for word in ("--var", each)]
    settings = Settings(logs, Path(warehouse).absolute(), schema, tuple(options))
    state, built, count, code = state_of(logs), None, 0, FOUND
    try:
        while True:
            if state != built:
                built, count = state, count + 1
                code = _build_and_tell(settings, as_json)
            if count == builds:
                return code
            time.sleep(every)
            with suppress(CommandError):  # A file may be missing while it is being replaced.
                state = state_of(logs)
    except KeyboardInterrupt:
        return code


def state_of(logs: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the files of the logs, each with its size and the time of its last change.

    Raises:
        CommandError: Files are missing at a path.
    """
    files = [file.path for each in find_logs(logs).values() for file in each]
    try:
        found = [
            os.lstat(file) if os.path.islink(file) and not os.path.exists(file) else os.stat(file) for file in files
        ]
    except FileNotFoundError as error:
        raise CommandError(str(error)) from error
    return [(file, stat.st_size, stat.st_mtime_ns) for file, stat in zip(files, found, strict=True)]


def _build_and_tell(settings: Settings, as_json: bool) -> int:
    """Build once, and print the changes; return the exit code of the build.

    Raises:
        CommandError: The build did not begin.
    """
    before = settings.place / build.OWN_FOLDER / _BEFORE
    had_tables = link_tables(settings.place / f"{settings.schema}.db", before / f"{settings.schema}.db")
    begin = time.monotonic()
    code = _build(settings)
    now = Tables(settings.place, settings.schema)
    changes = watch_changes.find_changes(Tables(before, settings.schema), now) if had_tables else None
    answer = {"is_success": code == FOUND, "seconds": round(time.monotonic() - begin, 1), "changes": changes}
    if as_json:
        print_json_line(answer)
    else:
        _write(Page(), answer)
    return code


def _build(settings: Settings) -> int:
    """Run `tangles build` in a process of its own, because dbt keeps state; its progress goes to the standard error."""
    words = [
        sys.executable,
        "-m",
        "dbt_tangles.cli.cli",
        "build",
        *settings.logs,
        *settings.options,
        "--no-tests",
        "--json",
    ]
    words += ["--warehouse", str(settings.place), "--schema", settings.schema]
    done = subprocess.run(words, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (FOUND, NOT_FOUND):
        raise CommandError("the build did not begin; the lines above have the cause")
    return done.returncode


def link_tables(tables: Path, target: Path) -> bool:
    """Link the files of the tables that `watch_changes` compares; return whether there are tables.

    Builds replace files and never change them, so the links keep the rows of the moment.
    """
    shutil.rmtree(target, ignore_errors=True)
    for name in watch_changes.TABLES:
        (target / name).mkdir(parents=True)
        for file in (tables / name).glob("*.parquet"):
            try:
                os.link(file, target / name / file.name)
            except OSError:  # The file system has no links.
                shutil.copy2(file, target / name / file.name)
    return (tables / "runs").is_dir()


def _write(page: Page, answer: dict) -> None:
    failed = "" if answer["is_success"] else ", and steps failed (`tangles status` lists them)"
    page.line(f"built in {answer['seconds']:,} s{failed}")
    if answer["changes"] is None:
        page.line("  the first tables of this warehouse; later builds list their changes")
    for change in answer["changes"] or []:
        page.line(f"  {change['words']}")
        for each in change["shown"]:
            page.line(f"    {each}")
        if change["count"] > len(change["shown"]):
            page.line(f"    … and {change['count'] - len(change['shown']):,} more")
    if answer["changes"] == []:
        page.line("  no verdict changed")
