"""Hook of MkDocs: some pages get the parts that are made from the code.

The repository has the beginning of each page, and the site the whole page: the columns of the public tables and the
picture of their keys, the reasons, the queries of the report, and the figures of the benchmarks.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import keys
import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from dbt_tangles import queries, reasons

ROOT = Path(__file__).parents[2]
QUERIES = "../../src/dbt_tangles/queries"
PICTURE = "![Each table with its keys, and lines from foreign keys to the tables that they name](keys.svg)\n\n"


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add the parts to the pages."""
    for page, part in PARTS.items():
        file = files.src_uris[page]
        # The name of a table leads to its section.
        beginning = re.sub(r"\(\.\./\.\./models/\S+?(\w+)\.yml\)", r"(#\1)", file.content_string)
        file.content_string = f"{beginning}\n{part()}"
    files.append(File.generated(config, "reference/keys.svg", content=keys.picture()))
    return files


def tables_part() -> str:
    """Describe the columns of the public tables, from the yml files of the marts."""
    blocks: dict[str, str] = {}
    for path in (ROOT / "models").rglob("*.md"):
        blocks.update(re.findall(r"{% docs (\w+) %}\n(.*?)\n{% enddocs %}", path.read_text(), re.S))

    def text(described: dict[str, Any]) -> str:
        whole = re.sub(r"{{ *doc\('(\w+)'\) *}}", lambda found: blocks[found[1]], described["description"])
        return " ".join(whole.split()).replace("|", "\\|")

    parts = []
    for path in sorted((ROOT / "models" / "marts").rglob("*.yml")):
        (model,) = yaml.safe_load(path.read_text())["models"]
        source = f"../../{path.relative_to(ROOT).with_suffix('.sql').as_posix()}"
        rows = [(f"`{each['name']}`", f"`{each['data_type']}`", text(each)) for each in model["columns"]]
        grid = _grid(("column", "type", "meaning"), rows)
        parts.append(f"## {model['name']}\n\n{text(model)} ([SQL]({source}))\n\n{grid}")
    return PICTURE + "\n".join(parts)


def reasons_part() -> str:
    """List all reasons with their meanings, examples and remedies."""
    parts = []
    for section in yaml.safe_load(Path(__file__).with_name("reasons.yml").read_text()).values():
        rows = [
            (f"`{each.value}`", each.description.replace("<", "&lt;"), each.example, each.remedy)
            for name in section["enumerations"]
            for each in reasons.ENUMERATIONS[name]
        ]
        grid = _grid(("reason", "meaning", "example", "remedy"), rows)
        parts.append(f"## {section['heading']}\n\n{section['text']}\n\n{grid}")
    return "\n".join(parts)


def queries_part() -> str:
    """List the queries of the report by place, with the names of their values."""
    rows = []
    for place, names in sorted(queries.by_place().items()):
        for name in names:
            query = queries.read(name)
            values = dict.fromkeys(re.findall(r"\$(\w+)", query.sql))
            link = f"[`{name}.sql`]({QUERIES}/{name}.sql)"
            rows.append((place, link, query.text, ", ".join(f"`{value}`" for value in values)))
    return _grid(("place in the report", "query", "content", "values"), rows)


def figures_part() -> str:
    """Lay out the figures of the benchmarks."""
    sys.path.insert(0, str(ROOT))
    from bench import page

    return page.text()


def _grid(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows))


PARTS = {
    "reference/tables.md": tables_part,
    "reference/reasons.md": reasons_part,
    "reference/report-queries.md": queries_part,
    "benchmarks/README.md": figures_part,
}
