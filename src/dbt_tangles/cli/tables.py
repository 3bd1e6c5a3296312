"""Reads a warehouse's parquet tables in place with DuckDB: only the columns and row groups that a query needs.

Each table that a query names is a view of its files. Queries are constants of this package, and values are bound
parameters, so a log cannot inject SQL. A build may replace a table at any time; the query then lists the table's folder
again.
"""

import contextlib
import copy
import os
import re
import stat
from functools import cache, cached_property
from glob import escape
from pathlib import Path
from typing import Any

import click
import duckdb

from dbt_tangles.cli.page import escape_line
from dbt_tangles.cli.suggest import Ask, suggest

#: A table in a query of this package, and a table of the query's own.
_TABLE = re.compile(r"(?<!distinct )\b(?:from|join) (\w+(?:\.\w+)?)\b(?! ?[(.])")
_OWN_TABLE = re.compile(r"(?:\bwith|,)\s+(\w+) as \(")
_NAME = re.compile(r"\w+")
#: The same pattern as in macros/inputs/check_vars.sql.
_SCHEMA = re.compile(r"(?=.*[a-z_])[a-z0-9_]{1,128}")
_TRIES = 20
_NO_TABLE = "._"  # The folder of no table: names of tables do not begin so
#: Settings of every DuckDB connection.
SETTINGS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "temp_directory": "",  # A query that exceeds the memory fails instead of writing into the current folder.
}


class CommandError(click.ClickException):
    """A command cannot answer, and exits with 2; the message names the problem, its place and a remedy.

    All functions of commands may raise it.
    """

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Print the message."""
        click.echo("\n".join(map(escape_line, f"tangles: {self}".splitlines())), err=True)


def is_unicode(text: str) -> bool:
    """Whether a text has no lone surrogates; Python decodes arguments that are not UTF-8 to such."""
    return not any("\ud800" <= c <= "\udfff" for c in text)


@cache
def tables_of(sql: str) -> list[str]:
    """Return the names of the tables that a query of this package reads."""
    return sorted({*_TABLE.findall(sql)} - {*_OWN_TABLE.findall(sql)})


def select_from(files: list[str]) -> str:
    """Write the query of all rows of some files, whatever their names are."""
    listed = ", ".join("'" + escape(file).replace("'", "''") + "'" for file in files)
    return f"select * from read_parquet([{listed}], hive_partitioning = false)"


def _is_irregular(path: Path) -> bool:
    """Whether a path is neither a regular file nor gone: one call, as a build may remove the file at any moment."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


class Tables:
    """The tables of one schema, and those that its builds wrote to other schemas, which the table `runs` lists.

    Attributes:
        folder: The schema's folder.
        missing: The tables that queries needed and did not find.
    """

    def __init__(self, warehouse: str | Path, schema: str) -> None:
        if not _SCHEMA.fullmatch(schema):
            raise CommandError(f"--schema {schema!r}: not a schema name; use lower-case letters, digits and _")
        self.folder = Path(warehouse) / f"{schema}.db"
        if not self.folder.is_dir():
            from dbt_tangles.cli.missing_tables import describe_missing_tables

            raise CommandError(describe_missing_tables(Path(warehouse), schema))
        self.missing: set[str] = set()
        self._connection = duckdb.connect(":memory:", config=SETTINGS)
        self._files_of: dict[str, list[str]] = {}  # The files of each view
        self._kept: frozenset[str] = frozenset()  # The temporary tables

    def copy(self) -> "Tables":
        """Return the same tables on a connection of their own: temporary tables and views replace tables only there."""
        copied = copy.copy(self)
        copied._connection = self._connection.cursor()
        return copied

    def files(self, name: str) -> list[str]:
        """List a table's parquet files; an empty list if the table does not exist."""
        # `runs` itself, and tables that it does not list, are in the schema.
        folder = (None if name == "runs" else self._places.get(name)) or self.folder / name
        try:
            for _ in range(_TRIES):
                before = os.stat(folder).st_ino
                found = sorted(os.listdir(folder))
                # A folder that a build moved away may have been emptied while it was listed.
                if os.stat(folder).st_ino == before:
                    break
        except (FileNotFoundError, NotADirectoryError):
            return []
        names = [file for file in found if file.endswith(".parquet") and file[0] not in "._"]
        for file in names:
            if _is_irregular(folder / file):  # Opening a pipe would block.
                raise CommandError(f"{folder / file}: not a regular file; remove it or rebuild the table")
        return [str(folder / file) for file in names]

    def folders(self) -> list[Path]:
        """List the folders of all tables: those of this schema and those that its builds wrote to other schemas."""
        own = (path for path in self.folder.iterdir() if path.is_dir() and path.name[0] not in "._")
        return sorted({*own, *(place for place in self._places.values() if place.parent != self.folder)})

    @cached_property
    def given_vars(self) -> set[str] | None:
        """The vars of the logs and parts that the builds were given; None for the fixtures, or if unknown."""
        current = [run for run in self._runs if run["tables"] and not run["is_stale"]]
        if not all(run["logs"] for run in current):
            return None
        return {name for run in current for name in (*run["logs"], *run["parts"])} or None

    @cached_property
    def _places(self) -> dict[str, Path]:
        """The folders of the tables that `runs` lists.

        Once a log is built, the tables of an earlier run on the fixtures that no later run replaced do not count.
        """
        found = {}
        for run in self._runs:
            for schema, _, name in (table.rpartition(".") for table in run["tables"]):
                place = self.folder.parent / f"{schema}.db" / name
                if run["is_stale"]:
                    found[name] = self.folder / _NO_TABLE
                elif _SCHEMA.fullmatch(schema) and _NAME.fullmatch(name) and place.is_dir():
                    found[name] = place
        return found

    @cached_property
    def _runs(self) -> list[dict]:
        """The runs in their order; `is_stale` is a run on the fixtures before a run on logs."""
        with contextlib.suppress(CommandError):  # A command that reads `runs` reports the error.
            if self.files("runs"):
                return self.rows(
                    """select tables, coalesce([each.var for each in inputs], []) as logs,
                    if('ssb_log' in logs and vars['private_groups'] = 'true', ['private_groups'], []) as parts,
                    len(logs) = 0 and coalesce(bool_or(len(logs) > 0 and len(tables) > 0) over (
                        order by started_at rows between 1 following and unbounded following
                    ), false) as is_stale from runs order by started_at"""
                )
        return []

    def has(self, name: str) -> bool:
        """Whether a table exists; a missing one is added to `missing`."""
        if self.files(name):
            return True
        self.missing.add(name)
        return False

    def rows(self, sql: str, **values: object) -> list[dict]:
        """Run a query, in which `$name` stands for a value; no rows if a table is missing (`missing` then has it).

        Raises:
            CommandError: A table cannot be read, or has the columns of another version.
        """
        if any(isinstance(value, str) and not is_unicode(value) for value in values.values()):
            return []  # Columns hold valid Unicode only.
        names = [name for name in tables_of(sql) if name not in self._kept]
        for tries_left in reversed(range(_TRIES)):
            if not all([self.has(name) for name in names]):
                return []
            try:
                self._define(names)
                cursor = self._connection.execute(sql, values)
                columns = [column[0] for column in cursor.description]
                return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
            except (duckdb.IOException, duckdb.InvalidInputException) as error:
                # A build has just replaced the table, and the listed files are gone.
                if not tries_left:
                    verify = suggest(Ask("status", options=("--verify",)))
                    raise CommandError(
                        f"{self.folder}: a table cannot be read: {error}\n`{verify}` lists damaged files"
                    ) from error
            except (duckdb.BinderException, duckdb.CatalogException) as error:
                raise CommandError(
                    f"{self.folder}: tables of another version ({', '.join(names)}): {error}\n"
                    "Build them again with this version"
                ) from error
            except duckdb.Error as error:
                raise CommandError(f"{self.folder}: {error}") from error
        raise AssertionError("unreachable")

    def keep(self, name: str, sql: str, **values: object) -> bool:
        """Keep the rows of a query in memory, as a table of further queries; False if a table is missing."""
        if name in self._kept:
            self._connection.execute(f"drop table temp.{name}")
            self._kept -= {name}
        if not all([self.has(each) for each in tables_of(sql) if each not in self._kept]):
            return False
        self.rows(f"create temp table {name} as {sql}", **values)
        self._kept |= {name}
        return True

    def show(self, name: str, sql: str) -> None:
        """Let further queries read a query in place of a table, if it exists; `memory.main.NAME` is the table."""
        if self.files(name):
            self._define([name])
            self._connection.execute(f"create or replace temp view {name} as {sql}")

    def _define(self, names: list[str]) -> None:
        """Make the views of some tables, or renew those whose files a build has replaced."""
        for name in names:
            files = self.files(name)
            if files and files != self._files_of.get(name):
                place = name if "." in name else f"main.{name}"
                self._connection.execute(f"create or replace view memory.{place} as {select_from(files)}")
                self._files_of[name] = files

    def row(self, sql: str, **values: object) -> dict | None:
        """Run a query and return its first row, if any."""
        found = self.rows(sql, **values)
        return found[0] if found else None


class Pair(Tables):
    """The tables of two replicas `a` and `b`, for one query: `a.feeds` is a table of replica A, `b.feeds` of B."""

    def __init__(self, a: Tables, b: Tables) -> None:
        vars(self).update(vars(a.copy()), a=a, b=b, missing=set(), _files_of={})
        self._connection.execute("create schema a; create schema b")

    def files(self, name: str) -> list[str]:
        """List the files of a table of one replica."""
        whose, _, table = name.partition(".")
        return {"a": self.a, "b": self.b}[whose].files(table) if table else []

    def has(self, name: str) -> bool:
        """Whether a table of one replica exists; a missing one is added to `missing` of the replica."""
        whose, _, table = name.partition(".")
        return {"a": self.a, "b": self.b}[whose].has(table) if table else True
