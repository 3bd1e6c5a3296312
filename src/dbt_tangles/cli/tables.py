"""Reads a warehouse's tables with DuckDB, in place: only the columns and row groups that a question needs.

Nothing that a log or a user says becomes SQL: table names are those in this package's own queries, files and values are
bound. A build may replace a table at any time; its folder is then listed again.
"""

from __future__ import annotations

import contextlib
import os
import re
from functools import cached_property
from glob import escape
from pathlib import Path

import duckdb

_NAME = re.compile(r"\{(\w+)\}")
#: As macros/inputs/check_vars.sql has it.
_SCHEMA = re.compile(r"(?=.*[a-z_])[a-z0-9_]{1,128}")
_TRIES = 20
_SETTINGS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "temp_directory": "",  # What does not fit into memory fails, and is not written to where somebody happens to be.
}


class AskError(Exception):
    """The question cannot be answered; the message says why, and what would help."""


def _is_unicode(text: str) -> bool:
    """Whether a text has no lone surrogates, as arguments have that are no UTF-8."""
    return not any("\ud800" <= c <= "\udfff" for c in text)


class Tables:
    """The tables of one schema, and those that its builds put into another one, as `runs` says.

    Attributes:
        folder: Where the tables of the schema are.
        missing: Tables that were asked for and are not there.
        found_in: Of a table, a column and an id, all files that have it, where that is known.

    Raises:
        AskError: The schema has no such name, or its folder is not there.
    """

    def __init__(self, warehouse: str | Path, schema: str) -> None:
        if not _SCHEMA.fullmatch(schema):
            raise AskError(f"the schema is {schema!r}, but must be lower-case letters, digits and _")
        self.folder = Path(warehouse) / f"{schema}.db"
        if not self.folder.is_dir():
            from dbt_tangles.cli.whereabouts import say_what_is_there

            raise AskError(say_what_is_there(Path(warehouse), schema))
        self.missing: set[str] = set()
        self.found_in: dict[tuple[str, str, str], list[str]] = {}
        self._connection = duckdb.connect(":memory:", config=_SETTINGS)

    def files(self, name: str) -> list[str]:
        """List a table's files; none where there is no such table."""
        folder = self._place_of(name)
        try:
            for _ in range(_TRIES):
                before = os.stat(folder).st_ino
                found = sorted(os.listdir(folder))
                # A folder that is no longer in its place may have been emptied while it was listed.
                if os.stat(folder).st_ino == before:
                    break
        except (FileNotFoundError, NotADirectoryError):
            return []
        names = [file for file in found if file.endswith(".parquet") and file[0] not in "._"]
        for file in names:
            if (folder / file).exists() and not (folder / file).is_file():  # a pipe would keep whoever opens it waiting
                raise AskError(f"{folder / file}: this is no file; remove it, or build the table anew")
        return [str(folder / file) for file in names]

    def folders(self) -> list[Path]:
        """List the folders of all tables, of this schema and of others that its builds put tables into."""
        own = (path for path in self.folder.iterdir() if path.is_dir() and path.name[0] not in "._")
        return sorted({*own, *self._elsewhere.values()})

    def _place_of(self, name: str) -> Path:
        own = self.folder / name
        # A table that runs do not place elsewhere, as `runs` itself, is looked for in the schema.
        return own if name == "runs" else self._elsewhere.get(name, own)

    @cached_property
    def _elsewhere(self) -> dict[str, Path]:
        """Where the builds of these tables put tables into other schemas of the warehouse, as `+schema` does."""
        found: dict[str, Path] = {}
        with contextlib.suppress(AskError):  # Whoever asks for runs is told.
            if not self.files("runs"):
                return found
            for row in self.rows("select unnest(tables) as name from {runs} order by started_at"):
                schema, _, name = row["name"].rpartition(".")
                if _SCHEMA.fullmatch(schema) and _NAME.fullmatch(f"{{{name}}}"):
                    found[name] = self.folder.parent / f"{schema}.db" / name
        return {name: place for name, place in found.items() if place.parent != self.folder and place.is_dir()}

    def has(self, name: str) -> bool:
        """Whether a table is there; one that is not is noted in `missing`."""
        if self.files(name):
            return True
        self.missing.add(name)
        return False

    def rows(self, sql: str, only: list[str] | None = None, **values: object) -> list[dict]:
        """Run a query.

        Args:
            sql: The query; `{name}` stands for a table, `$name` for a value.
            only: Of the query's table these files alone; the whole table if they are gone.
            values: The values.

        Returns:
            Its rows; none where a table of it is not there, which `missing` then has.

        Raises:
            AskError: A table cannot be read, or is of another version.
        """
        if any(isinstance(value, str) and not _is_unicode(value) for value in values.values()):
            return []  # No column holds such a text.
        names = set(_NAME.findall(sql))
        text = _NAME.sub(r"read_parquet($files_of_\1, hive_partitioning = false)", sql)
        for tries_left in reversed(range(_TRIES)):
            if not all([self.has(name) for name in sorted(names)]):
                return []
            listed = {name: only or self.files(name) for name in names}
            files = {f"files_of_{name}": [escape(file) for file in paths] for name, paths in listed.items()}
            try:
                cursor = self._connection.execute(text, {**values, **files})
                columns = [column[0] for column in cursor.description]
                return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
            except (duckdb.IOException, duckdb.InvalidInputException) as error:
                # The files that were listed a moment ago are gone where a build has just replaced the table.
                only = None
                if not tries_left:
                    raise AskError(
                        f"{self.folder}: cannot be read: {error}\n`tangles status --verify` lists what is damaged"
                    ) from error
            except (duckdb.BinderException, duckdb.CatalogException) as error:
                named = ", ".join(sorted(names))
                raise AskError(f"{self.folder}: not the tables of this version ({named}): {error}") from error
            except duckdb.Error as error:
                raise AskError(f"{self.folder}: {error}") from error
        raise AssertionError("unreachable")

    def use_one_thread(self) -> None:
        """Answer further queries in one thread: of many small ones, others would only be waited for."""
        self._connection.execute("set threads = 1")

    def row(self, sql: str, **values: object) -> dict | None:
        """Run a query and return its first row; None where there is none."""
        found = self.rows(sql, **values)
        return found[0] if found else None

    def rows_of(self, name: str, columns: str, column: str, value: str, rest: str = "") -> list[dict]:
        """Return the rows of a table that have a value in a column of ids.

        Ids are spread over the table, so that column is read whole; the others only in the files that have the value.

        Args:
            name: The table.
            columns: What to return.
            column: The column of ids.
            value: The id.
            rest: More of the query, behind its first condition.
        """
        sql = f"from {{{name}}} where {column} = $value"
        files = self.found_in.get((name, column, value)) or [
            row["filename"] for row in self.rows(f"select distinct filename {sql}", value=value)
        ]
        if not files:
            return []
        self.found_in[(name, column, value)] = files
        return self.rows(f"select {columns} {sql} {rest}", only=files, value=value)


class Pair(Tables):
    """The tables of two replicas, in one place: `{a__feeds}` is the one's, `{b__feeds}` the other's.

    Attributes:
        a: The one's tables.
        b: The other's.
    """

    def __init__(self, a: Tables, b: Tables) -> None:
        self.a, self.b = a, b
        self.folder = a.folder
        self.missing = set()
        self.found_in = {}
        self._connection = a._connection

    def files(self, name: str) -> list[str]:
        """List the files of one's table."""
        whose, _, table = name.partition("__")
        return (self.a if whose == "a" else self.b).files(table)

    def has(self, name: str) -> bool:
        """Whether one's table is there."""
        if self.files(name):
            return True
        whose, _, table = name.partition("__")
        self.missing.add(f"{table} of {whose.upper()}")
        return False
