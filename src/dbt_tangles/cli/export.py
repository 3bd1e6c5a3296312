"""`tangles export`: writes a public table as CSV, JSON lines or parquet."""

import csv
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import click
import duckdb

from dbt_tangles.cli.options import FOUND, with_tables
from dbt_tangles.cli.page import escape_unprintable
from dbt_tangles.cli.public_tables import ask, require_public
from dbt_tangles.cli.sql import to_json
from dbt_tangles.cli.tables import CommandError, Tables

_ROWS = 10_000


@click.command("export")
@click.argument("table")
@click.option("--format", "form", type=click.Choice(("csv", "jsonl", "parquet")), default="csv", show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Write to this file, by default to stdout."
)
@with_tables
def command(table: str, form: str, out: Path | None, warehouse: str, schema: str) -> int:
    """Write a public table as CSV, JSON lines or parquet.

    In CSV, arrays and structs are JSON, and null is an empty cell. A file is replaced once it is complete.
    """
    tables = Tables(warehouse, schema)
    require_public(tables, table)
    if out is None and form == "parquet" and sys.stdout.isatty():
        raise CommandError("parquet is binary; give --out FILE or redirect the output")
    if out and out.absolute().resolve().is_relative_to(tables.folder.parent.resolve()):
        raise CommandError(f"{out}: is inside the warehouse; give a file outside of it")
    # The result is kept until it is complete, because a build may replace the table meanwhile.
    with tempfile.TemporaryFile() as kept:
        query = f"from {table}"
        ask(tables, query, lambda connection: _WRITE[form](connection, query, _emptied(kept)))
        kept.seek(0)
        with _output(out) as file, suppress(BrokenPipeError):
            while piece := kept.read(2**20):
                file.write(piece)
    return FOUND


def _emptied(file: BinaryIO) -> BinaryIO:
    file.seek(0)
    file.truncate()
    return file


@contextmanager
def _output(out: Path | None) -> Iterator[BinaryIO]:
    if out is None:
        is_terminal = sys.stdout.isatty()
        if is_terminal:
            held = io.BytesIO()
            yield held
            for line in held.getvalue().decode().splitlines():
                click.echo(escape_unprintable(line))
        else:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    partial = out.with_name(f".{out.name}.partial")
    try:
        with partial.open("wb") as file:
            yield file
        os.replace(partial, out)
    except OSError as error:
        raise CommandError(f"{out}: cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


def _batches(cursor: duckdb.DuckDBPyConnection) -> Iterator[list[tuple]]:
    while rows := cursor.fetchmany(_ROWS):
        yield rows


def _write_csv(connection: duckdb.DuckDBPyConnection, query: str, file: BinaryIO) -> None:
    cursor = connection.execute(query)
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name for name, *_ in cursor.description])
    for rows in _batches(cursor):
        writer.writerows([*map(_csv_cell, row)] for row in rows)
    text.detach()


def _csv_cell(value: object) -> object:
    value = to_json(value)
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False)
    return value


def _write_jsonl(connection: duckdb.DuckDBPyConnection, query: str, file: BinaryIO) -> None:
    cursor = connection.execute(query)
    names = [name for name, *_ in cursor.description]
    for rows in _batches(cursor):
        lines = (json.dumps(dict(zip(names, map(to_json, row), strict=True))) for row in rows)
        file.write("".join(f"{line}\n" for line in lines).encode())


def _write_parquet(connection: duckdb.DuckDBPyConnection, query: str, file: BinaryIO) -> None:
    # Imported here, because the other formats do not need it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    reader = pa.RecordBatchReader.from_stream(connection.sql(query))
    with pq.ParquetWriter(file, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_table(pa.Table.from_batches([batch]))


_WRITE: dict[str, Callable[[duckdb.DuckDBPyConnection, str, BinaryIO], None]] = {
    "csv": _write_csv,
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}
