"""Write tables of Iceberg or Delta Lake, on TANGLES_TARGET, as plain parquet, in a process of its own.

`python -m tests.cluster.snapshots FOLDER` writes each table into `FOLDER/<table>`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow.parquet as pq
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from bench.machine import ROOT
from dbt_spark_python.fences.known_session import find_session
from tests.cluster.build import SCHEMA


def main() -> None:
    folder = Path(sys.argv[1]).absolute()
    export(open_session(folder.parent), folder)


def open_session(folder: Path) -> SparkSession:
    """Open the session of the profile's target; `folder` is for the files of dbt."""
    options = ["--project-dir", str(ROOT), "--profiles-dir", str(ROOT), "--target-path", str(folder / "dbt")]
    done = dbtRunner().invoke(["show", "--quiet", "--inline", "select 1", *options, "--log-path", str(folder / "dbt")])
    assert done.success, done.exception
    return find_session()


def export(session: SparkSession, folder: Path) -> None:
    """Write each table of the schema as one file of parquet; the list has the session's temporary views, too."""
    for table in session.catalog.listTables(SCHEMA):
        if table.isTemporary:
            continue
        (folder / table.name).mkdir(parents=True)
        pq.write_table(session.table(f"{SCHEMA}.{table.name}").toArrow(), folder / table.name / "rows.parquet")


if __name__ == "__main__":
    main()
