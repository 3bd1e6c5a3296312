"""A Python model of the project in a session, measured in turns with its LIMIT, and its kernel without an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import model_runner, session
from bench.cpu import Watch
from bench.limit import Limit, Needs
from bench.report import RESULTS, Goal, say
from bench.turns import beside_limit, seconds_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES = 8
#: Java compiles most of the code that it compiles in the first two rounds, at a third of their CPU seconds.
WARM_UPS = 2

#: The figures and the goals of a part.
Part = tuple[list[dict], list[Goal]]
Kernel = Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]]


def shuffled(table: pa.Table) -> pa.Table:
    """Put rows in a random order, always the same one."""
    return table.take(pa.array(np.random.default_rng(4).permutation(len(table)))).combine_chunks()


def stored(part: str, name: str, scale: float, make: Callable[[], dict[str, pa.Table]]) -> Path:
    """Write tables as parquet files with shuffled rows, unless they exist already.

    Args:
        part: The benchmark.
        name: The name of the input.
        scale: The fraction of the full size.
        make: Returns the tables by the name of their folder; one named `.` goes into the input's own folder.

    Returns:
        The folder of the input.
    """
    folder = RESULTS / part / "shapes" / f"{name}-{scale:g}"
    if not (folder / "_SUCCESS").exists():
        say(f"{part} {name}: writing the input at scale {scale:g}")
        for table, rows in make().items():
            session.write_parts(shuffled(rows), folder / table, FILES)
        (folder / "_SUCCESS").touch()
    return folder


class ModelInSpark:
    """A Python model over prepared rows, and its LIMIT.

    Attributes:
        limit: The LIMIT of the model.
    """

    def __init__(self, spark: SparkSession, watch: Watch | None, model: str, refs: dict[str, DataFrame], needs: Needs):
        """Prepare.

        Args:
            spark: The session.
            watch: Counts CPU seconds.
            model: The model's name.
            refs: The rows of the tables that the model refers to.
            needs: The columns that the model needs, for LIMIT.
        """
        self.spark, self.watch, self.model, self.refs = spark, watch, model, refs
        self.limit = Limit(needs, writes=lambda: [spark.table(f"{session.SCHEMA}.found")])

    def run(self, table: str = "found", refs: dict[str, DataFrame] | None = None, **variables: object) -> None:
        """Run the model as the project does, with dbt vars that differ from the defaults, and write its table."""
        session.write(model_runner.run(self.model, self.spark, refs or self.refs, **variables), table)

    def warm_up(self) -> None:
        """Run the model and its LIMIT as often as Java needs to compile them."""
        for _ in range(WARM_UPS):
            self.run()
            self.limit.measure(self.watch)

    def beside_limit(self, repeats: int, who: str, what: str) -> dict:
        """Measure the model in turns with its LIMIT; see `turns.beside_limit`."""
        return beside_limit(self.watch, repeats, who, what, self.run, self.limit)


def kernel_seconds(folder: Path, columns: list[str], kernel: Kernel, repeats: int) -> float:
    """Return the median CPU seconds of a kernel over a folder's rows in this process, without an engine."""
    batches = pq.read_table(folder, columns=columns).select(columns).to_batches()

    def work() -> None:
        for _ in kernel(iter(batches)):
            pass

    return round(median(seconds_of(work) for _ in range(repeats)), 2)
