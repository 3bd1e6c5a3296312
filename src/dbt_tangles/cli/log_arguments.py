"""The argument LOG of commands: files, folders, globs, and `-` for the standard input; options of logs."""

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbt_tangles.cli.page import escape_unprintable, quantity
from dbt_tangles.cli.tables import CommandError

if TYPE_CHECKING:
    from dbt_tangles.lint.log_files import LogFile

#: Kind of log: its var.
LOG_VARS = {"ssb": "ssb_log", "pzp": "pzp_log", "autobase": "autobase_log", "events": "event_log"}
of_kind = click.option(
    "--kind", type=click.Choice([*LOG_VARS]), help="The kind of the logs, if their lines do not tell it."
)
in_blocks = click.option(
    "--pretty", is_flag=True, help="Objects are separated by blank lines (ssb_log_format: pretty)."
)
#: The name of a file with the text of the standard input.
STANDARD_INPUT = "<stdin>"


def group_logs(
    logs: Sequence[str], kind: str | None, is_pretty: bool
) -> tuple[dict[str, list["LogFile"]], dict[str, list["LogFile"]]]:
    """List the files by log, and by kind of log; tell how many files a folder has, or a glob with several."""
    # Imported here, because the readers of logs load slowly.
    from dbt_tangles.lint import findings, log_files

    found = {log: log_files.find_files(log) for log in logs}
    for log, files in found.items():
        if len(files) > 1 or os.path.isdir(log):
            click.echo(escape_unprintable(f"{log}: {quantity(len(files), 'file{|s}')}"), err=True)
    files = [file for each in found.values() for file in each]
    return found, findings.group_by_kind(files, findings.reading_of(kind, is_pretty), kind)


@contextmanager
def with_standard_input(logs: Sequence[str], folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield the logs; the standard input, if it is one of them, is a file in a folder until the context ends."""
    if "-" not in logs:
        yield tuple(logs)
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / STANDARD_INPUT
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CommandError(f"{path}: another command reads its standard input here; wait for its end") from error
        try:
            file.truncate(0)
            shutil.copyfileobj(click.get_binary_stream("stdin"), file)
            file.flush()
            yield tuple(str(path) if log == "-" else log for log in logs)
        finally:
            path.unlink(missing_ok=True)
