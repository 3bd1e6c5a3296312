"""The graph layer next to LIMIT (`bench.limit`).

Each shape's candidates are written once as parquet files. Then, in turns, through dbt:

auto    the project's default: edges, depths by some SQL rounds, and levels by the kernel from there on.
kernel  the same with `tangle_engine: kernel`, without rounds.
limit   the candidates, read and shuffled by graph once for all models, and the rows of `int_tangle_edges` and
        `int_tangle_levels`. `int_tangle_depths`, which only the rounds need, is left out.

Only the models of dbt's runs are counted, not dbt's work before and after them.
"""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import yaml

from bench import limit as limits
from bench import model_runner, session
from bench.cpu import KINDS, Spent, Watch
from bench.in_spark import WARM_UPS, stored
from bench.limit import Limit
from bench.report import RESULTS, Goal, at_most, same, say, summary
from bench.shapes import shape
from bench.turns import ratio, seconds_of
from dbt_spark_python.session import small_run_profile
from dbt_spark_python.session.connection import WAREHOUSE
from dbt_tangles.formats.ssb.graphs import TANGLE_NAMES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "graphs"
SHAPES = ("W", "D", "M")
#: The CPU seconds as a multiple of the limit's; figures with None are reported and not judged.
GOALS = {"W": {"auto": 2.6, "kernel": 1.6}, "D": {"auto": None, "kernel": 1.6}, "M": {"auto": None, "kernel": 1.6}}
MODELS = ("int_tangle_edges", "int_tangle_depths", "int_tangle_levels")
SMALL = 0.01  # of the scale: jobs are counted at both sizes
GRAPH = ("tangle_name", "root_id")
#: A candidate has the columns of a claim.
CLAIMS = model_runner.ROOT / "models" / "intermediate" / "tangles" / "int_tangle_claims.yml"


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Measure the shapes; return the figures of each, and the goals."""
    results, goals = [], []
    spark = session.start(NAME, options.engine)
    with Watch() as watch:
        models = Models(spark, watch)
        for name in options.shapes or SHAPES:
            bench = Bench(name, options.scale, models)
            result = bench.measure(options.repeats)
            results.append(result)
            is_full = options.scale == 1
            for engine, goal in GOALS[name].items():
                if goal:
                    what = f"{name}: {engine} / limit, CPU seconds"
                    goals.append(at_most(what, goal, result[engine]["ratio"], judged=is_full))
            if result["jobs"]:
                goals.append(same(f"{name}: Spark jobs of the kernel", result["jobs_small"], result["jobs"]))
    spark.stop()
    return results, goals


def candidates(name: str, scale: float) -> pa.Table:
    """Make a shape in the columns of `int_tangle_candidates`."""
    columns = [column for column, _ in model_runner.read_yaml_columns(CLAIMS)]
    nodes = shape(name, scale)
    return nodes.rename_columns([TANGLE_NAMES.get(column, column) for column in nodes.column_names]).select(columns)


def prepared(name: str, scale: float) -> Path:
    """Write a shape as parquet files, unless they exist already; their folder."""
    return stored(NAME, name, scale, lambda: {".": candidates(name, scale)})


class Models:
    """The models from candidates to levels, run by dbt in this process and its session."""

    def __init__(self, spark: SparkSession, watch: Watch) -> None:
        """Write a profile whose tables are the session's."""
        self.spark, self.watch = spark, watch
        self.folder = RESULTS / NAME / "dbt"
        self.folder.mkdir(parents=True, exist_ok=True)
        profiles = yaml.safe_load((model_runner.ROOT / "profiles.yml").read_text())
        local = profiles["tangles"]["outputs"]["local"]
        local["schema"] = session.SCHEMA
        del local["server_side_parameters"][WAREHOUSE]
        del local["server_side_parameters"][f"{small_run_profile.PREFIX}inputs"]
        (self.folder / "profiles.yml").write_text(yaml.safe_dump(profiles))
        self._manifests: dict[str, Any] = {}

    def run(self, engine: str) -> Spent:
        """Build the models from the table `int_tangle_candidates`; return their cost.

        Raises:
            RuntimeError: dbt failed.
        """
        from dbt.cli.main import dbtRunner

        options = ["--project-dir", str(model_runner.ROOT), "--profiles-dir", str(self.folder), "--quiet"]
        options += ["--target-path", str(self.folder / engine), "--log-path", str(self.folder), "--target", "local"]
        options += ["--vars", json.dumps({"tangle_engine": engine})]
        if engine not in self._manifests:
            self._manifests[engine] = dbtRunner().invoke(["parse", *options]).result
        nodes = NodeWatch(self.watch)
        dbt = dbtRunner(manifest=self._manifests[engine], callbacks=[nodes])
        done = dbt.invoke(["run", *options, "--threads", "1", "--select", *MODELS])
        if not done.success:
            raise RuntimeError(f"dbt failed: {done.exception or [result.message for result in done.result]}")
        return nodes.spent


class NodeWatch:
    """A callback for dbt's events: counts from the start of each model to its end."""

    def __init__(self, watch: Watch) -> None:
        """Start with zero."""
        self.spent = Spent(cpu=dict.fromkeys(KINDS, 0.0))
        self._watch, self._open = watch, None

    def __call__(self, event: Any) -> None:
        """Handle an event."""
        name = event.info.name
        if name not in ("NodeStart", "NodeFinished") or event.data.node_info.resource_type != "model":
            return
        if name == "NodeStart":
            self._open = self._watch.measure()
            self._began = self._open.__enter__()
        else:
            self._open.__exit__(None, None, None)
            self.spent.wall += self._began.wall
            self.spent.cpu = {kind: self.spent.cpu[kind] + self._began.cpu[kind] for kind in KINDS}


class Bench:
    """A shape, measured in a session."""

    def __init__(self, name: str, scale: float, models: Models) -> None:
        """Prepare the shape's files."""
        self.name, self.scale, self.models = name, scale, models
        self.spark, self.watch = models.spark, models.watch
        self.rows = self.spark.read.parquet(str(prepared(name, scale)))
        self.small = self.spark.read.parquet(str(prepared(name, scale * SMALL)))
        self.limit = Limit(
            needs=lambda: [(self.table("int_tangle_candidates"), GRAPH)],
            writes=lambda: [self.table("int_tangle_levels"), self.table("int_tangle_edges")],
        )

    def table(self, name: str) -> DataFrame:
        """Return the table that was written last under a name."""
        return self.spark.table(f"{session.SCHEMA}.{name}")

    def jobs(self, rows: DataFrame) -> int | None:
        """Level the candidates by the kernel alone, and count its Spark jobs."""
        no_depths = self.spark.createDataFrame([], "tangle_name string, root_id string, message_id string, depth int")
        refs = {"int_tangle_candidates": rows, "int_tangle_depths": no_depths}
        return session.count_jobs(
            self.spark, lambda: session.write(model_runner.run("int_tangle_levels", self.spark, refs), "counted")
        )

    def measure(self, repeats: int) -> dict:
        """Measure the engines and the limit in turns; return the figures."""
        jobs_small, jobs = self.jobs(self.small), self.jobs(self.rows)
        session.write(self.rows, "int_tangle_candidates")
        runs: dict[str, list[Spent]] = {"auto": [], "kernel": []}
        of_limit: list[limits.Pieces] = []
        for number in range(1 - WARM_UPS, repeats + 1):
            spent = {name: self.models.run(name) for name in runs}
            pieces = self.limit.measure(self.watch)
            if number > 0:
                for name, done in runs.items():
                    done.append(spent[name])
                of_limit.append(pieces)
                told = ", ".join(f"{name} {each.total:.1f}" for name, each in spent.items())
                say(
                    f"graphs {self.name}: round {number} of {repeats}: CPU seconds: {told}, "
                    f"limit {pieces.spent.total:.1f}"
                )
        limit = limits.summary(of_limit)
        engines = {name: summary(done) for name, done in runs.items()}
        for engine in engines.values():
            engine["ratio"] = ratio(engine["cpu_s"], limit["cpu_s"])
        return {
            "shape": self.name,
            **facts(self.spark),
            **engines,
            "limit": limit,
            "jobs": jobs,
            "jobs_small": jobs_small,
            "kernel_alone_cpu_s": self.kernel_alone(repeats),
        }

    def kernel_alone(self, repeats: int) -> float:
        """Return the CPU seconds of the kernel on the same rows in this process, without an engine."""
        kernel = model_runner.load("int_tangle_levels").walk_partition
        per_batch = session.batch_rows()
        table = shape(self.name, self.scale)

        def work() -> None:
            for _ in kernel(iter(table.to_batches(per_batch))):
                pass

        work()
        return round(median(seconds_of(work) for _ in range(repeats)), 2)


def facts(spark: SparkSession) -> dict:
    """Count the rows that were levelled last."""
    counted = spark.sql(
        f"select count(*) as messages, count(distinct tangle_name, root_id) as tangles, count(depth) as members, "
        f"max(depth) as depth from {session.SCHEMA}.int_tangle_levels"
    )
    return counted.first().asDict()
