"""LIMIT: read the columns that a model needs, shuffle them by graph, write the rows that the model writes.

Every program that makes a table of whole graphs needs these steps, so the ratio to LIMIT is the price of the computing.
All parts share this definition. The rows to write exist only in the model's output, so LIMIT is measured in pieces:

moved    the columns that the model needs, read, shuffled once by graph, and discarded.
written  the rows that the model wrote last, read, and written again.
reread   the same rows, read and discarded.

LIMIT is `moved` and `written` less `reread`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from bench import report, session
from bench.cpu import Spent, Watch
from dbt_spark_python.engines.sail import gather

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


#: Returns the rows to read: the columns that are needed, and the names of those that are the key of their graph.
Needs = Callable[[], "Iterable[tuple[DataFrame, Sequence[str]]]"]


class Pieces(NamedTuple):
    """The cost of each piece."""

    moved: Spent
    written: Spent
    reread: Spent

    @property
    def spent(self) -> Spent:
        """The cost of LIMIT. With very few rows, reading may seem to take longer than reading and writing."""
        wall = self.moved.wall + max(self.written.wall - self.reread.wall, 0.0)
        cpu = {kind: max(self.written.cpu[kind] - self.reread.cpu[kind], 0.0) for kind in self.moved.cpu}
        return Spent(wall, {kind: self.moved.cpu[kind] + seconds for kind, seconds in cpu.items()})


@dataclass(frozen=True)
class Limit:
    """The LIMIT of one model, or of models that are counted together.

    Attributes:
        needs: Returns the rows to read.
        writes: Returns the rows that were written last.
    """

    needs: Needs
    writes: Callable[[], Iterable[DataFrame]]

    def measure(self, watch: Watch) -> Pieces:
        """Measure the pieces, one after another."""
        with watch.measure() as moved:
            for rows, keys in self.needs():
                _discard(gather(rows, *keys) if keys else rows)  # counting rows needs no column
        with watch.measure() as written:
            for number, rows in enumerate(self.writes()):
                session.write(rows, f"same_{number}")
        with watch.measure() as reread:
            for rows in self.writes():
                _discard(rows)
        return Pieces(moved, written, reread)


def summary(runs: list[Pieces]) -> dict:
    """Sum up runs, as `report.summary` does, with the pieces."""
    pieces = {name: round(median(getattr(run, name).total for run in runs), 2) for name in Pieces._fields}
    return {**report.summary([run.spent for run in runs]), "cpu_s_by_piece": pieces}


def _discard(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()
