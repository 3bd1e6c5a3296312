"""The tables of the page of figures, as `page.yml` declares them: find the lines of a table in the rows of a file.

The files may be damaged or of another revision: a missing or unsuitable value is an empty cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bench.page_text import is_number, plain

Row = dict[str, Any]
#: The names of a line (its first cells), and its figures by column.
Line = tuple[tuple[Any, ...], Row]


def at(row: Any, path: str) -> Any:
    """Return the value at a path of keys separated by dots, or None; of several paths, the first with a value."""
    for each in path.split("|"):
        value = row
        for key in each.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            return value
    return None


@dataclass(frozen=True)
class Table:
    """A table of a part; `page.yml` explains the attributes.

    Attributes:
        names: The key and the title of each column that names a line.
        figures: The path of each figure, by column; or the name of a computation.
        expected: The first names of lines that are listed even without figures.
    """

    title: str
    names: list[tuple[str, str]]
    figures: dict[str, str] | str
    where: dict[str, Any]
    expected: list[tuple[str, ...]]
    any_engine: bool

    def find_lines(self, rows: list[Row]) -> dict[tuple[str, ...], Row]:
        """Return the figures of each line by its names, as text."""
        lines = COMPUTED[self.figures](rows) if isinstance(self.figures, str) else self._read(rows, self.figures)
        return {tuple(map(plain, names)): figures for names, figures in lines}

    def _read(self, rows: list[Row], paths: dict[str, str]) -> Iterator[Line]:
        for row in rows:
            if all(row.get(key) == value for key, value in self.where.items()):
                figures = {title: at(row, path) for title, path in paths.items()}
                if any(value is not None for value in figures.values()):
                    yield tuple(row.get(key) for key, _ in self.names), figures


@dataclass(frozen=True)
class Part:
    """A benchmark: the text that says what it measures, its tables, and a remark."""

    text: str
    tables: tuple[Table, ...] = ()
    note: str = ""


def beside_limit(piece: str) -> dict[str, str]:
    """Return the paths of the figures of a piece of work that was measured in turns with LIMIT."""
    seconds = {"CPU s": f"{piece}.cpu_s", "clock, s": f"{piece}.wall_s", "LIMIT, CPU s": "limit.cpu_s"}
    return {**seconds, "/ LIMIT": f"{piece}.ratio|ratio", "kernel alone, CPU s": "kernel_alone_cpu_s"}


def read_parts() -> dict[str, Part]:
    """Read the parts of the page, by name."""
    found = {}
    for name, part in yaml.safe_load(Path(__file__).with_name("page.yml").read_text()).items():
        tables = tuple(_table(**table) for table in part.get("tables", ()))
        found[name] = Part(part["text"], tables, part.get("note", ""))
    return found


def _table(
    title: str, about: str, figures: Any, where: Any = None, expected: Any = (), any_engine: bool = False
) -> Table:
    names = [name.partition("=") for name in about.split()]
    if isinstance(figures, str):
        kind, _, piece = figures.partition(": ")
        figures = beside_limit(piece) if kind == "beside LIMIT" else piece
    wanted = [tuple(each) if isinstance(each, list) else (each,) for each in expected]
    titled = [(key, shown.replace("_", " ") or key) for key, _, shown in names]
    return Table(title, titled, figures, where or {}, wanted, any_engine)


def graph_lines(rows: list[Row]) -> Iterator[Line]:
    """Yield two lines for each shape: by default and by the kernel."""
    for row in rows:
        for engine in ("auto", "kernel"):
            if isinstance(row.get("limit"), dict) and isinstance(row.get(engine), dict):
                figures = {title: at(row, path) for title, path in beside_limit(engine).items()}
                yield (row.get("shape"), engine, row.get("messages")), figures


def name_of(row: Row, key: str) -> Any:
    """Return a value that can be a name, or None."""
    value = row.get(key)
    return value if isinstance(value, str) or is_number(value) else None


def tool_lines(figure: str) -> Callable[[list[Row]], Iterator[Line]]:
    """Return a function that yields a line for each shape and size, with a column for each tool."""

    def lines(rows: list[Row]) -> Iterator[Line]:
        known = [row for row in rows if isinstance(row.get("who"), str)]
        found: dict[tuple, Row] = {}
        for row in known:
            value = row.get(figure) if row.get("ended") is None else "no answer"
            found.setdefault((name_of(row, "shape"), name_of(row, "messages")), {})[row["who"]] = value
        for names, values in found.items():
            yield names, {row["who"]: values.get(row["who"], "not asked") for row in known}

    return lines


def last_power_lines(rows: list[Row]) -> Iterator[Line]:
    """Yield the power of the messages with which a tool's seconds grow between its last two sizes."""
    from bench.turns import power

    found: dict[tuple, list[tuple[int, float]]] = {}
    for row in rows:
        if is_number(row.get("messages")) and is_number(row.get("cpu_s")) and row["messages"] > 0:
            names = name_of(row, "shape"), name_of(row, "who")
            found.setdefault(names, []).append((row["messages"], row["cpu_s"]))
    for names, points in found.items():
        last = sorted(points)[-2:]
        if len({size for size, _ in last}) == 2:
            (small, _), (large, _) = last
            yield names, {"from": small, "to": large, "power": power(*zip(*last, strict=True))}


COMPUTED: dict[str, Callable[[list[Row]], Iterator[Line]]] = {
    "graphs": graph_lines,
    "seconds of tools": tool_lines("cpu_s"),
    "memory of tools": tool_lines("peak_mib"),
    "last power": last_power_lines,
}
PARTS = read_parts()
