"""Keeps the rows that the answers of `tangles why` in a report need in memory, and runs each query once for many.

`why_KIND.sql` has a query of the rows of each table that the answers about ids of a kind need. It reads the ids from
`asked`, and the sets, bases or timelines from `within`; `expected` has the values of the answers' own queries.
"""

from __future__ import annotations

import re
from pathlib import Path

from dbt_tangles.cli.tables import Tables, tables_of
from dbt_tangles.queries import sections

_VALUE = re.compile(r"\$(\w+)")
_ORDER = re.compile(r"\border by (?P<keys>[^()]+?)(?:\s+limit \d+)?\s*$")
_EXPECTED = "expected"


class Slice(Tables):
    """The rows of tables for some answers; results of queries are kept, too."""

    def __init__(self, tables: Tables, kind: str, ids: list[str], within: list[str]) -> None:
        """Keep the rows about ids of a kind in some sets, bases or timelines; tables that are not built stay away."""
        vars(self).update(vars(tables.copy()))
        self._known: dict[tuple, list[dict]] = {}
        self._columns: frozenset[str] = frozenset()  # The columns of `expected`
        self._joined: set[str] = set()
        self.keep("asked", "select unnest($ids::varchar[]) as id", ids=ids)
        self.keep("within", "select unnest($within::varchar[]) as id", within=within)
        self._queries = sections(Path(__file__).with_name(f"why_{kind}.sql"))
        for name, sql in self._queries.items():
            if name != _EXPECTED and self._has_all(sql):
                self.keep(name, sql)

    def _has_all(self, sql: str) -> bool:
        return all(name in self._kept or self.files(name) for name in tables_of(sql))

    def expect(self, ids: list[str]) -> None:
        """Announce the ids of the next answers: a query with values of `expected` runs once, for all rows."""
        self._known.clear()
        self._joined.clear()
        self._columns = frozenset()
        if self._has_all(self._queries[_EXPECTED]):
            self.keep(_EXPECTED, self._queries[_EXPECTED], ids=ids)
            found = self._connection.execute(f"from {_EXPECTED} limit 0").description
            self._columns = frozenset(name for name, *_ in found)

    def rows(self, sql: str, **values: object) -> list[dict]:
        """Run a query on the kept rows."""
        asked = _key(sql, values)
        if values and asked not in self._known and sql not in self._joined and self._columns >= values.keys():
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
