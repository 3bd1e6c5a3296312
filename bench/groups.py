"""The epochs and members of private groups: CPU seconds of the kernels, and in Spark.

In this process, in turns:

kernel  the Python kernels of the models `int_group_results` and `int_group_foreign_excludes`, on the shapes of
        `group_shapes.py`: many small groups, and a large one.

In Spark, each of the two models next to its LIMIT (`bench.limit`), which also shuffles the keys of epochs once, without
a join. `int_group_foreign_excludes` is context only. Spark jobs are counted for a small input as well.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench import group_shapes, session
from bench.cpu import Watch
from bench.group_shapes import Shape
from bench.in_spark import ModelInSpark, Part, stored
from bench.report import Goal, at_most, same, say
from bench.turns import in_turns
from dbt_tangles.algorithms.private_group.foreign_excludes import (
    FOREIGN_INPUT_SCHEMA,
    FOREIGN_OUTPUT_SCHEMA,
    foreign_excludes,
)
from dbt_tangles.algorithms.private_group.reduction import reduce_groups
from dbt_tangles.algorithms.private_group.schemas import INPUT_SCHEMA, OUTPUT_SCHEMA
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "groups"
SHAPES = {
    "many": Shape(groups=100_000, epochs=3, adds=22, excludes=2, circle=24, people=50_000),
    "one": Shape(groups=1, epochs=2_000, adds=200_000, excludes=1, circle=500, people=500),
}
SMALL = 0.01  # of the scale: jobs are counted at both
LEAST_EPOCHS = 3
GOAL = 3.0  # the model / the limit, in CPU seconds
JUDGED = "int_group_results"


class Model(NamedTuple):
    """A model of groups.

    Attributes:
        refs: The tables of `group_shapes.Tables` that it reads, by the name of the reference.
        kernel: Its Python kernel, from batches of a partition to batches.
        reads: The schema that the kernel reads.
        writes: The schema that it writes.
    """

    refs: dict[str, str]
    kernel: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    reads: pa.Schema
    writes: pa.Schema


MODELS = {
    "int_group_results": Model(
        refs={"int_group_messages": "messages", "stg_ssb__lines": "lines"},
        kernel=partial(run_on_partition, reduce_groups),
        reads=INPUT_SCHEMA,
        writes=OUTPUT_SCHEMA,
    ),
    "int_group_foreign_excludes": Model(
        refs={"int_group_links": "links"},
        kernel=partial(run_on_partition, foreign_excludes),
        reads=FOREIGN_INPUT_SCHEMA,
        writes=FOREIGN_OUTPUT_SCHEMA,
    ),
}


def run(options: Namespace) -> Part:
    """Measure; return the figures and the goals."""
    results = kernels_alone(options.scale, options.repeats)
    goals: list[Goal] = []
    if not options.no_spark:
        spark = session.start(NAME, options.engine)
        with Watch() as watch:
            for model in MODELS:
                for name in SHAPES:
                    result = InSpark(model, name, options.scale, spark, watch).measure(options.repeats)
                    results.append(result)
                    if model == JUDGED:
                        goals += wanted(result, options.scale == 1)
        spark.stop()
    return results, goals


def wanted(result: dict, judged: bool) -> list[Goal]:
    """Return the goals of a measured shape."""
    who = f"{result['shape']}: {result['name']}"
    goals = [at_most(f"{who} / LIMIT, CPU seconds", GOAL, result["ratio"], judged)]
    if result["jobs"]:
        goals.append(same(f"{who}, Spark jobs", result["jobs_small"], result["jobs"]))
    return goals


def scaled(name: str, scale: float) -> Shape:
    """Return a shape at a scale: with fewer groups, or a group with fewer epochs and adds."""
    shape = SHAPES[name]
    if shape.groups > 1:
        return shape._replace(groups=max(int(shape.groups * scale), 1))
    epochs = max(int(shape.epochs * scale), LEAST_EPOCHS)
    return shape._replace(epochs=epochs, adds=shape.adds // shape.epochs * epochs)


def prepared(name: str, scale: float) -> Path:
    """Write the tables that the models read, unless they exist already; return their folder."""
    return stored(NAME, name, scale, lambda: group_shapes.tables(scaled(name, scale))._asdict())


def with_keys(tables: group_shapes.Tables) -> pa.Table:
    """Return the input of the kernel of `int_group_results`: the messages, and the keys of inits."""
    inits = tables.lines.filter(tables.lines["epoch_key"].is_valid())
    at = pc.index_in(tables.messages["message_id"], inits["message_id"].combine_chunks())
    keys = inits["epoch_key"].combine_chunks().take(at)
    return tables.messages.append_column("epoch_key", keys).select(INPUT_SCHEMA.names)


def read_back(model: str, name: str, scale: float) -> pa.Table:
    """Read the input of a model's kernel."""
    folder = prepared(name, scale)
    if model == "int_group_foreign_excludes":
        return pq.read_table(folder / "links")
    return with_keys(group_shapes.Tables(*(pq.read_table(folder / table) for table in group_shapes.Tables._fields)))


def kernels_alone(scale: float, repeats: int) -> list[dict]:
    """Measure the kernels on whole shapes, in turns, without an engine."""
    results = []
    for model, (_, kernel, *_) in MODELS.items():
        inputs = [read_back(model, name, scale) for name in SHAPES]
        rows = [count_rows(kernel, table) for table in inputs]  # the first call compiles
        seconds = in_turns(repeats, *(partial(count_rows, kernel, table) for table in inputs))
        for name, table, written, spent in zip(SHAPES, inputs, rows, seconds, strict=True):
            row = {"part": "kernel", "name": model, "shape": name, "messages": len(table), "rows": written}
            results.append({**row, "cpu_s": round(spent, 3)})
            say(f"groups: {results[-1]}")
    return results


def count_rows(kernel: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], table: pa.Table) -> int:
    """Run a kernel; return the number of rows that it yields."""
    return sum(batch.num_rows for batch in kernel(iter(table.to_batches())))


class InSpark(ModelInSpark):
    """A model over a shape, in a session."""

    def __init__(self, model: str, name: str, scale: float, spark: SparkSession, watch: Watch) -> None:
        """Prepare the files."""
        self.name = name
        super().__init__(spark, watch, model, read_refs(spark, model, name, scale), self.needs)
        self.small = read_refs(spark, model, name, scale * SMALL)

    def needs(self) -> list[tuple[DataFrame, list[str]]]:
        """Return messages by group and, by message, the keys of inits, which do not name their group."""
        if self.model == "int_group_foreign_excludes":
            return [(self.refs["int_group_links"].select(FOREIGN_INPUT_SCHEMA.names), ["group_id"])]
        messages = self.refs["int_group_messages"].where("epoch_id is not null and group_id is not null")
        columns = [name for name in INPUT_SCHEMA.names if name != "epoch_key"]
        inits = self.refs["stg_ssb__lines"].where("epoch_key is not null")
        keys = inits.select("message_id", "group_claim.key_fingerprint", "epoch_key")
        return [(messages.select(*columns, "key_fingerprint"), ["group_id"]), (keys, ["message_id"])]

    def count_jobs(self, refs: dict[str, DataFrame]) -> int | None:
        """Run the model, and count its Spark jobs."""
        return session.count_jobs(self.spark, lambda: self.run(refs=refs))

    def measure(self, repeats: int) -> dict:
        """Measure the model and its LIMIT in turns; return the figures."""
        jobs_small, jobs = self.count_jobs(self.small), self.count_jobs(self.refs)
        messages = next(iter(self.refs.values())).count()
        facts = {"messages": messages, "rows": self.spark.table(f"{session.SCHEMA}.found").count()}
        self.warm_up()
        who = f"groups {self.name}, {self.model}"
        measured = self.beside_limit(repeats, who, "model")
        say(f"{who}: {facts}; ratio {measured['ratio']}; {jobs} Spark jobs, {jobs_small} for a small input")
        names = {"part": "spark", "name": self.model, "shape": self.name}
        return {**names, **facts, **self.count_kinds(), **measured, "jobs": jobs, "jobs_small": jobs_small}

    def count_kinds(self) -> dict:
        """Count the rows of each kind that the model wrote."""
        if self.model != JUDGED:
            return {}
        counted = self.spark.table(f"{session.SCHEMA}.found").groupBy("row_kind").count().collect()
        return {"rows_by_kind": {row["row_kind"]: row["count"] for row in sorted(counted)}}


def read_refs(spark: SparkSession, model: str, name: str, scale: float) -> dict[str, DataFrame]:
    """Open the tables that a model refers to."""
    folder = prepared(name, scale)
    return {ref: spark.read.parquet(str(folder / table)) for ref, table in MODELS[model].refs.items()}
