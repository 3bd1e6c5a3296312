"""Markdown for the pages of figures: escaped texts, numbers with their significant digits, and tables."""

import html
import re
from collections.abc import Sequence
from typing import Any

LONGEST = 160  # characters of a text in a cell


def is_number(value: Any) -> bool:
    """Whether a value is a number that can be a figure."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15


def plain(value: Any) -> str:
    """Write a value as one line of text without meaning in Markdown or HTML; `?` for a list or an object."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_number(value):
        return number(value)
    if not isinstance(value, str):
        return "?"
    text = " ".join(value.split())
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    text = "".join(letter for letter in text if letter.isprintable())
    return re.sub(r"([\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))", r"\\\1", html.escape(text, quote=False))


def number(value: float) -> str:
    """Write a number: whole from 1,000 on, with two decimals from 1 on, below that with five."""
    if isinstance(value, int) or value == round(value):
        return f"{round(value):,}"
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    if abs(value) < 1e-5:
        return f"{value:.1e}"
    return f"{value:.{2 if abs(value) >= 1 else 5}f}".rstrip("0").rstrip(".")


def code(value: Any) -> str:
    """Write a name, such as a commit's, as code; other values as text."""
    text = str(value)
    return f"`{text}`" if re.fullmatch(r"[\w.+-]{1,60}", text, re.ASCII) else plain(value)


def minutes(date: Any) -> str:
    """Write an ISO time in UTC without its seconds; other values as text."""
    pattern = r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(\.\d+)?)?(\+00:00|Z)"
    found = re.fullmatch(pattern, date if isinstance(date, str) else "")
    return f"{found[1]} {found[2]}" if found else plain(date)


def markdown(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Lay out a table; the lines. Short rows get empty cells."""
    lines = [head, ["---"] * len(head), *([*row, *[""] * (len(head) - len(row))] for row in rows)]
    return ["| " + " | ".join(map(str, line)) + " |" for line in lines]
