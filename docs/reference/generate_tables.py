"""Writes tables.md beside this file: the public tables and their columns, from the yml files of the marts.

python docs/reference/generate_tables.py
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
MARTS = ROOT / "models" / "marts"
PAGE = Path(__file__).parent / "tables.md"

#: Folder of marts: its heading. A folder without a heading is an error.
PARTS = {
    "ssb": "Messages of Secure Scuttlebutt",
    "feeds": "Feeds of authors",
    "tangles": "Tangles of messages",
    "groups": "Private groups",
    "pzp": "Messages of pzp",
    "sets": "Sets of items",
    "autobase": "Bases of Autobase",
    "timelines": "Timelines of events",
    "runs": "Runs of dbt",
}

HEAD = """\
# Tables

These {count} tables are public: their names, columns and types change only as [Upgrades](../how-to/upgrade.md)
describes. All other models are private. Three further pages help to read the tables: [rejection reasons](reasons.md),
[commands](commands.md) that answer from them, and [the path of a message](../explanation/architecture.md) through them.

![Each table with its keys, and lines from foreign keys to the tables that they name](keys.svg)

The picture shows the columns of keys; those of the primary key are underlined. A line leads from the last column of a
foreign key to the table that it names. A null in a primary key counts as a value; in a foreign key it names no row.
Ids that the log may lack, such as `tangle_edges.previous_id`, are no foreign keys. Engines do not enforce the keys:
`row_rules` checks each primary key in every build, and a test checks the foreign keys on the fixtures.

This page and the picture are generated from `models/marts/**/*.yml`. After a change there run
`python docs/reference/generate_tables.py` and `python docs/reference/generate_keys.py`.
"""


def doc_blocks() -> dict[str, str]:
    """Read the texts that descriptions include, by name."""
    found: dict[str, str] = {}
    for path in (ROOT / "models").rglob("*.md"):
        found.update(re.findall(r"{% docs (\w+) %}\n(.*?)\n{% enddocs %}", path.read_text(), re.S))
    return found


def page() -> str:
    """Return the whole page."""
    blocks, sections, count = doc_blocks(), [], 0
    for folder in sorted(MARTS.iterdir(), key=lambda path: list(PARTS).index(path.name)):
        models = [_model(path) for path in sorted(folder.glob("*.yml"))]
        count += len(models)
        rows = [f"| [`{name}`](#{name}) | {_first_sentence(text(model, blocks))} |" for name, model, _ in models]
        sections.append("\n".join([f"## {PARTS[folder.name]}\n", "| table | content |", "| --- | --- |", *rows]))
        sections += [_section(name, model, sql, blocks) for name, model, sql in models]
    return HEAD.format(count=count) + "\n" + "\n\n".join(sections) + "\n"


def text(described: dict[str, Any], blocks: dict[str, str]) -> str:
    """Return a description in one line, with the texts that it includes."""
    whole = re.sub(r"{{ *doc\('(\w+)'\) *}}", lambda found: blocks[found[1]], described["description"])
    return " ".join(whole.split()).replace("|", "\\|")


def _model(path: Path) -> tuple[str, dict[str, Any], Path]:
    (model,) = yaml.safe_load(path.read_text())["models"]
    return model["name"], model, path.with_suffix(".sql")


def _first_sentence(description: str) -> str:
    return re.split(r"(?<=[.:]) (?=[A-Z(])", description)[0].rstrip(":.")


def _section(name: str, model: dict[str, Any], sql: Path, blocks: dict[str, str]) -> str:
    source = f"../../{sql.relative_to(ROOT).as_posix()}"
    rows = [f"| `{each['name']}` | `{each['data_type']}` | {text(each, blocks)} |" for each in model["columns"]]
    head = [f"### {name}\n", f"{text(model, blocks)} ([SQL]({source}))\n"]
    return "\n".join([*head, "| column | type | meaning |", "| --- | --- | --- |", *rows])


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE.relative_to(ROOT)}")
