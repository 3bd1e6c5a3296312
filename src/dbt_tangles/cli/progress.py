"""Shows progress on the standard error: lines with the time since the process began and, on a terminal, a bar."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from dbt_tangles.cli import BEGIN
from dbt_tangles.cli.page import escape_line

#: Tells the current step, the number of things that are done, and their total, if it is known.
Tell = Callable[[str, int, int | None], None]


def say(words: str, is_timed: bool = False) -> None:
    """Write a line, which begins with the time if it is timed."""
    time_spent = f"{time.monotonic() - BEGIN:>6.1f} s  " if is_timed else ""
    click.echo(escape_line(f"{time_spent}{words}"), err=True)


@contextmanager
def progress_bar(step: str) -> Iterator[Tell]:
    """Show a bar with the current step until the context ends, on a terminal only; yield the function that moves it."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    # Imported here, because a bar is seldom shown.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as progress:
        task = progress.add_task(step, total=None)
        progress.tasks[0].start_time = BEGIN

        def tell(step: str, done: int, total: int | None = None) -> None:
            progress.update(task, description=escape_line(step), completed=done, total=total)

        yield tell
