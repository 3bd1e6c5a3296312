"""Writes answers as lines of text: each template `NAME.txt` becomes lines of pieces with styles.

Two spaces at the beginning of a template's line are one step of indentation. Lines that begin with `%` are statements
of Jinja. A value that a template prints is escaped, so a text of a log is never more than one piece of a line.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from dbt_tangles.cli.duplicate_tangles import describe_alike, merge_equal
from dbt_tangles.cli.init import HERE
from dbt_tangles.cli.page import STYLES, Page, Piece, escape_unprintable, inflect, join_names, quantity, truncate

#: A plain text, or a style and its text between control characters, which values have only as escapes.
_PIECES = re.compile("([^\x01]+)|\x01(\\w+)\x02([^\x03]*)\x03")
_LONGEST_PATH = 60


@cache
def _environment() -> Any:
    # Imported here, because JSON answers do not need it.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    from dbt_tangles.cli import messages
    from dbt_tangles.cli.graph import label
    from dbt_tangles.cli.status import rebuild_command
    from dbt_tangles.cli.suggest import Ask, suggest
    from dbt_tangles.cli.verdict_counts import noun_of
    from dbt_tangles.why.feed import is_chain_whole, state
    from dbt_tangles.why.message import is_sealed, time_of
    from dbt_tangles.why.unknown import by_place

    def styled(style: str) -> Callable[[object], Markup]:
        return lambda text: Markup(f"\x01{style}\x02{escape_unprintable(text)}\x03")

    found = Environment(
        loader=FileSystemLoader([HERE / "cli", HERE / "why"]),
        line_statement_prefix="%",
        undefined=StrictUndefined,
        autoescape=True,  # Together with `finalize`, which keeps the results of filters and macros as they are.
        finalize=lambda value: value if isinstance(value, Markup) else Markup(escape_unprintable(value)),
    )
    found.filters |= {name: styled(style) for name, style in STYLES.items()}
    found.filters |= {"number": "{:,}".format, "quantity": quantity, "inflect": inflect, "names": join_names}
    found.filters |= {"indefinite": "a {}".format, "end_of_path": _end_of_path}
    found.filters["cut"] = lambda text, length=100: truncate(text or "", length)
    found.tests["ending"] = str.endswith
    functions = (is_chain_whole, is_sealed, state, time_of, label, by_place, noun_of, rebuild_command)
    found.globals |= {each.__name__: each for each in (*functions, describe_alike, merge_equal)}
    found.globals |= {"messages": messages, "command": lambda *words: suggest(Ask.of(*words))}
    macros = vars(found.get_template("macros.txt").module)
    found.globals |= {name: each for name, each in macros.items() if callable(each)}
    return found


def _end_of_path(path: str) -> str:
    """Return the end of a long path, from a slash on."""
    end = path[-_LONGEST_PATH:]
    return path if end == path else f"…{end[max(end.find('/'), 0) :]}"


def lines_of(kind: str, answer: dict, **more: Any) -> Iterator[tuple[int, list[Piece]]]:
    """Yield the lines of an answer: the indentation of each, and its pieces."""
    text = _environment().get_template(f"{kind}.txt").render(answer=answer, **more)
    for line in text.split("\n"):
        indent = (len(line) - len(line.lstrip(" "))) // 2
        if words := line[2 * indent :].rstrip():
            yield indent, [plain or (styled, style) for plain, style, styled in _PIECES.findall(words)]


def write(page: Page, kind: str, answer: dict, **more: Any) -> None:
    """Print an answer; `more` has further names of its template."""
    for indent, pieces in lines_of(kind, answer, **more):
        page.line(*pieces, indent=indent)
