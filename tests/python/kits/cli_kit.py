"""Writes a small warehouse from rows, and runs the command `tangles` on it without Spark or dbt."""

import fcntl
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from click.testing import CliRunner, Result

from answer_schemas import validate
from conftest import ROOT
from dbt_tangles.cli.cli import main

_TYPES = {
    "string": pa.string(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "boolean": pa.bool_(),
    "double": pa.float64(),
    "timestamp": pa.timestamp("us", "UTC"),
}
#: Columns of internal tables; contracts cover only public tables.
_PLACE = {"source_file": "string", "line": "bigint", "line_digest": "string"}
_INTERNAL = {
    "int_set_entries": {"set_id": "string", "message_id": "string", "prev": "array<string>"},
    "int_pzp_messages": {"message_id": "string", "add": "array<string>", "tangles": "array<struct<root_id:string>>"},
    "stg_ssb__lines": {**_PLACE, "message_id": "string"},
    "stg_pzp__lines": {**_PLACE, "message_id": "string"},
    "stg_autobase__lines": {**_PLACE, "kind": "string", "base_id": "string", "writer": "string", "length": "int"},
    "stg_events__lines": {**_PLACE, "timeline_id": "string", "event_id": "string"},
}


#: A hostile text of a log: commands of workflows, terminal controls, markup and quotes.
HOSTILE = "::\x1b[31m##[group]\x07[red]x[/red]:smile:\r\n\x9b2J\u202e\u2028\x00'\"--"


def assert_harmless(result) -> None:
    """Assert that the output has only printable characters and line ends, and no command of a workflow."""
    assert not [c for c in result.output if c != "\n" and not c.isprintable()], result.output
    assert "##[" not in result.output, result.output
    begun = [line for line in result.output.splitlines() if line.lstrip().startswith("::")]
    assert [line for line in begun if not line.startswith("::error file=")] == []


def _read_type(text: str) -> str | list:
    """Read a type of a contract: `array<struct<id:string>>` as `["array", ["struct", "id", "string"]]`."""
    words = re.sub(r"\w+", r'"\g<0>"', text).replace(":", ",")
    return json.loads(re.sub(r'("\w+")<', r"[\1,", words).replace(">", "]"))


def _arrow_type(read: str | list) -> pa.DataType:
    if isinstance(read, str):
        return _TYPES[read]
    kind, *inner = read
    if kind == "struct":
        return pa.struct([(name, _arrow_type(each)) for name, each in zip(inner[::2], inner[1::2], strict=True)])
    return {"array": pa.list_, "map": pa.map_}[kind](*map(_arrow_type, inner))


@cache
def schema(table: str) -> pa.Schema:
    """Return the columns that the yml of a model declares; of internal tables those that the command reads."""
    types = _INTERNAL.get(table)
    if types is None:
        (path,) = (ROOT / "models").rglob(f"{table}.yml")
        columns = yaml.safe_load(path.read_text())["models"][0]["columns"]
        types = {column["name"]: column["data_type"] for column in columns}
    return pa.schema([(name, _arrow_type(_read_type(text))) for name, text in types.items()])


def tangles(*words: object, **options: Any) -> Result:
    """Run `tangles` with these arguments; `options` are those of click's runner, as `env` and `input`."""
    return CliRunner().invoke(main, [*map(str, words)], **options)


class Warehouse:
    """A warehouse below a folder."""

    def __init__(self, root) -> None:
        self.root = root
        self.folder = root / "tangles.db"
        self.folder.mkdir(parents=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the warehouse, as a process that builds does."""
        with (self.folder.parent / ".lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def write(self, table: str, *rows: dict, files: int = 1) -> "Warehouse":
        """Write or replace a table. A column that a row does not name is null; `line_count` is then 1."""
        if "line_count" in schema(table).names:
            rows = tuple({"line_count": 1, **row} for row in rows)
        unknown = {name for row in rows for name in row} - set(schema(table).names)
        assert not unknown, unknown
        folder = self.folder / table
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for number in range(files):
            part = pa.Table.from_pylist(list(rows[number::files]), schema(table))
            pq.write_table(part, folder / f"part-{number}.parquet")
        return self

    def rows(self, table: str) -> list[dict]:
        """Read a table."""
        return pq.read_table(self.folder / table).to_pylist()

    def fill(self, table: str, columns: str, *values: tuple, **same: object) -> "Warehouse":
        """Write a table from the values of some columns, named in a text; the other columns are equal in all rows."""
        return self.write(table, *(same | dict(zip(columns.split(), each, strict=True)) for each in values))

    def move(self, table: str, schema: str, name: str | None = None) -> "Warehouse":
        """Put a table into another schema, or give it another name."""
        place = self.root / f"{schema}.db" / (name or table)
        place.parent.mkdir(exist_ok=True)
        (self.folder / table).rename(place)
        return self

    def ask(self, *words: str) -> Result:
        """Run `tangles` with these arguments on this warehouse."""
        return tangles(words[0], "--warehouse", self.root, *words[1:])

    def json(self, *words: str) -> dict:
        """Run `tangles` and return its answer as data, which is valid by its schema."""
        result = self.ask(*words, "--json")
        assert result.exit_code in (0, 1), result.output
        return validate(json.loads(result.stdout))
