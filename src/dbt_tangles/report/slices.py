"""Caches the rows that a report's answers need in memory, and runs each query once for many answers."""

from __future__ import annotations

import re

from dbt_tangles.cli.tables import Tables

_VALUE = re.compile(r"\$(\w+)")
_ORDER = re.compile(r"\border by (?P<keys>[^()]+?)(?: limit \d+)?\s*$")


class Slice(Tables):
    """Tables, some of them cached in part; the others are read from the warehouse."""

    def __init__(self, tables: Tables) -> None:
        self.folder = tables.folder
        self.missing = tables.missing
        self.found_in = {}
        self._connection = tables._connection
        self._whole = tables
        self._kept: dict[str, str] = {}
        self._known: dict[tuple, list[dict]] = {}
        self._expected: frozenset[str] = frozenset()
        self._joined: set[str] = set()

    def keep(self, name: str, where: str, **values: object) -> None:
        """Cache the rows of a table that meet a condition; further queries see these rows only."""
        if self._whole.has(name):
            sql = f"create or replace temp table kept_{name} as select * from {{{name}}} where {where}"
            Tables.rows(self._whole, self._named(sql, but=name), **values)
            self._kept[name] = f"kept_{name}"
            self._known.clear()

    def expect(self, names: str, sql: str, **values: object) -> None:
        """Announce the values of the next queries: a query with some of these names runs once, for all rows.

        Args:
            names: The names of the values, with commas.
            sql: The query of the values, a column for each name.
            values: The values of this query.
        """
        self._known.clear()
        self._joined.clear()
        is_read = Tables.rows(self, self._named(f"create or replace temp table expected as {sql}"), **values)
        self._expected = frozenset(names.split(", ") if is_read else ())

    def has(self, name: str) -> bool:
        """Whether a table is cached or in the warehouse."""
        return name in self._kept or super().has(name)

    def rows(self, sql: str, only: list[str] | None = None, **values: object) -> list[dict]:
        """Run a query on the cached rows; results are cached too."""
        if only:
            return super().rows(self._named(sql), only, **values)
        asked = _key(sql, values)
        if values and asked not in self._known and sql not in self._joined and self._expected >= values.keys():
            self._join(sql, sorted(values))
        if asked not in self._known:
            self._known[asked] = super().rows(self._named(sql), **values)
        return [dict(row) for row in self._known[asked]]

    def rows_of(self, name: str, columns: str, column: str, value: str, rest: str = "") -> list[dict]:
        """Return the rows of a table that have a value in a column."""
        if name not in self._kept:
            return super().rows_of(name, columns, column, value, rest)
        return self.rows(f"select {columns} from {{{name}}} where {column} = $value {rest}", value=value)

    def _join(self, sql: str, names: list[str]) -> None:
        """Run a query for all expected values at once."""
        self._joined.add(sql)
        columns = ", ".join(f"{name} as of_{name}" for name in names)
        order = _ORDER.search(sql)
        text = f"""select of_found.*, of_expected.* from (select distinct {columns} from expected) as of_expected
            left join lateral (select true as is_of_found, * from ({sql}) as each) as of_found on true
            {f"order by {order['keys']}" if order else ""}"""
        for row in super().rows(self._named(_VALUE.sub(r"of_\1", text))):
            asked = _key(sql, {name: row.pop(f"of_{name}") for name in names})
            found = self._known.setdefault(asked, [])
            if row.pop("is_of_found"):
                found.append(row)

    def _named(self, sql: str, but: str | None = None) -> str:
        for name, kept in self._kept.items():
            if name != but:
                sql = sql.replace(f"{{{name}}}", kept)
        return sql


def _key(sql: str, values: dict) -> tuple:
    """Return a query and its values as a key of the cache."""
    return (sql, *((name, tuple(v) if isinstance(v, list) else v) for name, v in sorted(values.items())))
