"""Prints answers and progress on a terminal.

Texts are escaped: logs may hold commands of terminals and of GitHub Actions.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from dbt_tangles.cli import BEGIN

#: Tells the current step, the number of things that are done, and their total, if it is known.
Tell = Callable[[str, int, int | None], None]
#: A piece of a line: a text, or a text and its style.
Piece = str | tuple[str, str]

STYLES = {"good": "green", "bad": "red", "dim": "dim", "strong": "bold", "id": "cyan"}
GOOD, BAD, DIM, STRONG, ID = STYLES.values()
_COLONS = re.compile(r"^( *)::")
_FORMS = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")


def inflect(n: int, words: str) -> str:
    """Make words agree with a number: replace each `{one|many}` by its first part for 1, else by its second."""
    return _FORMS.sub(lambda match: match[1 if n == 1 else 2], words)


def quantity(n: int, words: str) -> str:
    """Write a number and words that agree with it: `counted(2, "message{|s}")` is `2 messages`."""
    return f"{n:,} {inflect(n, words)}"


def join_names(names: Sequence[str]) -> str:
    """Join names for a sentence: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def escape_unprintable(text: object) -> str:
    """Escape every character that is not printable, so that a terminal shows the text and does not act on it.

    These are control characters, line ends, marks of text direction, lone surrogates and the like.
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def escape_line(text: object) -> str:
    """Escape a line of output: unprintable characters, and the signs of a workflow command of GitHub Actions.

    The runner of a workflow obeys a line that begins with `::`.
    """
    return _COLONS.sub(r"\1:\\x3a", escape_brackets(escape_unprintable(text)))


def escape_brackets(text: str) -> str:
    """Escape every `##[`, with which a workflow command may begin at any place of a line."""
    return text.replace("##[", r"##\x5b")


def to_json_text(value: Any, **options: Any) -> str:
    """Write a value as JSON in ASCII, without control characters and signs of a workflow command."""
    return json.dumps(value, **options).replace("##[", "##\\u005b")


def truncate(text: str, length: int = 60) -> str:
    """Truncate a text to a number of characters."""
    return text if len(text) <= length else text[: length - 1] + "…"


class Page:
    """Lines of an answer in text form."""

    def __init__(self) -> None:
        # Imported here, because JSON answers do not need it.
        from rich.console import Console
        from rich.text import Text

        self._text = Text
        #: Shortens names of files in texts.
        self.shorten: Callable[[str], str] = str
        self.console = Console(markup=False, emoji=False, highlight=False, soft_wrap=True)

    @property
    def is_unicode(self) -> bool:
        """Whether the output's encoding has box-drawing characters."""
        return self.console.encoding.startswith("utf")

    def line(self, *pieces: Piece, indent: int = 0) -> None:
        """Print a line."""
        line = self._text("  " * indent)
        for piece in pieces:
            text, style = (piece, "") if isinstance(piece, str) else piece
            line.append(escape_unprintable(self.shorten(text)), style)
        if (escaped := escape_line(line.plain)) != line.plain:
            line = self._text(escaped)
        self.console.print(line)


def print_json(value: Any) -> None:
    """Print a value as JSON, see `to_json_text`."""
    print(to_json_text(value, indent=2, default=str))


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
