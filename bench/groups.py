"""The epochs and members of private groups: CPU seconds of the kernels, and in Spark.

In this process, in turns:

kernel  what the models `int_group_results` and `int_group_foreign_excludes` do in Python, of the shapes of
        `group_shapes.py`: many small groups, and a large one.

In Spark, each of the two models next to its limit: what it reads, read and shuffled by group, and as many rows as it
writes, of the same shape, written, whatever is in them. Keys of epochs reach their messages by a join; that moves data,
and is in the limit. `int_group_foreign_excludes` is context only. Spark jobs are counted of a small input as well.
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

from bench import group_shapes, session, stand_in
from bench.cpu import Watch
from bench.group_shapes import Shape
from bench.report import RESULTS, Goal, at_most, same, say
from bench.sets import FILES, WARM_UPS, Part, shuffled
from bench.turns import beside_limit, in_turns
from dbt_tangles.groups.foreign import FOREIGN_INPUT_SCHEMA, FOREIGN_OUTPUT_SCHEMA
from dbt_tangles.groups.foreign_partition import foreign_excludes_of_partition
from dbt_tangles.groups.partition import groups_of_partition
from dbt_tangles.groups.schemas import INPUT_SCHEMA, OUTPUT_SCHEMA

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
        refs: Which of `group_shapes.Tables` it reads, by name.
        kernel: What it does in Python, batches of a partition in and out.
        reads: What the kernel reads.
        writes: What it writes.
        alike: What the limit writes in place of what the model finds, made of all that the kernel reads and the number
            `copy` of the row among those of its message.
    """

    refs: dict[str, str]
    kernel: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    reads: pa.Schema
    writes: pa.Schema
    alike: dict[str, str]


def of_epochs(value: str) -> str:
    """Say in SQL what the rows of inits have, and the others not."""
    return f"if(epoch_key is null, null, {value})"


def of_members(value: str) -> str:
    """Say in SQL what the rows of inits do not have."""
    return f"if(epoch_key is null, {value}, null)"


MODELS = {
    "int_group_results": Model(
        refs={"int_group_messages": "messages", "stg_ssb__lines": "lines"},
        kernel=groups_of_partition,
        reads=INPUT_SCHEMA,
        writes=OUTPUT_SCHEMA,
        alike={
            "row_kind": "if(epoch_key is null, 'member', 'epoch')",
            "depth": of_epochs("size(previous_epochs)"),
            "is_tip": of_epochs("is_connected"),
            "is_preferred": of_epochs("is_connected"),
            "preference": of_epochs("kind"),
            **{name: of_epochs("copy") for name in ("tip_count", "added_count", "excluded_count")},
            **{name: of_epochs("copy") for name in ("missing_count", "returned_count")},
            "are_missing_listed": of_epochs("is_connected"),
            "feed_id": of_members("get(feeds, pmod(copy, nullif(size(feeds), 0)))"),
            **{name: of_members("is_connected") for name in ("is_added", "is_member", "is_missing", "is_returned")},
            "is_excluded": of_members("kind = 'exclude'"),
            "added_by": of_members("array(message_id)"),
            "excluded_by": of_members("cast(array() as array<string>)"),
        },
    ),
    "int_group_foreign_excludes": Model(
        refs={"int_group_links": "links"},
        kernel=foreign_excludes_of_partition,
        reads=FOREIGN_INPUT_SCHEMA,
        writes=FOREIGN_OUTPUT_SCHEMA,
        alike={
            "epoch_id": "coalesce(excluded_epoch, message_id)",
            "message_ids": "if(is_member, previous, previous_epochs)",
            "message_count": "depth + copy",
        },
    ),
}


def run(options: Namespace) -> Part:
    """Measure; the figures and the goals."""
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
    """Compare what was measured of a shape with what it should be."""
    who = f"{result['shape']}: {result['name']}"
    goals = [at_most(f"{who} / LIMIT, CPU seconds", GOAL, result["ratio"], judged)]
    if result["jobs"]:
        goals.append(same(f"{who}, Spark jobs", result["jobs_small"], result["jobs"]))
    return goals


def scaled(name: str, scale: float) -> Shape:
    """Say how a shape looks at a scale: fewer groups, or a group with fewer epochs and adds."""
    shape = SHAPES[name]
    if shape.groups > 1:
        return shape._replace(groups=max(int(shape.groups * scale), 1))
    epochs = max(int(shape.epochs * scale), LEAST_EPOCHS)
    return shape._replace(epochs=epochs, adds=shape.adds // shape.epochs * epochs)


def stored(name: str, scale: float) -> Path:
    """Write what the models read as parquet, in no order, unless it is there already; the folder of the tables."""
    folder = RESULTS / NAME / "shapes" / f"{name}-{scale:g}"
    if not (folder / "_SUCCESS").exists():
        say(f"groups {name}: writing the messages at scale {scale:g}")
        for table, rows in group_shapes.tables(scaled(name, scale))._asdict().items():
            session.write_parts(shuffled(rows), folder / table, FILES)
        (folder / "_SUCCESS").touch()
    return folder


def with_keys(tables: group_shapes.Tables) -> pa.Table:
    """Make what the kernel of `int_group_results` reads: the messages, inits with their keys."""
    inits = tables.lines.filter(tables.lines["epoch_key"].is_valid())
    at = pc.index_in(tables.messages["message_id"], inits["message_id"].combine_chunks())
    keys = inits["epoch_key"].combine_chunks().take(at)
    return tables.messages.append_column("epoch_key", keys).select(INPUT_SCHEMA.names)


def read_back(model: str, name: str, scale: float) -> pa.Table:
    """Read what the kernel of a model is given."""
    folder = stored(name, scale)
    if model == "int_group_foreign_excludes":
        return pq.read_table(folder / "links")
    return with_keys(group_shapes.Tables(*(pq.read_table(folder / table) for table in group_shapes.Tables._fields)))


def kernels_alone(scale: float, repeats: int) -> list[dict]:
    """Measure the kernels on whole shapes, in turns: no Spark, no transfer."""
    results = []
    for model, (_, kernel, *_) in MODELS.items():
        inputs = [read_back(model, name, scale) for name in SHAPES]
        rows = [count_rows(kernel, table) for table in inputs]  # This compiles what is not compiled yet.
        seconds = in_turns(repeats, *(partial(count_rows, kernel, table) for table in inputs))
        for name, table, written, spent in zip(SHAPES, inputs, rows, seconds, strict=True):
            row = {"part": "kernel", "name": model, "shape": name, "messages": len(table), "rows": written}
            results.append({**row, "cpu_s": round(spent, 3)})
            say(f"groups: {results[-1]}")
    return results


def count_rows(kernel: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], table: pa.Table) -> int:
    """Let a kernel do its work; how many rows come out."""
    return sum(batch.num_rows for batch in kernel(iter(table.to_batches())))


def limit_columns(model: str) -> list[str]:
    """What the limit of a model writes."""
    return [f"{MODELS[model].alike.get(name, name)} as {name}" for name in MODELS[model].writes.names]


class InSpark:
    """What a model says of a shape, in a session."""

    def __init__(self, model: str, name: str, scale: float, spark: SparkSession, watch: Watch) -> None:
        """Prepare the files."""
        self.model, self.name, self.spark, self.watch = model, name, spark, watch
        self.rows, self.small = self.read(scale), self.read(scale * SMALL)
        self.copies = 1.0

    def read(self, scale: float) -> dict[str, DataFrame]:
        """Open what the model refers to."""
        folder = stored(self.name, scale)
        return {ref: self.spark.read.parquet(str(folder / table)) for ref, table in MODELS[self.model].refs.items()}

    def work(self, rows: dict[str, DataFrame] | None = None) -> None:
        """Run the model as the project does, and write the answer."""
        session.write(stand_in.run(self.model, self.spark, rows or self.rows), "found")

    def moved(self) -> DataFrame:
        """Read what the model reads, and bring whole groups together."""
        from pyspark.sql import functions as sf

        if self.model == "int_group_foreign_excludes":
            inputs = self.rows["int_group_links"]
        else:
            inits = self.rows["stg_ssb__lines"].where("epoch_key is not null")
            keys = inits.select("message_id", "group_claim.key_fingerprint", "epoch_key")
            keys = keys.groupBy("message_id", "key_fingerprint").agg(sf.min("epoch_key").alias("epoch_key"))
            inputs = self.rows["int_group_messages"].join(keys, ["message_id", "key_fingerprint"], "left")
        return inputs.select(MODELS[self.model].reads.names).repartition("group_id")

    def limit(self) -> None:
        """Read and shuffle what `work` reads, and write as many rows of the same shape, whatever is in them."""
        # What is drawn at random, Spark does not move to where rows are read: all of them are shuffled.
        drawn = self.moved().selectExpr("*", f"cast(floor({self.copies} + rand(1)) as int) as copies")
        copied = drawn.selectExpr("*", "posexplode(array_repeat(0, copies)) as (copy, nothing)")
        session.write(copied.selectExpr(*limit_columns(self.model)), "alike")

    def jobs(self, rows: dict[str, DataFrame]) -> int | None:
        """Run the model, and count the Spark jobs of it."""
        return session.count_jobs(self.spark, lambda: self.work(rows))

    def measure(self, repeats: int) -> dict:
        """Measure both in turns; the figures."""
        jobs_small, jobs = self.jobs(self.small), self.jobs(self.rows)
        messages = next(iter(self.rows.values())).count()
        facts = {"messages": messages, "rows": self.count("found")}
        self.copies = facts["rows"] / messages
        self.limit()
        facts["limit_rows"] = self.count("alike")
        if abs(facts["limit_rows"] / max(facts["rows"], 1) - 1) > 0.03 and facts["rows"] > 10_000:
            raise RuntimeError(f"the limit writes as many rows as the model, not {facts}")
        if self.types("found") != self.types("alike"):
            raise RuntimeError(f"the limit writes {self.types('alike')}, the model {self.types('found')}")
        for _ in range(WARM_UPS - 1):
            self.work()
            self.limit()
        who = f"groups {self.name}, {self.model}"
        measured = beside_limit(self.watch, repeats, who, "model", self.work, self.limit)
        say(f"{who}: {facts}; ratio {measured['ratio']}; {jobs} Spark jobs, {jobs_small} for a small input")
        names = {"part": "spark", "name": self.model, "shape": self.name}
        return {**names, **facts, **self.kinds(), **measured, "jobs": jobs, "jobs_small": jobs_small}

    def types(self, table: str) -> list[tuple[str, str]]:
        """Name the columns of what was written, and their types."""
        return self.spark.table(f"{session.SCHEMA}.{table}").dtypes

    def count(self, table: str) -> int:
        """Count what was written."""
        return self.spark.table(f"{session.SCHEMA}.{table}").count()

    def kinds(self) -> dict:
        """Count the rows of each kind that the model wrote."""
        if self.model != JUDGED:
            return {}
        counted = self.spark.table(f"{session.SCHEMA}.found").groupBy("row_kind").count().collect()
        return {"rows_by_kind": {row["row_kind"]: row["count"] for row in sorted(counted)}}
