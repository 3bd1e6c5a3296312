"""The answers of `tangles why` for the nodes of a report, as lines of styled texts.

`why_KIND.sql` has a query of the rows of each table that the answers about ids of a kind need; the rows are kept in
memory. It reads the ids from `asked`, and the sets, bases or timelines from `within`; `expected` has the values of the
answers' own queries, so that each of these runs once for many ids.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import islice

from dbt_tangles.cli.tables import Tables, tables_of
from dbt_tangles.cli.text import lines_of
from dbt_tangles.cli.why import explain, resolve
from dbt_tangles.queries import sections
from dbt_tangles.report.parts import WhyQuery

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
        self._queries = sections(__file__, f"why_{kind}")
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


#: The most lines of an answer.
_MOST_LINES = 80
#: The number of answers whose rows are read at once.
_AT_ONCE = 500


def answers_of(tables: Tables, asked: Iterable[WhyQuery]) -> dict[WhyQuery, list[list]]:
    """Return the lines of `tangles why` for each of some ids."""
    by_kind: dict[str, list[WhyQuery]] = defaultdict(list)
    for query in dict.fromkeys(asked):
        by_kind[query.kind].append(query)
    answers = {}
    for kind, queries in by_kind.items():
        only = sorted({query.only for query in queries if query.only})
        kept = Slice(tables, kind, sorted({query.id for query in queries}), only)
        for first in range(0, len(queries), _AT_ONCE):
            some = queries[first : first + _AT_ONCE]
            kept.expect(sorted({query.id for query in some}))
            answers |= {query: _explain(kept, kind, query.id, query.only) for query in some}
    return answers


def answer_any(tables: Tables, given: str) -> list[list]:
    """Return the lines of `tangles why` for any id, also one that the log lacks.

    Raises:
        CommandError: The text does not look like an id, or a table cannot be read.
    """
    return _explain(tables, *resolve(tables, given))


def _explain(tables: Tables, kind: str, id_: str, only: str | None = None) -> list[list]:
    answer = explain(tables, kind, id_, only)
    return [[indent, *pieces] for indent, pieces in islice(lines_of(kind, answer), _MOST_LINES)]
