"""The graph layer next to its limit: reading the rows, bringing each graph together, writing the answer.

Each shape's candidates are written once as parquet. Then, in turns:

auto   what the project does: the model `int_tangle_levels`, written as dbt writes it.
limit  the rows that `auto` wrote, read, shuffled by graph and written again; nothing is computed.

Nobody who has whole graphs in one place gets by with less than the limit, so the ratio is the price of the computing.
"""

from __future__ import annotations

import uuid
from argparse import Namespace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pyarrow as pa

from bench import session, stand_in
from bench.cpu import Watch
from bench.report import RESULTS, Goal, at_most, same, say, summary
from bench.shapes import shape
from bench.turns import beside_limit, seconds_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "graphs"
SHAPES = ("W", "D", "M")
GOAL = 2.0  # auto / limit, in CPU seconds
SMALL = 0.01  # of the scale: jobs are counted at both
WARM_UPS = 2  # Java compiles most of what it compiles in the first two rounds, at a third of their CPU seconds
SQL_MESSAGES = 2_000  # of shape W, for the SQL rounds
FILES = 8
GRAPH = ("tangle_name", "root_id")
#: What `int_tangle_levels` adds to the candidates before its kernel sees them.
INTERNAL = ("known_depth", "is_levelled")
CANDIDATES = stand_in.ROOT / "models" / "intermediate" / "tangles" / "int_tangle_candidates.yml"


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Measure the shapes; the figures of each, and the goals."""
    results, goals = [], []
    spark = session.start(NAME)
    with Watch() as watch:
        for name in options.shapes or SHAPES:
            bench = Bench(name, options.scale, spark, watch)
            result = bench.measure(options.repeats)
            results.append(result)
            is_full = options.scale == 1
            goals.append(at_most(f"{name}: auto / limit, CPU seconds", GOAL, result["ratio"], judged=is_full))
            goals.append(same(f"{name}: Spark jobs of auto", result["jobs_small"], result["jobs"]))
        if options.sql:
            results.append(sql_rounds(spark, watch))
    spark.stop()
    return results, goals


def candidates(name: str, scale: float) -> pa.Table:
    """Make a shape in the columns of `int_tangle_candidates`."""
    columns = [column for column, _ in stand_in.read_yaml_columns(CANDIDATES)]
    return shape(name, scale).select(columns)


def stored(name: str, scale: float) -> Path:
    """Write a shape as parquet, unless it is there already; the folder."""
    folder = RESULTS / NAME / "shapes" / f"{name}-{scale:g}"
    if not (folder / "_SUCCESS").exists():
        say(f"graphs {name}: writing the shape at scale {scale:g}")
        table = candidates(name, scale)
        session.write_parts(table, folder, FILES)
    return folder


class Bench:
    """A shape, measured in a session."""

    def __init__(self, name: str, scale: float, spark: SparkSession, watch: Watch) -> None:
        """Prepare the shape's files."""
        self.name, self.scale, self.spark, self.watch = name, scale, spark, watch
        self.rows = spark.read.parquet(str(stored(name, scale)))
        self.small = spark.read.parquet(str(stored(name, scale * SMALL)))

    def auto(self, rows: DataFrame) -> None:
        """Level the candidates as the project does, and write the levels."""
        no_levels = self.spark.createDataFrame([], "tangle_name string, root_id string, message_id string, depth int")
        refs = {"int_tangle_candidates": rows, "int_tangle_sql_levels": no_levels}
        session.write(stand_in.run("int_tangle_levels", self.spark, refs), "auto")

    def limit(self) -> None:
        """Read, shuffle and write what `auto` wrote."""
        session.write(self.spark.table(f"{session.SCHEMA}.auto").repartition(*GRAPH), "same")

    def jobs(self, rows: DataFrame) -> int:
        """Level the candidates, and count the Spark jobs of it."""
        context, group = self.spark.sparkContext, f"bench-{uuid.uuid4()}"
        context.setJobGroup(group, group)
        self.auto(rows)
        context.setLocalProperty("spark.jobGroup.id", None)
        return len(context.statusTracker().getJobIdsForGroup(group))

    def measure(self, repeats: int) -> dict:
        """Measure both in turns; the figures."""
        jobs_small = self.jobs(self.small)
        for _ in range(WARM_UPS):
            jobs = self.jobs(self.rows)
            self.limit()
        measured = beside_limit(
            self.watch, repeats, f"graphs {self.name}", "auto", lambda: self.auto(self.rows), self.limit
        )
        return {
            "shape": self.name,
            **self.facts(),
            **measured,
            "wall_ratio": round(measured["auto"]["wall_s"] / measured["limit"]["wall_s"], 2),
            "jobs": jobs,
            "jobs_small": jobs_small,
            "kernel_alone_cpu_s": self.kernel_alone(repeats),
        }

    def facts(self) -> dict:
        """Count what the last `auto` wrote."""
        counted = self.spark.sql(
            f"select count(*) as messages, count(distinct tangle_name, root_id) as tangles, count(depth) as members, "
            f"max(depth) as depth from {session.SCHEMA}.auto"
        )
        return counted.first().asDict()

    def kernel_alone(self, repeats: int) -> float:
        """CPU seconds of the kernel on the same rows in this process: no Spark, no transfer."""
        kernel = stand_in.load("int_tangle_levels").levels_of_partition
        per_batch = int(self.spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch"))
        table = shape(self.name, self.scale)

        def work() -> None:
            for _ in kernel(iter(table.to_batches(per_batch))):
                pass

        work()
        return round(median(seconds_of(work) for _ in range(repeats)), 2)


def sql_rounds(spark: SparkSession, watch: Watch) -> dict:
    """Level a small slice of W by the SQL rounds, through dbt, and by the kernel, for context."""
    from dbt.cli.main import dbtRunner

    small = Bench("W", SQL_MESSAGES / 1_000_000, spark, watch)
    small.auto(small.rows)
    with watch.measure() as kernel:
        small.auto(small.rows)
    facts = small.facts()
    session.write(small.rows, "int_tangle_candidates")
    folder = RESULTS / NAME
    options = ["--project-dir", str(stand_in.ROOT), "--profiles-dir", str(stand_in.ROOT), "--quiet"]
    options += ["--target-path", str(folder / "dbt"), "--log-path", str(folder / "dbt"), "--target", "local"]
    options += ["--vars", "{tangle_engine: sql}"]
    manifest = dbtRunner().invoke(["parse", *options]).result
    say(f"graphs W: {facts['messages']} messages in SQL rounds, one for each of {facts['depth']} levels")
    with watch.measure() as rounds:
        done = dbtRunner(manifest=manifest).invoke(["run", *options, "--select", "int_tangle_sql_edges+1"])
    if not done.success:
        raise RuntimeError(f"the SQL rounds failed: {done.exception or [result.message for result in done.result]}")
    return {
        "shape": "W, by SQL rounds",
        **facts,
        "sql": summary([rounds]),
        "kernel": summary([kernel]),
        "sql_wall_s_per_round": round(rounds.wall / (facts["depth"] + 1), 2),
    }
