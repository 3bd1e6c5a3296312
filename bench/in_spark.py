"""A Python model of the project in a session, measured in turns with its LIMIT, and its kernel without an engine."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import model_runner, session
from bench.cpu import Watch
from bench.limit import Limit, Needs
from bench.report import RESULTS, Goal, at_most, say
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


def run_parts(
    options: Namespace,
    name: str,
    parts: Iterable[Callable[[float, int], Part]],
    make: Callable[..., Any],
    judged: dict[str, str | None],
    limit: float,
) -> Part:
    """Measure parts in this process, and models in Spark unless `--no-spark` leaves them out.

    Args:
        options: The options of the command line.
        name: The benchmark.
        parts: The parts, functions of the scale and the number of rounds.
        make: Makes the measurement of a model from its name, the scale, the session and the watch.
        judged: The names of the models, each with the text of its goal; None for a model without a goal.
        limit: The goal: the most CPU seconds of a model, in those of its LIMIT.
    """
    results, goals = [], []
    for part in parts:
        found, wanted = part(options.scale, options.repeats)
        results += found
        goals += wanted
    if not options.no_spark:
        spark = session.start(name, options.engine)
        with Watch() as watch:
            for each, text in judged.items():
                result = make(each, options.scale, spark, watch).measure(options.repeats)
                results.append(result)
                if text is not None:
                    goals.append(at_most(f"{text} / LIMIT, CPU seconds", limit, result["ratio"], options.scale == 1))
        spark.stop()
    return results, goals


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
