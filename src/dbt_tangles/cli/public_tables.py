"""Opens the public tables of a warehouse, and those of other models, as views that can read only their files.

The connection may read only the files of the tables: other files, networks, extensions and Python variables are locked
out before a user's query runs, and a query is a single `select`.
"""

import os
import re
from collections.abc import Callable
from glob import escape
from itertools import chain
from typing import TypeVar

import duckdb

from dbt_tangles.cli.init import project_folder
from dbt_tangles.cli.missing_tables import explain_absence
from dbt_tangles.cli.tables import SETTINGS, CommandError, Tables, select_from

_TRIES = 20
_Result = TypeVar("_Result")
#: The folders of this project's models and seeds, and the suffixes of their files.
_OURS, _SUFFIXES = ("models", "python_models", "seeds"), (".sql", ".py", ".csv")
_INTERNAL = ("stg", "int")
_NAME = re.compile(r"(?:[a-z_][a-z0-9_]*\.)?[a-z_][a-z0-9_]*")
_QUERIES = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


def public_names() -> list[str]:
    """List the public tables of the installed project: each has a description beside its model."""
    marts = project_folder() / "models" / "marts"
    return sorted(path.stem for path in marts.rglob("*.yml") if not path.stem.startswith("_"))


def _connect(files: dict[str, list[str]]) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={**SETTINGS, "python_enable_replacements": False})
    paths = [*chain.from_iterable(files.values())]
    # DuckDB checks a path as the query names it, and again when it opens the file.
    connection.execute("set allowed_paths = $paths", {"paths": [*paths, *map(escape, paths)]})
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    for schema in sorted({name.partition(".")[0] for name in files if "." in name}):
        connection.execute(f"create schema {schema}")
    for name, found in files.items():
        connection.execute(f"create view {name} as {select_from(found)}")
    return connection


def other_tables(tables: Tables) -> dict[str, list[str]]:
    """List the files of the tables of other models: those of this schema, and as `SCHEMA.TABLE` those of other schemas.

    Internal tables, whose names begin as dbt's staging or intermediate models, may hold secrets and are left out. So
    are tables of Delta Lake: not all of their files have valid rows.
    """
    ours = {path.stem for top in _OURS for path in (project_folder() / top).rglob("*") if path.suffix in _SUFFIXES}
    found = {}
    for table in sorted(tables.folder.parent.glob("*.db/*")):
        name = table.name if table.parent == tables.folder else f"{table.parent.stem}.{table.name}"
        is_read = _NAME.fullmatch(name) and table.name not in ours and table.name.partition("_")[0] not in _INTERNAL
        is_read = is_read and not (table / "_delta_log").exists()
        files = sorted(map(str, table.glob("[!._]*.parquet"))) if is_read else []
        if files and all(map(os.path.isfile, files)):
            found[name] = files
    return dict(sorted(found.items(), key=lambda each: ("." in each[0], each[0])))


def ask(tables: Tables, query: str, read: Callable[[duckdb.DuckDBPyConnection], _Result]) -> _Result:
    """Let `read` run a query on the public tables and read its result; again if a build has replaced one meanwhile."""
    check_query(query)
    for tries_left in reversed(range(_TRIES)):
        files = {name: found for name in public_names() if (found := tables.files(name))}
        others = other_tables(tables)
        files |= {name: found for name, found in others.items() if name.rpartition(".")[2] in query}
        try:
            return read(_connect(files))
        except duckdb.CatalogException as error:
            absent = [name for name in public_names() if name not in files and name in str(error)]
            lines = [str(error), *(explain_absence(tables, name) for name in absent)]
            lines += [f"The tables are: {', '.join(name for name in files if name not in others)}"]
            lines += [f"Tables of other models: {', '.join(others)}"] if others else []
            raise CommandError("\n".join(lines)) from error
        except (duckdb.Error, ValueError, OverflowError) as error:
            # DuckDB reports a file that has gone in several ways, so the files themselves are asked.
            if not tries_left or all(map(os.path.exists, chain.from_iterable(files.values()))):
                raise CommandError(str(error)) from error
    raise AssertionError("unreachable")


def value_names(query: str) -> set[str]:
    """Return the names of the values `$name` of a query; raise CommandError if it is not one `select`."""
    return set(check_query(query).named_parameters)


def check_query(query: str) -> duckdb.Statement:
    """Return a text parsed; raise CommandError if it is not one `select`."""
    try:
        statements = duckdb.extract_statements(query)
    except (duckdb.Error, UnicodeError, TypeError) as error:
        raise CommandError(f"the query is not SQL of DuckDB: {error}") from error
    if len(statements) != 1 or statements[0].type not in _QUERIES:
        raise CommandError("the query must be a single select; other statements are refused")
    return statements[0]
