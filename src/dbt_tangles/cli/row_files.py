"""Writes the rows of a query as CSV, JSON lines or parquet, to a file, a pipe or the standard output."""

import csv
import io
import json
import os
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import duckdb

from dbt_tangles.cli.page import escape_line, to_json_text
from dbt_tangles.cli.public_tables import ask
from dbt_tangles.cli.tables import CommandError, Tables

FORMATS = ("csv", "jsonl", "parquet")
_ROWS = 10_000


def format_of(out: Path) -> str:
    """Return the format that the suffix of a file names."""
    form = out.suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise CommandError(f"{out}: the suffix names no format; end it in .csv, .jsonl or .parquet, or give --format")
    return form


def write_rows(tables: Tables, query: str, values: dict[str, Any], form: str, out: Path | None) -> None:
    """Write the rows of a query with the values of its names `$name` to a file, or else to the standard output.

    A regular file is replaced once it is complete. Any other file, such as a pipe, is written in place.
    """
    if out and out.absolute().resolve().is_relative_to(tables.folder.parent.resolve()):
        raise CommandError(f"{out}: is inside the warehouse; give a file outside of it")
    # The result is kept until it is complete, because a build may replace the table meanwhile.
    with tempfile.TemporaryFile() as kept:

        def keep(connection: duckdb.DuckDBPyConnection) -> None:
            kept.seek(0)
            kept.truncate()
            rows = connection.sql(query, params=values)
            if twice := [name for name, count in Counter(rows.columns).items() if count > 1]:
                raise CommandError(f"two columns of the query have the name {twice[0]!r}; rename one with `as`")
            if form == "parquet":
                _write_parquet(rows, kept)
            else:
                write = _write_csv if form == "csv" else _write_jsonl
                write(rows.columns, _values(connection.execute(query, values)), kept)

        ask(tables, query, keep)
        kept.seek(0)
        with suppress(BrokenPipeError), _output(out) as file:
            _copy(kept, file, form)


def _copy(kept: BinaryIO, file: BinaryIO, form: str) -> None:
    """Copy the result; a terminal gets escaped lines, because texts of a log may hold its commands."""
    if not file.isatty():
        while piece := kept.read(2**20):
            file.write(piece)
    elif form == "parquet":
        raise CommandError("parquet is binary; give --out FILE or redirect the output")
    else:
        for line in kept:
            file.write(f"{escape_line(line.decode().removesuffix(chr(10)))}\n".encode())
    file.flush()


@contextmanager
def _output(out: Path | None) -> Iterator[BinaryIO]:
    try:
        if out is None:
            yield sys.stdout.buffer
        elif out.exists() and not out.is_file():
            with out.open("wb") as file:
                yield file
        else:
            with _replacing(Path(os.path.realpath(out))) as file:
                yield file
    except BrokenPipeError:  # The reader has left.
        raise
    except OSError as error:
        raise CommandError(f"{out or 'the standard output'}: cannot be written: {error.strerror or error}") from error


@contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    """Write a new file of a random name beside a target; it replaces the target once it is complete."""
    partial = target.with_name(f".{secrets.token_hex(16)}.partial")
    file = partial.open("xb")  # Fails where the name exists, be it as a link.
    try:
        with file:
            yield file
        os.replace(partial, target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def to_json(value: Any) -> Any:
    """Convert a value of DuckDB to a JSON value: times and decimals to text, bytes to hex, maps to objects."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, list | tuple):
        return [*map(to_json, value)]
    if isinstance(value, dict):
        return {str(key): to_json(each) for key, each in value.items()}
    return value.hex() if isinstance(value, bytes) else str(value)


def _values(cursor: duckdb.DuckDBPyConnection) -> Iterator[list]:
    while rows := cursor.fetchmany(_ROWS):
        yield from ([*map(to_json, row)] for row in rows)


def _write_csv(columns: list[str], rows: Iterator[list], file: BinaryIO) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([*map(_csv_cell, row)] for row in rows)
    text.detach()


def _csv_cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | list | dict) else value


def _write_jsonl(columns: list[str], rows: Iterator[list], file: BinaryIO) -> None:
    file.writelines(f"{to_json_text(dict(zip(columns, row, strict=True)))}\n".encode() for row in rows)


def _write_parquet(rows: duckdb.DuckDBPyRelation, file: BinaryIO) -> None:
    # Imported here, because the other formats do not need it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    reader = rows.to_arrow_reader(_ROWS)
    try:
        with pq.ParquetWriter(file, reader.schema, compression="zstd") as writer:
            for batch in reader:
                writer.write_batch(batch)
    except pa.ArrowNotImplementedError as error:
        raise CommandError(f"parquet cannot hold a column of the query: {error}; cast it, or write csv") from error
