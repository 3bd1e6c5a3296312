"""Python models next to LIMIT: read the columns that a model needs, shuffle them by group, write the model's rows.

Every program that makes a table of whole groups needs these steps, so the ratio to LIMIT is the price of the computing.
All models share this definition. The rows to write exist only in a model's output, so LIMIT is measured in pieces:

moved    the columns that the model needs, read, shuffled once by group, and discarded.
written  the rows that the model wrote last, read, and written again.
reread   the same rows, read and discarded.

LIMIT is `moved` and `written` less `reread`.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from bench import autobase, graphs, model_runner, session, sets, timelines
from bench.cpu import Spent, Watch
from bench.report import RESULTS, Goal, at_most, say, summary
from bench.turns import ratio
from dbt_spark_python.engines.sail import gather
from dbt_tangles.algorithms.autobase.results import results_of_bases
from dbt_tangles.algorithms.set import INPUT_SCHEMA as ENTRIES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "limit"
FILES = 8
#: Java compiles most of the code that it compiles in the first two rounds, at a third of their CPU seconds.
WARM_UPS = 2
GRAPH = ("tangle_name", "root_id")
#: A candidate has the columns of a claim.
CLAIMS = model_runner.ROOT / "models" / "intermediate" / "tangles" / "int_tangle_claims.yml"
NO_DEPTHS = "tangle_name string, root_id string, message_id string, depth int"


class Model(NamedTuple):
    """A Python model and its made-up input."""

    name: str  # The model
    shape: str  # The name of the input
    ref: str  # The model that it reads
    make: Callable[[float], pa.Table]  # Returns the rows of that model at a scale
    key: Sequence[str]  # The columns that name a group
    needs: Sequence[str] = ()  # The columns that the model reads; all of them if empty
    goal: float | None = 2.0  # The most CPU seconds, in those of LIMIT; None for a model without a goal
    variables: Mapping[str, object] = {}  # dbt vars that differ from the defaults
    empty: Mapping[str, str] = {}  # Other models that it reads, by the columns of their rows; they have none
    versions: str = ""  # The model with the versions of its groups, which a full build does not read


def _levels(shape: str) -> Model:
    columns = [name for name, _ in model_runner.read_yaml_columns(CLAIMS)]
    make = lambda scale: graphs.candidates(shape, scale, columns)  # noqa: E731
    no_depths = {"int_tangle_depths": NO_DEPTHS}
    return Model("int_tangle_levels", shape, "int_tangle_candidates", make, GRAPH, goal=1.6, empty=no_depths)


def _order(shape: str) -> Model:
    make = lambda scale: timelines.arrivals(shape, scale)  # noqa: E731
    no_scripts = {"edit_batch_size": 0}
    about = {"variables": no_scripts, "versions": "int_timeline_versions"}
    return Model("int_timeline_order", shape, "int_timeline_arrivals", make, ["timeline_id"], **about)


def _sets(shape: str, goal: float | None) -> Model:
    make = lambda scale: sets.entries(shape, scale)  # noqa: E731
    about = {"needs": ENTRIES.names, "goal": goal, "versions": "int_set_versions"}
    return Model("int_set_messages", shape, "int_set_entries", make, ["set_id"], **about)


def _bases(name: str, goal: float | None) -> Model:
    return Model(
        name, "bases", "int_autobase_members", autobase.members, ["base_id"], results_of_bases.reads.names, goal
    )


MODELS = (
    *(_levels("one"), _levels("many"), _order("one"), _order("many")),
    *(_sets("many", 2.0), _sets("one", None)),  # a single set keeps only one worker busy
    _bases("int_autobase_results", 4.0),
)


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


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Measure each model in turns with its LIMIT; return the figures and the goals."""
    spark = session.start(NAME, options.engine)
    results, goals = [], []
    with Watch() as watch:
        for model in MODELS:
            found = Measured(model, options.scale, spark, watch).measure(options.repeats)
            results.append(found)
            if model.goal is not None:
                what = f"{model.name}, {model.shape}: CPU seconds / LIMIT"
                goals.append(at_most(what, model.goal, found["ratio"], options.scale == 1))
    spark.stop()
    return results, goals


def stored(model: Model, scale: float) -> Path:
    """Write the input of a model as parquet files with shuffled rows, unless it exists already; return its folder."""
    folder = RESULTS / NAME / "inputs" / f"{model.ref}-{model.shape}-{scale:g}"
    if not (folder / "_SUCCESS").exists():
        say(f"limit: writing {model.ref}, {model.shape}, at scale {scale:g}")
        session.write_parts(sets.shuffled(model.make(scale)), folder, FILES)
    return folder


class Measured:
    """A model over stored rows, in a session."""

    def __init__(self, model: Model, scale: float, spark: SparkSession, watch: Watch) -> None:
        """Prepare the files."""
        self.model, self.spark, self.watch = model, spark, watch
        self.rows = spark.read.parquet(str(stored(model, scale)))
        self.refs = {model.ref: self.rows}
        self.refs |= {name: spark.createDataFrame([], columns) for name, columns in model.empty.items()}
        self.refs |= {model.versions: None}

    def run(self) -> None:
        """Run the model as the project does, and write its table."""
        found = model_runner.run(self.model.name, self.spark, self.refs, **self.model.variables)
        session.write(found, "found")

    def limit(self) -> Pieces:
        """Measure the pieces of LIMIT, one after another."""
        found = self.spark.table(f"{session.SCHEMA}.found")
        with self.watch.measure() as moved:
            rows = self.rows.select(*self.model.needs) if self.model.needs else self.rows
            _discard(gather(rows, *self.model.key))
        with self.watch.measure() as written:
            session.write(found, "same")
        with self.watch.measure() as reread:
            _discard(found)
        return Pieces(moved, written, reread)

    def measure(self, repeats: int) -> dict:
        """Measure model and LIMIT in turns; return the figures."""
        ours, limits = [], []
        for number in range(1 - WARM_UPS, repeats + 1):
            with self.watch.measure() as spent:
                self.run()
            pieces = self.limit()
            if number > 0:
                ours.append(spent)
                limits.append(pieces)
                told = f"{spent.total:.1f}, limit {pieces.spent.total:.1f}"
                say(f"limit {self.model.name}, {self.model.shape}: round {number} of {repeats}: CPU seconds {told}")
        of_model, of_limit = summary(ours), summary([each.spent for each in limits])
        pieces = {name: round(median(getattr(each, name).total for each in limits), 2) for name in Pieces._fields}
        return {
            **{"model": self.model.name, "shape": self.model.shape, "rows": self.rows.count()},
            **{"ratio": ratio(of_model["cpu_s"], of_limit["cpu_s"]), "found": of_model},
            "limit": of_limit | {"cpu_s_by_piece": pieces},
        }


def _discard(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()
