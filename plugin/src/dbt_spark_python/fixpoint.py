"""Runs SQL models that iterate to a fixpoint: semi-naive iteration of a step query until a round settles zero rows.

The rows of a round are checkpointed behind a temporary view before the next round reads them; a chain of plain views
would repeat every earlier round in each plan.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from dbt_spark_python.engines import sail

#: Rounds that are stored separately before they are merged.
ROUNDS_AT_ONCE = 16
#: An input of at most this many rows fits one task: its rows stay in one partition, and rounds run without a shuffle.
SMALL_ROWS = 10_000
#: A round of at most this many rows is broadcast to all tasks of the next round.
BROADCAST_ROWS = 100_000
#: The placeholders for stored rows, which the macros of `fixpoint/parts.sql` write into a model's queries.
_THIS_ROUND, _DONE_ROUNDS = "__fixpoint_this_round__", "__fixpoint_done_rounds__"
_ROUND_NUMBER = "__fixpoint_round_number__"
#: The placeholder of `fixpoint.sql` for the query for the settled rows.
RESULT = "__fixpoint_result__"
#: A table of waiting rows behind its placeholder; with `--empty` dbt puts a query in parentheses in its place.
_WAITING = re.compile(r"__fixpoint_waiting__(\([^()]*\)|\S+)")
#: The setting that lets Spark infer constraints of rows.
_CONSTRAINTS = "spark.sql.constraintPropagation.enabled"
#: The most rounds that a model may run.
LAST_ROUND = 99_999


class Spec(NamedTuple):
    """The limits and the columns of a model's rounds."""

    columns: Sequence[str]  # Those of the result. Each round has these and `is_settled`
    first_round: int = 0
    rounds: int | None = None  # The number of the last round. If rows still settle in it, the result is empty
    words: Mapping[str, str] = {"round": "round", "rows": "rows"}  # For the log


class Fixpoint:
    """The rounds of one model.

    Its queries are the base query, the step query and, optionally, the query for the rows that still wait. The names of
    its views begin with `prefix`, and `log` gets a line for each round.
    """

    def __init__(
        self, spark: SparkSession, queries: Sequence[str], spec: Spec, prefix: str, log: Callable[[str], None]
    ) -> None:
        self._spark, self._queries, self._spec, self._prefix, self._log = spark, queries, spec, prefix, log
        self._rounds: list[str] = []  # views of single rounds; the last one is the frontier
        self._merged: list[str] = []  # views of settled rows of earlier rounds
        self._waiting: list[str] = []  # at most one view of the rows that wait
        source = next(filter(None, map(_WAITING.search, queries)), None)
        self._is_small = source is not None and spark.sql(f"select * from {source[1]}").count() <= SMALL_ROWS

    def run(self) -> str:
        """Run the rounds to their end and return the query for all settled rows."""
        spec, number = self._spec, self._spec.first_round
        while True:
            settled, waiting = self._run_round(number)
            waits = f", {waiting:,} wait" if waiting else ""
            self._log(f"{spec.words['round']} {number}: {settled:,} {spec.words['rows']} settled{waits}")
            if settled == 0:
                self._log(f"rounds end at {spec.words['round']} {number}: no further row settles")
                return self._settled(self._rounds)
            if spec.rounds is not None and number >= spec.rounds:
                self._log(f"rounds stop at {spec.words['round']} {number}: rows still settle, so the result is empty")
                return f"select {', '.join(spec.columns)} from {self._rounds[-1]} where false"
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
        for views in (self._rounds, self._merged, self._waiting):
            self._replace(views)

    def _run_round(self, number: int) -> tuple[int, int]:
        """Store the rows of a round, and count the settled rows and those that wait."""
        rows = self._checkpoint(self._bind(self._queries[1 if self._rounds else 0], number, self._rounds))
        settled, waiting = rows.agg(sf.count_if("is_settled"), sf.count_if(~sf.col("is_settled"))).first()
        if not self._is_small and settled + waiting <= BROADCAST_ROWS and not sail.is_sail(self._spark):
            rows = rows.hint("broadcast")
        self._rounds.append(self._show(f"round_{number}", rows))
        return settled, waiting

    def _merge(self, number: int) -> None:
        """Merge all rounds but the last, and drop the rows that no longer wait."""
        *done, frontier = self._rounds
        if len(self._queries) == 3:
            still = self._checkpoint(self._bind(self._queries[2], number, done))
            self._replace(self._waiting, self._show(f"waiting_{number}", still))
        settled = self._checkpoint(self._settled(done, with_merged=False))
        self._merged.append(self._show(f"merged_{number}", settled))
        if len(self._merged) > ROUNDS_AT_ONCE:
            whole = self._checkpoint(self._settled([]))
            self._replace(self._merged, self._show(f"whole_{number}", whole))
        self._rounds.remove(frontier)
        self._replace(self._rounds, frontier)

    def _checkpoint(self, query: str) -> DataFrame:
        """Compute and keep the rows of a query.

        A query over all earlier rounds has the partitions of each, and Spark also infers constraints from the rows of
        each, such as the number of a round. Both would double in every round.
        """
        rows, conf = self._spark.sql(query), self._spark.conf
        rows = rows.coalesce(1 if self._is_small else int(conf.get("spark.sql.shuffle.partitions")))
        if sail.is_sail(self._spark):
            return rows.localCheckpoint()
        # Another model of the session may do the same meanwhile; a setting of the profile stays.
        is_inferring = conf.get(_CONSTRAINTS) == "true"
        if is_inferring:
            conf.set(_CONSTRAINTS, "false")
        try:
            return rows.localCheckpoint()
        finally:
            if is_inferring:
                conf.unset(_CONSTRAINTS)

    def _show(self, name: str, rows: DataFrame) -> str:
        rows.createOrReplaceTempView(f"{self._prefix}_{name}")
        return f"{self._prefix}_{name}"

    def _replace(self, views: list[str], *new: str) -> None:
        """Drop views together with their rows, and put others in their place."""
        for view in views:
            self._spark.catalog.dropTempView(view)
        views[:] = new

    def _bind(self, query: str, number: int, rounds: Sequence[str]) -> str:
        """Replace the placeholders of a query."""
        query = _WAITING.sub(lambda found: self._waiting[0] if self._waiting else found[1], query)
        for name, value in (
            (_THIS_ROUND, self._rounds[-1] if self._rounds else ""),
            (_DONE_ROUNDS, f"({self._settled(rounds, with_merged=False)})"),
            (_ROUND_NUMBER, str(number)),
        ):
            query = query.replace(name, value)
        return query

    def _settled(self, rounds: Sequence[str], with_merged: bool = True) -> str:
        """Return the query for the settled rows of single rounds and, unless told otherwise, of all merged ones."""
        parts = [f"{view} where is_settled" for view in rounds]
        views = [*self._merged, *parts] if with_merged else parts
        return " union all ".join(f"select {', '.join(self._spec.columns)} from {view}" for view in views)
