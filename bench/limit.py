"""LIMIT: read what a model needs, shuffle it by graph, write what the model writes; nothing is computed.

Nobody who makes a table of whole graphs gets by with less, so the ratio to it is the price of the computing. All parts
have this one. It is measured in pieces, as the rows to write are nowhere but in what the model wrote:

moved    the columns that the model needs, read once, shuffled once by graph, and given away.
written  the rows that the model wrote last, read, and written again.
reread   the same rows, read and given away.

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
        """What LIMIT took. Of very few rows, to read may seem to take longer than to read and write."""
        wall = self.moved.wall + max(self.written.wall - self.reread.wall, 0.0)
        cpu = {kind: max(self.written.cpu[kind] - self.reread.cpu[kind], 0.0) for kind in self.moved.cpu}
        return Spent(wall, {kind: self.moved.cpu[kind] + seconds for kind, seconds in cpu.items()})


@dataclass(frozen=True)
class Limit:
    """The limit of one model, or of models that are counted together.

    Attributes:
        needs: Returns the rows to read.
        writes: Returns the rows that were written last.
    """

    needs: Needs
    writes: Callable[[], Iterable[DataFrame]]

    def measure(self, watch: Watch) -> Pieces:
        """Measure the pieces, one after the other."""
        with watch.measure() as moved:
            for rows, keys in self.needs():
                _give_away(gather(rows, *keys) if keys else rows)  # to count rows takes no column
        with watch.measure() as written:
            for number, rows in enumerate(self.writes()):
                session.write(rows, f"same_{number}")
        with watch.measure() as reread:
            for rows in self.writes():
                _give_away(rows)
        return Pieces(moved, written, reread)


def summary(runs: list[Pieces]) -> dict:
    """Sum up runs, as `report.summary` does, and the pieces besides."""
    pieces = {name: round(median(getattr(run, name).total for run in runs), 2) for name in Pieces._fields}
    return {**report.summary([run.spent for run in runs]), "cpu_s_by_piece": pieces}


def _give_away(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()
