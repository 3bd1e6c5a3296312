"""Draws the public tables with their keys, from the constraints in the yml files of the marts."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).parents[2]

#: The folders of marts that are drawn together, with a heading.
BANDS = {
    "Secure Scuttlebutt": ("ssb", "feeds", "tangles", "groups"),
    "pzp": ("pzp", "sets"),
    "Autobase": ("autobase",),
    "Timelines": ("timelines",),
    "Runs of dbt": ("runs",),
}
WIDTH, ROW, GAP, BETWEEN, MARGIN = 220, 17, 14, 90, 20

HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" \
font-family="ui-monospace, monospace" font-size="12" fill="#222" role="img" aria-labelledby="title">
<title id="title">The keys of the public tables</title>
<rect width="{width}" height="{height}" rx="8" fill="#fafafa"/>
"""


class Table(NamedTuple):
    """A public table with its primary key and its foreign keys: their columns, and the table that each names."""

    name: str
    key: list[str]
    refers: list[tuple[list[str], str]]

    def columns(self) -> list[str]:
        """Return the columns of all keys, those of the primary key first."""
        return list(dict.fromkeys([*self.key, *(column for columns, _ in self.refers for column in columns)]))

    def height(self) -> int:
        """Return the height of the table's box."""
        return ROW * (1 + len(self.columns())) + 12


def tables_of(folders: tuple[str, ...]) -> dict[str, Table]:
    """Read the tables of some folders of marts, by name."""
    found = {}
    for folder in folders:
        for path in sorted((ROOT / "models" / "marts" / folder).glob("*.yml")):
            (model,) = yaml.safe_load(path.read_text())["models"]
            keys = model["constraints"]
            (primary,) = (key["columns"] for key in keys if key["type"] == "primary_key")
            refers = [(key["columns"], key["expression"]) for key in keys if key["type"] == "foreign_key"]
            found[model["name"]] = Table(model["name"], primary, refers)
    return found


def places(tables: dict[str, Table], top: int) -> dict[str, tuple[int, int]]:
    """Place each table right of the tables that it names, at about the height of the first one."""
    layers: dict[str, int] = {}

    def layer(name: str) -> int:
        if name not in layers:
            layers[name] = 1 + max((layer(target) for _, target in tables[name].refers), default=-1)
        return layers[name]

    found: dict[str, tuple[int, int]] = {}
    for column in range(1 + max(map(layer, tables))):
        here = [table for name, table in tables.items() if layer(name) == column]
        y = top
        for table in sorted(here, key=lambda table: min((found[target][1] for _, target in table.refers), default=0)):
            found[table.name] = MARGIN + column * (WIDTH + BETWEEN), y
            y += table.height() + GAP
    return found


def box(table: Table, x: int, y: int) -> str:
    """Draw a table; the columns of its primary key are underlined."""
    lines = [
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{table.height()}" rx="5" fill="#ffffff" stroke="#555"/>',
        f'<text x="{x + 10}" y="{y + ROW}" font-weight="600">{table.name}</text>',
    ]
    for index, column in enumerate(table.columns()):
        style = ' text-decoration="underline"' if column in table.key else ""
        lines.append(f'<text x="{x + 20}" y="{y + ROW * (index + 2) + 2}"{style}>{column}</text>')
    return "\n".join(lines)


def lines_of(table: Table, at: dict[str, tuple[int, int]]) -> str:
    """Draw a line from the last column of each foreign key to the name of the other table."""
    drawn = []
    for columns, target in table.refers:
        x, y = at[table.name]
        y += ROW * (table.columns().index(columns[-1]) + 2) - 2
        end, level = at[target][0] + WIDTH, at[target][1] + ROW - 4
        bend = BETWEEN * 2 // 3
        curve = f"M{x} {y} C{x - bend} {y} {end + bend} {level} {end} {level}"
        drawn.append(
            f'<path d="{curve}" fill="none" stroke="#1f77b4"/><circle cx="{end}" cy="{level}" r="3" fill="#1f77b4"/>'
        )
    return "\n".join(drawn)


def picture() -> str:
    """Return the picture as SVG."""
    drawn, y, width = [], 2 * MARGIN, 0
    for heading, folders in BANDS.items():
        tables = tables_of(folders)
        at = places(tables, y + MARGIN)
        drawn.append(f'<text x="{MARGIN}" y="{y + 6}" font-size="15" font-weight="600">{heading}</text>')
        drawn += [lines_of(table, at) for table in tables.values() if table.refers]
        drawn += [box(table, *at[name]) for name, table in tables.items()]
        y = max(at[name][1] + table.height() for name, table in tables.items()) + 2 * MARGIN
        width = max(width, *(x + WIDTH + MARGIN for x, _ in at.values()))
    return HEAD.format(width=width, height=y - MARGIN) + "\n".join(drawn) + "\n</svg>\n"
