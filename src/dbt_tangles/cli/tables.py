"""Reads a warehouse's parquet tables in place with DuckDB: only the columns and row groups that a query needs.

Queries are constants of this package; file names and values are bound parameters, so a log cannot inject SQL. A build
may replace a table at any time; the query then lists the table's folder again.
"""

import contextlib
import os
import re
import stat
from functools import cached_property
from glob import escape
from pathlib import Path

import duckdb

_NAME = re.compile(r"\{(\w+)\}")
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


class CommandError(Exception):
    """A command cannot answer; the message names the problem, its place and a remedy."""


def is_unicode(text: str) -> bool:
    """Whether a text has no lone surrogates; Python decodes arguments that are not UTF-8 to such."""
    return not any("\ud800" <= c <= "\udfff" for c in text)


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
        found_in: A cache: for a table, column and id, the files that hold the id.

    Raises:
        CommandError: The schema's name is not valid, or its folder does not exist.
    """

    def __init__(self, warehouse: str | Path, schema: str) -> None:
        if not _SCHEMA.fullmatch(schema):
            raise CommandError(f"--schema {schema!r}: not a schema name; use lower-case letters, digits and _")
        self.folder = Path(warehouse) / f"{schema}.db"
        if not self.folder.is_dir():
            from dbt_tangles.cli.missing_tables import describe_missing_tables

            raise CommandError(describe_missing_tables(Path(warehouse), schema))
        self.missing: set[str] = set()
        self.found_in: dict[tuple[str, str, str], list[str]] = {}
        self._connection = duckdb.connect(":memory:", config=SETTINGS)

    def files(self, name: str) -> list[str]:
        """List a table's parquet files; an empty list if the table does not exist."""
        folder = self._place_of(name)
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

    def _place_of(self, name: str) -> Path:
        own = self.folder / name
        # `runs` itself, and tables that it does not list, are in the schema.
        return own if name == "runs" else self._places.get(name, own)

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
                elif _SCHEMA.fullmatch(schema) and _NAME.fullmatch(f"{{{name}}}") and place.is_dir():
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
                    ), false) as is_stale from {runs} order by started_at"""
                )
        return []

    def has(self, name: str) -> bool:
        """Whether a table exists; a missing one is added to `missing`."""
        if self.files(name):
            return True
        self.missing.add(name)
        return False

    def rows(self, sql: str, only: list[str] | None = None, **values: object) -> list[dict]:
        """Run a query.

        Args:
            sql: The query; `{name}` stands for a table, `$name` for a value.
            only: Read only these files of the query's table; the whole table if they no longer exist.
            values: The values by name.

        Returns:
            The rows as dicts; an empty list if a table is missing (`missing` then has it).

        Raises:
            CommandError: A table cannot be read, or has the columns of another version.
        """
        if any(isinstance(value, str) and not is_unicode(value) for value in values.values()):
            return []  # Columns hold valid Unicode only.
        names = set(_NAME.findall(sql))
        text = _NAME.sub(lambda found: self._source(found[1]), sql)
        for tries_left in reversed(range(_TRIES)):
            if not all([self.has(name) for name in sorted(names)]):
                return []
            paths_of = {name: only or self.files(name) for name in names}
            files = {f"files_of_{name}": [escape(file) for file in paths] for name, paths in paths_of.items()}
            try:
                cursor = self._connection.execute(text, {**values, **files})
                columns = [column[0] for column in cursor.description]
                return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
            except (duckdb.IOException, duckdb.InvalidInputException) as error:
                # A build has just replaced the table, and the listed files are gone.
                only = None
                if not tries_left:
                    from dbt_tangles.cli.suggest import Ask, suggest

                    verify = suggest(Ask("status", options=("--verify",)))
                    raise CommandError(
                        f"{self.folder}: a table cannot be read: {error}\n`{verify}` lists damaged files"
                    ) from error
            except (duckdb.BinderException, duckdb.CatalogException) as error:
                named = ", ".join(sorted(names))
                raise CommandError(
                    f"{self.folder}: tables of another version ({named}): {error}\nBuild them again with this version"
                ) from error
            except duckdb.Error as error:
                raise CommandError(f"{self.folder}: {error}") from error
        raise AssertionError("unreachable")

    def _source(self, name: str) -> str:
        """Return the SQL that reads a table."""
        return f"read_parquet($files_of_{name}, hive_partitioning = false)"

    def use_one_thread(self) -> None:
        """Run further queries in one thread, which is faster for many small ones."""
        self._connection.execute("set threads = 1")

    def row(self, sql: str, **values: object) -> dict | None:
        """Run a query and return its first row, if any."""
        found = self.rows(sql, **values)
        return found[0] if found else None

    def rows_of(self, name: str, columns: str, column: str, value: str, rest: str = "") -> list[dict]:
        """Return the rows of a table that have a value in a column of ids.

        Rows are not sorted by id: the first pass reads this column alone and notes the files that hold the value, the
        second reads the other columns from these files.

        Args:
            name: The table.
            columns: The columns to return.
            column: The column of ids.
            value: The id.
            rest: The rest of the query, after its first condition.
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
    """The tables of two replicas, for one query: `{a__feeds}` is a table of replica A, `{b__feeds}` of replica B.

    Attributes:
        a: The tables of replica A.
        b: The tables of replica B.
    """

    def __init__(self, a: Tables, b: Tables) -> None:
        self.a, self.b = a, b
        self.folder = a.folder
        self.missing = set()
        self.found_in = {}
        self._connection = a._connection

    def files(self, name: str) -> list[str]:
        """List the files of a table of one replica."""
        whose, _, table = name.partition("__")
        return (self.a if whose == "a" else self.b).files(table)

    def has(self, name: str) -> bool:
        """Whether a table of one replica exists; a missing one is added to `missing` of the replica."""
        whose, _, table = name.partition("__")
        return (self.a if whose == "a" else self.b).has(table)
