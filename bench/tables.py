"""SQL tables, each next to its LIMIT, over the result of `bench builds` or `bench arrivals`.

A table's statement, as dbt compiled it, runs over the built tables that it reads, in turns with its LIMIT
(`bench.limit`), which reads the columns that Spark's plan reads. If rows need not come together, LIMIT's shuffle is
more than the minimum.
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
#: The tables that are measured by default.
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
#: Below this, the price of a statement outweighs that of its rows.
LEAST_CPU_S = 2.0


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Measure the tables of a build; return the figures of each, and the goals.

    Raises:
        RuntimeError: The build does not exist.
    """
    folder = folder_of(options.built)
    if not (folder / "target" / "manifest.json").exists():
        raise RuntimeError(f"{folder} has no build: first run `python -m bench builds --inputs {options.built}`")
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
    """Register the built tables in the session under their own names; return the folder of each."""
    found = {}
    for place in sorted((folder / "warehouse" / "tangles.db").glob("[!.]*")):
        found[place.name] = place
    spark.sql("create schema if not exists tangles")
    for name, place in found.items():
        spark.catalog.createTable(f"tangles.{name}", path=str(place), source="parquet")
    return found


def read_columns(spark: SparkSession, statement: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the reads of Spark's plan of a statement: each folder, and its columns."""
    leaves = spark.sql(statement)._jdf.queryExecution().sparkPlan().collectLeaves()
    for number in range(leaves.size()):
        scan = leaves.apply(number)
        if scan.getClass().getSimpleName() == "FileSourceScanExec":
            yield scan.relation().location().rootPaths().head().toString(), list(scan.requiredSchema().fieldNames())


def graph_of(columns: list[str]) -> list[str]:
    """Return the columns that name the graph of rows, or else the first column."""
    for graph in GRAPHS:
        if set(graph) <= set(columns):
            return list(graph)
    return columns[:1]


def measure(spark: SparkSession, watch: Watch, repeats: int, name: str, statement: str, built: Path) -> dict:
    """Measure a table and its LIMIT in turns."""
    reads = list(read_columns(spark, statement))

    def work() -> None:
        session.write(spark.sql(statement), "ours")

    limit = Limit(
        needs=lambda: [(spark.read.parquet(place).select(columns), graph_of(columns)) for place, columns in reads],
        writes=lambda: [spark.read.parquet(str(built))],
    )
    found = beside_limit(watch, repeats, f"{NAME} {name}", "statement", work, limit)
    return {"table": name, "rows": spark.read.parquet(str(built)).count(), **found}
