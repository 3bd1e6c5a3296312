"""Writes reports of small warehouses and reads them back."""

import json
from pathlib import Path

import pyarrow.parquet as pq

from cli_kit import HOSTILE, Warehouse, schema
from dbt_tangles.cli.tables import Tables
from dbt_tangles.report.build import build
from dbt_tangles.report.parts import Limits

EVIL = HOSTILE + "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u2067\u202e]]>-->"


def hostile_row(table: str, **columns) -> dict:
    """Return a row with hostile texts in all text columns."""
    texts = {field.name: EVIL for field in schema(table) if str(field.type) == "string"}
    lists = {
        field.name: [EVIL]
        for field in schema(table)
        if str(field.type).startswith("list<") and "string" in str(field.type)[:22]
    }
    return texts | lists | columns


def hostile(warehouse: Warehouse) -> Warehouse:
    """Put hostile texts into every column of a warehouse that a log can reach."""

    def spoilt(value, name: str):
        if isinstance(value, list):
            return [spoilt(each, name) for each in value]
        if name in _OURS or not isinstance(value, str):
            return value
        return value + EVIL

    for folder in sorted(warehouse.folder.iterdir()):
        rows = pq.read_table(folder).to_pylist()
        warehouse.write(folder.name, *({name: spoilt(value, name) for name, value in row.items()} for row in rows))
    return warehouse


#: Columns with values that the project, not the log, chooses.
_OURS = {"op", "observer", "role", "kind", "status", "root_status", "preference", "purpose"}


def make(warehouse: Warehouse, *options: str, nodes: int | None = None) -> Path:
    """Write the report of a warehouse beside it, by the command, or with drawings of another number of nodes."""
    out = warehouse.root.parent / "report"
    if nodes is not None:
        build(Tables(warehouse.root, "tangles"), out, Limits(20, nodes))
        return out
    result = warehouse.ask("report", "--out", str(out), *options)
    assert result.exit_code == 0, result.output
    return out


def shard(out: Path, name: str):
    """Return the value of a shard."""
    text = (out / "data" / f"{name}.js").read_text(encoding="ascii")
    head = f'tangles.add("{name}",'
    assert text.startswith(head) and text.endswith(");\n")
    return json.loads(text[len(head) : -3])


def node(view: dict, id_: str) -> dict:
    """Return a node of a drawing."""
    (found,) = [each for each in view["nodes"] if each["id"] == id_]
    return found
