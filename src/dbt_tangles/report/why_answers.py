"""The answers of `tangles why` for the nodes of a report, as lines of styled texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import islice

from dbt_tangles.cli.tables import Tables
from dbt_tangles.cli.text import lines_of
from dbt_tangles.cli.why import explain, resolve
from dbt_tangles.report.parts import WhyQuery
from dbt_tangles.report.slices import Slice

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
