"""Loads the queries of the report: each is a file of DuckDB SQL on the warehouse's tables, which users can copy.

The first line of a file is a comment: `-- Report, PLACES: text.`, with the places of the report that show its rows. The
rest is one `select`; `$name` stands for a value. Values are bound parameters, so a log cannot inject SQL.
"""

import functools
import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
_HEAD = re.compile(r"-- Report, ([a-z ]+(?:, [a-z ]+)*): (.+\.)\n")
_SECTION = re.compile(r"^-- (\w+): .+\.\n", re.M)
_VERDICT = re.compile(r"select\n    (.+?) as verdict,\n", re.DOTALL)


class Query(NamedTuple):
    """A query of the report."""

    places: tuple[str, ...]  # The places of the report that show its rows, as `tangles` or `over time`
    text: str  # The content of its rows
    sql: str  # The query


def text_of(name: str) -> str:
    """Return the content of a query's file."""
    return (FOLDER / f"{name}.sql").read_text(encoding="utf-8")


@functools.cache
def sections(module: str, name: str | None = None) -> dict[str, str]:
    """Read the several queries of the `.sql` file beside a module, of its own or another name.

    Each query begins with a line `-- NAME: text.`.
    """
    path = Path(module).with_name(f"{name or Path(module).stem}.sql")
    _, *parts = _SECTION.split(path.read_text(encoding="utf-8"))
    return {name: sql.strip() for name, sql in zip(parts[::2], parts[1::2], strict=True)}


def names() -> list[str]:
    """List the names of all queries."""
    return sorted(path.stem for path in FOLDER.glob("*.sql"))


@functools.cache
def read(name: str) -> Query:
    """Read a query and its comment."""
    content = text_of(name)
    head = _HEAD.match(content)
    return Query(tuple(head[1].split(", ")), head[2], content[head.end() :])


def by_place() -> dict[str, list[str]]:
    """Return the names of the queries of each place of the report."""
    places: dict[str, list[str]] = {}
    for name in names():
        for place in read(name).places:
            places.setdefault(place, []).append(name)
    return places


def query(name: str) -> str:
    """Return the SQL of a query."""
    return read(name).sql


@functools.cache
def total_of(name: str) -> str:
    """Return the query that counts the rows of a query, as `total`, without its last `order by` and `limit`."""
    return f"select count(*) as total from ({query(name).rpartition(chr(10) + 'order by')[0]}) as counted"


def verdict_of(table: str) -> str:
    """Return the SQL expression of the verdict on a table's row, see `verdicts_of_TABLE`; empty text without one."""
    name = f"verdicts_of_{table}"
    return _VERDICT.search(query(name))[1] if name in names() else "''"
