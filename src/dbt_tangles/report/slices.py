"""Caches the rows that a report's answers need in memory, so that each table is read once, not for each answer."""

from __future__ import annotations

from dbt_tangles.cli.tables import Tables

_MOST_KNOWN = 10_000


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

    def keep(self, name: str, where: str, **values: object) -> None:
        """Cache the rows of a table that meet a condition; further queries see these rows only."""
        if self._whole.has(name):
            sql = f"create or replace temp table kept_{name} as select * from {{{name}}} where {where}"
            Tables.rows(self._whole, self._named(sql, but=name), **values)
            self._kept[name] = f"kept_{name}"
            self._known.clear()

    def has(self, name: str) -> bool:
        """Whether a table is cached or in the warehouse."""
        return name in self._kept or super().has(name)

    def rows(self, sql: str, only: list[str] | None = None, **values: object) -> list[dict]:
        """Run a query on the cached rows; the results of queries without lists are cached too."""
        if only or any(isinstance(value, list) for value in values.values()):
            return super().rows(self._named(sql), only, **values)
        asked = (sql, *sorted(values.items()))
        if asked not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[asked] = super().rows(self._named(sql), **values)
        return [dict(row) for row in self._known[asked]]

    def rows_of(self, name: str, columns: str, column: str, value: str, rest: str = "") -> list[dict]:
        """Return the rows of a table that have a value in a column."""
        if name not in self._kept:
            return super().rows_of(name, columns, column, value, rest)
        return self.rows(f"select {columns} from {{{name}}} where {column} = $value {rest}", value=value)

    def _named(self, sql: str, but: str | None = None) -> str:
        for name, kept in self._kept.items():
            if name != but:
                sql = sql.replace(f"{{{name}}}", kept)
        return sql
