"""Runs the rounds of a `fixpoint` model: semi-naive iteration of a step query until a round settles zero rows.

The rows of a round are stored before the next round reads them; a chain of views would repeat every earlier round in
each plan. On a session, the rows are checkpointed behind a temporary view. If SQL runs on a server, they are stored as
tables.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dbt_common.exceptions import DbtRuntimeError

from dbt_spark_python.fixpoint.stores import Store

#: Rounds that are stored separately before they are merged.
ROUNDS_AT_ONCE = 16
#: An input of at most this many rows fits one task: its rows stay in one partition.
SMALL_ROWS = 10_000
#: A table behind its placeholder; with `--empty` dbt puts a query in parentheses in its place.
_TABLE = r"(\([^()]*\)|\S+)"
#: The most rounds that a model may run.
LAST_ROUND = 99_999


class Spec(NamedTuple):
    """The limits and the columns of a model's rounds.

    Attributes:
        columns: The columns of the result. Each round has these and `is_settled`.
        first_round: The number of the first round.
        rounds: The number of the last round; unlimited by default. If rows still settle in it, the result is empty.
        words: The words for a round and for its rows in the log.
    """

    columns: Sequence[str]
    first_round: int = 0
    rounds: int | None = None
    words: Mapping[str, str] = {"round": "round", "rows": "rows"}


class Names(NamedTuple):
    """The placeholders in a model's queries for stored rows."""

    this_round: str
    all_rounds: str
    done_rounds: str
    round_number: str
    waiting: str


class Fixpoint:
    """The rounds of one model.

    Args:
        store: Stores rows.
        queries: The base query, the step query and, optionally, the query for the rows that still wait.
        names: The placeholders in the queries.
        spec: The limits of the rounds.
        log: Logs a line for each round.
    """

    def __init__(
        self, store: Store, queries: Sequence[str], names: Names, spec: Spec, log: Callable[[str], None]
    ) -> None:
        self._store, self._queries, self._names, self._spec, self._log = store, queries, names, spec, log
        self._rounds: list[str] = []  # stored separately; the last one is the frontier
        self._merged: list[str] = []  # settled rows of earlier rounds
        self._waiting: str | None = None
        source = next(filter(None, (re.search(f"{names.waiting}{_TABLE}", query) for query in queries)), None)
        store.is_small = source is not None and store.count(source[1]) <= SMALL_ROWS

    def run(self) -> str:
        """Run the rounds to their end and return the query for all settled rows.

        Raises:
            DbtRuntimeError: The rounds do not end.
        """
        spec, number = self._spec, self._spec.first_round
        while True:
            query = self._queries[1] if self._rounds else self._queries[0]
            table, counts = self._store.keep_round(f"round_{number}", self._bind(query, number))
            self._rounds.append(table)
            waits = f", {counts.waiting:,} wait" if counts.waiting else ""
            self._log(f"{spec.words['round']} {number}: {counts.settled:,} {spec.words['rows']} settled{waits}")
            if counts.settled == 0:
                self._log(f"rounds end at {spec.words['round']} {number}: no further row settles")
                return self._result()
            if spec.rounds is not None and number >= spec.rounds:
                self._log(f"rounds stop at {spec.words['round']} {number}: rows still settle, so the result is empty")
                return f"select {self._listed()} from {table} where false"
            if number >= LAST_ROUND:
                raise DbtRuntimeError(
                    f"rows still settle after {number:,} rounds: set `meta.rounds`, or use a Python model for an "
                    "input this deep"
                )
            if len(self._rounds) > ROUNDS_AT_ONCE:
                self._merge(number)
            number += 1

    def drop(self) -> None:
        """Drop all stored rows."""
        for table in [*self._rounds, *self._merged, *filter(None, [self._waiting])]:
            self._store.drop(table)
        self._rounds, self._merged, self._waiting = [], [], None

    def _merge(self, number: int) -> None:
        """Merge all rounds but the last, and drop the rows that no longer wait."""
        *done, frontier = self._rounds
        merged = [*self._merged, self._store.keep(f"merged_{number}", self._settled(done))]
        if len(merged) > ROUNDS_AT_ONCE:
            whole = " union all ".join(f"select * from {table}" for table in merged)
            parts, merged = merged, [self._store.keep(f"whole_{number}", whole)]
            for table in parts:
                self._store.drop(table)
        if len(self._queries) == 3:
            earlier = self._waiting
            self._waiting = self._store.keep(f"waiting_{number}", self._bind(self._queries[2], number, done))
            if earlier:
                self._store.drop(earlier)
        for table in done:
            self._store.drop(table)
        self._rounds, self._merged = [frontier], merged

    def _bind(self, query: str, number: int, done: Sequence[str] | None = None) -> str:
        """Replace the placeholders of a query."""
        names, done = self._names, self._rounds if done is None else done
        query = re.sub(f"{names.waiting}{_TABLE}", lambda found: self._waiting or found[1], query)
        settled = self._settled(done)
        before = [f"select {self._listed()} from {table}" for table in self._merged]
        for name, value in (
            (names.this_round, self._rounds[-1] if self._rounds else ""),
            (names.all_rounds, f"({' union all '.join([*before, *filter(None, [settled])])})"),
            (names.done_rounds, f"({settled})"),
            (names.round_number, str(number)),
        ):
            query = query.replace(name, value)
        return query

    def _listed(self) -> str:
        return ", ".join(self._spec.columns)

    def _settled(self, rounds: Sequence[str]) -> str:
        return " union all ".join(f"select {self._listed()} from {table} where is_settled" for table in rounds)

    def _result(self) -> str:
        parts = [f"select {self._listed()} from {table}" for table in self._merged]
        return " union all ".join([*parts, self._settled(self._rounds)])
