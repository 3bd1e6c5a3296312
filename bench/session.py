"""A local Spark session with the settings of profiles.yml, its tables under target/bench."""

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

from bench.machine import ROOT
from bench.report import RESULTS
from dbt_spark_python import environment, small
from dbt_spark_python.sessions import WAREHOUSE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "bench"


def settings(environ: Mapping[str, str], target: str = "local") -> dict[str, str]:
    """Read the Spark settings of a target, as dbt would in this environment."""
    profile = yaml.safe_load((ROOT / "profiles.yml").read_text())["tangles"]["outputs"][target]
    jinja = jinja2.Environment(undefined=jinja2.StrictUndefined)
    jinja.globals["env_var"] = lambda name, default: environ.get(name, default)
    return {
        name: jinja.from_string(value).render() if isinstance(value, str) else str(value)
        for name, value in profile["server_side_parameters"].items()
        if name != WAREHOUSE and not name.startswith(small.PREFIX)
    }


def write_parts(table: pa.Table, folder: Path, parts: int) -> None:
    """Write a table as parquet files, and mark the folder as complete."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = -(-len(table) // parts)
    for number in range(parts):
        pq.write_table(table.slice(number * rows, rows), folder / f"part-{number}.parquet", compression="zstd")
    (folder / "_SUCCESS").touch()


def start(name: str) -> SparkSession:
    """Start a session with a fresh warehouse, where tables stay that are written: no dbt command publishes them."""
    from pyspark.sql import SparkSession

    warehouse = RESULTS / name / "warehouse"
    shutil.rmtree(warehouse, ignore_errors=True)
    environment.prepare()
    builder = SparkSession.builder.appName(f"bench-{name}")
    of_warehouse = {"spark.sql.catalogImplementation": "in-memory", "spark.sql.warehouse.dir": str(warehouse)}
    for setting, value in (settings(os.environ) | of_warehouse).items():
        builder = builder.config(setting, value)
    spark = builder.getOrCreate()
    spark.sql(f"create schema {SCHEMA}")
    return spark


def write(frame: DataFrame, table: str) -> None:
    """Write a table as dbt-spark writes those of Python models."""
    frame.write.mode("overwrite").format("parquet").option("overwriteSchema", "true").saveAsTable(f"{SCHEMA}.{table}")
