"""Caches the rows that a report's answers need in memory, and runs each query once for many answers."""

from __future__ import annotations

import re

from dbt_tangles.cli.tables import Tables

_VALUE = re.compile(r"\$(\w+)")
_ORDER = re.compile(r"\border by (?P<keys>[^()]+?)(?:\s+limit \d+)?\s*$")


class Slice(Tables):
    """Tables, some of them kept in part; results are kept, too."""

    def __init__(self, tables: Tables) -> None:
        vars(self).update(vars(tables.copy()))
        self._known: dict[tuple, list[dict]] = {}
        self._expected: frozenset[str] = frozenset()
        self._joined: set[str] = set()

    def keep(self, name: str, sql: str, **values: object) -> bool:
        """Keep the rows of a query; see `Tables.keep`."""
        self._known.clear()
        return super().keep(name, sql, **values)

    def keep_some(self, name: str, where: str, **values: object) -> None:
        """Keep the rows of a table that meet a condition; further queries see these rows only."""
        self.keep(name, f"select * from {name} where {where}", **values)

    def expect(self, names: str, sql: str, **values: object) -> None:
        """Announce the values of the next queries: a query with some of these names runs once, for all rows.

        Args:
            names: The names of the values, with commas.
            sql: The query of the values, a column for each name.
            values: The values of this query.
        """
        self._joined.clear()
        self._expected = frozenset(names.split(", ") if self.keep("expected", sql, **values) else ())

    def rows(self, sql: str, **values: object) -> list[dict]:
        """Run a query on the kept rows."""
        asked = _key(sql, values)
        if values and asked not in self._known and sql not in self._joined and self._expected >= values.keys():
            self._join(sql, sorted(values))
        if asked not in self._known:
            self._known[asked] = super().rows(sql, **values)
        return [dict(row) for row in self._known[asked]]

    def _join(self, sql: str, names: list[str]) -> None:
        """Run a query for all expected values at once."""
        self._joined.add(sql)
        columns = ", ".join(f"{name} as of_{name}" for name in names)
        order = _ORDER.search(sql)
        text = f"""select of_found.*, of_expected.* from (select distinct {columns} from expected) as of_expected
            left join lateral (select true as is_of_found, * from ({sql}) as each) as of_found on true
            {f"order by {order['keys']}" if order else ""}"""
        for row in super().rows(_VALUE.sub(r"of_\1", text)):
            asked = _key(sql, {name: row.pop(f"of_{name}") for name in names})
            found = self._known.setdefault(asked, [])
            if row.pop("is_of_found"):
                found.append(row)


def _key(sql: str, values: dict) -> tuple:
    """Return a query and its values as a key of the cache."""
    return (sql, *((name, tuple(v) if isinstance(v, list) else v) for name, v in sorted(values.items())))
