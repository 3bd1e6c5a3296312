"""Tables that are SQL, each next to its limit, over what `bench builds` or `bench arrivals` left.

A table's statement, as dbt compiled it, is run over the built tables that it reads, in turn with its LIMIT
(`bench.limit`): what it needs are the columns that Spark's plan reads. Where rows need not come together, the shuffle
is more than anybody needs.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bench import session
from bench.builds import folder_of
from bench.cpu import Watch
from bench.limit import Limit
from bench.report import Goal, at_most
from bench.turns import beside_limit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "tables"
#: What is measured where nothing is named.
DEFAULT = (
    "timeline_links",
    "tangle_edges",
    "tangle_missing",
    "tangle_writer_faults",
    "tangle_next",
    "feed_next",
    "set_links",
    "set_next",
    "autobase_links",
    "autobase_rebases",
    "autobase_confirmations",
    "autobase_next",
)
#: The columns that name a graph.
GRAPHS = (("tangle_name", "root_id"), ("timeline_id",), ("set_id",), ("base_id",), ("group_id",), ("feed_id",))
GOAL = 2.0
#: Less than this is the price of a statement, and not of its rows.
LEAST_CPU_S = 2.0


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Measure the tables of a build; the figures of each, and the goals.

    Raises:
        RuntimeError: There is no such build.
    """
    folder = folder_of(options.built)
    if not (folder / "target" / "manifest.json").exists():
        raise RuntimeError(f"{folder} has no build: run `python -m bench builds --inputs {options.built}` before")
    spark = session.start(NAME, options.engine)
    statements = compiled(folder)
    tables = find_tables(spark, folder)
    results, goals = [], []
    with Watch() as watch:
        for name in options.tables or [name for name in DEFAULT if name in tables]:
            result = measure(spark, watch, options.repeats, name, statements[name], tables[name])
            results.append(result)
            judged = result["limit"]["cpu_s"] >= LEAST_CPU_S
            goals.append(at_most(f"{name}: CPU seconds to the limit's", GOAL, result["ratio"], judged))
    spark.stop()
    return results, goals


def compiled(folder: Path) -> dict[str, str]:
    """Read the statements that dbt compiled, by the name of the model."""
    nodes = json.loads((folder / "target" / "manifest.json").read_text())["nodes"].values()
    models = [node for node in nodes if node["resource_type"] == "model" and node["language"] == "sql"]
    found = {}
    for node in models:
        path = folder / "target" / "compiled" / "tangles" / node["original_file_path"]
        if path.exists():
            found[node["name"]] = path.read_text()
    return found


def find_tables(spark: SparkSession, folder: Path) -> dict[str, Path]:
    """Show the session what was built, under its own names; the folder of each table."""
    found = {}
    for place in sorted((folder / "warehouse" / "tangles.db").glob("[!.]*")):
        found[place.name] = place
    spark.sql("create schema if not exists tangles")
    for name, place in found.items():
        spark.catalog.createTable(f"tangles.{name}", path=str(place), source="parquet")
    return found


def read_columns(spark: SparkSession, statement: str) -> Iterator[tuple[str, list[str]]]:
    """List what Spark's plan of a statement reads: folders, and the columns of each."""
    leaves = spark.sql(statement)._jdf.queryExecution().sparkPlan().collectLeaves()
    for number in range(leaves.size()):
        scan = leaves.apply(number)
        if scan.getClass().getSimpleName() == "FileSourceScanExec":
            yield scan.relation().location().rootPaths().head().toString(), list(scan.requiredSchema().fieldNames())


def graph_of(columns: list[str]) -> list[str]:
    """Name the graph that rows belong to, of the columns that are read; where there is none, the first of them."""
    for graph in GRAPHS:
        if set(graph) <= set(columns):
            return list(graph)
    return columns[:1]


def measure(spark: SparkSession, watch: Watch, repeats: int, name: str, statement: str, built: Path) -> dict:
    """Measure a table and its limit in turns."""
    reads = list(read_columns(spark, statement))

    def work() -> None:
        session.write(spark.sql(statement), "ours")

    limit = Limit(
        needs=lambda: [(spark.read.parquet(place).select(columns), graph_of(columns)) for place, columns in reads],
        writes=lambda: [spark.read.parquet(str(built))],
    )
    found = beside_limit(watch, repeats, f"{NAME} {name}", "statement", work, limit)
    return {"table": name, "rows": spark.read.parquet(str(built)).count(), **found}
