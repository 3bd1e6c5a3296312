"""What the terminal shows. All text goes through `plain`: logs are hostile, and a terminal obeys what it is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

#: A piece of a line: text, or text and how it looks.
Piece = str | tuple[str, str]

GOOD, BAD, DIM, STRONG, ID = "green", "red", "dim", "bold", "cyan"
_SHOWN = 10
_FORMS = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")


def agreeing(n: int, words: str) -> str:
    """Make words agree with a number: of each `{one|many}` in them the first for 1, else the second."""
    return _FORMS.sub(lambda match: match[1 if n == 1 else 2], words)


def counted(n: int, words: str) -> str:
    """Write a number, and words that agree with it, as in `counted(2, "message{|s}")`."""
    return f"{n:,} {agreeing(n, words)}"


def listed(names: Sequence[str]) -> str:
    """Write names as a list in a sentence."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def plain(text: object) -> str:
    """Write a text so that a terminal shows it and does nothing else.

    Control characters, line ends, marks that turn the direction of text, lone surrogates and all else that is not
    printable become escapes.
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def short(text: str, length: int = 60) -> str:
    """Cut a text."""
    return text if len(text) <= length else text[: length - 1] + "…"


class Page:
    """Lines for people."""

    def __init__(self, file: TextIO | None = None, **options: Any) -> None:
        # Here, as answers in JSON do without.
        from rich.console import Console
        from rich.text import Text

        self._text = Text
        self.console = Console(file=file, markup=False, emoji=False, highlight=False, soft_wrap=True, **options)

    @property
    def is_unicode(self) -> bool:
        """Whether what shows the page can draw lines and dots."""
        return self.console.encoding.startswith("utf")

    def line(self, *pieces: Piece, indent: int = 0) -> None:
        """Print a line."""
        line = self._text("  " * indent)
        for piece in pieces:
            text, style = (piece, "") if isinstance(piece, str) else piece
            line.append(plain(text), style)
        self.console.print(line)

    def ids(self, label: str, ids: Iterable[str], indent: int = 0, none: str | None = None) -> None:
        """Print a label with ids, each on a line of its own where there are several; at most a few."""
        ids = list(ids)
        if not ids:
            if none is not None:
                self.line(label, " ", (none, DIM), indent=indent)
            return
        if len(ids) == 1:
            self.line(label, " ", (ids[0], ID), indent=indent)
            return
        self.line(label, indent=indent)
        for each in ids[:_SHOWN]:
            self.line((each, ID), indent=indent + 1)
        if len(ids) > _SHOWN:
            self.line((f"… and {len(ids) - _SHOWN:,} more (--json has them)", DIM), indent=indent + 1)


def print_json(value: Any, file: TextIO | None = None) -> None:
    """Print a value for programs: ASCII alone, so that nothing of it reaches a terminal."""
    print(json.dumps(value, indent=2, default=str), file=file)
