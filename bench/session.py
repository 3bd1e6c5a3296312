"""A session of Spark or Sail with the settings of profiles.yml, with tables under target/bench."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from pyspark.sql import SparkSession

from bench.machine import ROOT
from bench.report import RESULTS
from dbt_spark_python.engines import sail_server
from dbt_spark_python.session import environment, small_run_profile
from dbt_spark_python.session.connection import WAREHOUSE, guard_ports
from dbt_spark_python.table_store.catalog import literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SCHEMA = "bench"
ENGINES = {"spark": "local", "sail": "sail"}  # and the targets of profiles.yml


def settings(environ: Mapping[str, str], target: str = "local") -> dict[str, str]:
    """Read the Spark settings of a target, as dbt would in this environment."""
    profile = yaml.safe_load((ROOT / "profiles.yml").read_text())["tangles"]["outputs"][target]
    jinja = jinja2.Environment(undefined=jinja2.StrictUndefined)
    jinja.globals["env_var"] = lambda name, default: environ.get(name, default)
    return {
        name: jinja.from_string(value).render() if isinstance(value, str) else str(value)
        for name, value in profile["server_side_parameters"].items()
        if name not in (WAREHOUSE, sail_server.ENGINE) and not name.startswith(small_run_profile.PREFIX)
    }


def batch_rows() -> int:
    """Return the number of rows in a batch of a Python model's input."""
    return int(settings(os.environ)["spark.sql.execution.arrow.maxRecordsPerBatch"])


def write_parts(table: pa.Table, folder: Path, parts: int) -> None:
    """Write a table as parquet files, and mark the folder as complete."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = -(-len(table) // parts)
    for number in range(parts):
        pq.write_table(table.slice(number * rows, rows), folder / f"part-{number}.parquet", compression="zstd")
    (folder / "_SUCCESS").touch()


def start(name: str, engine: str = "spark") -> SparkSession:
    """Start a session with a fresh warehouse; written tables stay there, because no dbt command publishes them."""
    warehouse = RESULTS / name / f"warehouse-{engine}"
    shutil.rmtree(warehouse, ignore_errors=True)
    warehouse.mkdir(parents=True)
    environment.prepare(needs_java=engine == "spark")
    parameters = settings(os.environ, ENGINES[engine])
    if engine == "sail":
        spark = sail_server.connect(parameters, str(warehouse))
    else:
        guard_ports(parameters)
        of_warehouse = {"spark.sql.catalogImplementation": "in-memory", "spark.sql.warehouse.dir": str(warehouse)}
        spark = SparkSession.builder.appName(f"bench-{name}").config(map=parameters | of_warehouse).getOrCreate()
    spark.sql(f"create schema {SCHEMA} location '{literal(warehouse)}'")
    return spark


def write(frame: DataFrame, table: str) -> None:
    """Write a table as dbt-spark writes the tables of Python models."""
    frame.write.mode("overwrite").format("parquet").option("overwriteSchema", "true").saveAsTable(f"{SCHEMA}.{table}")
