"""Read tables of Iceberg or Delta Lake in a process of its own, on TANGLES_TARGET.

`python -m tests.cluster.snapshots export FOLDER` writes all tables as plain parquet, into `FOLDER/<table>`.
`python -m tests.cluster.snapshots watch FILE STOP TABLE …` reads tables, named as in SQL, in a loop until the file STOP
exists, and once more; FILE gets a line of JSON for each reading: the number of the round, the table, and a digest of
its rows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from bench.machine import ROOT
from dbt_spark_python.session.connection import process_session
from tests.cluster.build import SCHEMA

#: The number of rows, and a sum over them in which equal rows do not cancel each other.
_DIGEST = "select count(*), sum(cast(xxhash64(to_json(struct(*))) as decimal(38, 0))) from {table}"


def main() -> None:
    command, path, *rest = sys.argv[1:]
    session = open_session(Path(path).absolute().parent)
    if command == "export":
        export(session, Path(path))
    else:
        watch(session, Path(path), Path(rest[0]), rest[1:])


def open_session(folder: Path) -> SparkSession:
    """Open the session of the profile's target; `folder` is for the files of dbt."""
    options = ["--project-dir", str(ROOT), "--profiles-dir", str(ROOT), "--target-path", str(folder / "dbt")]
    done = dbtRunner().invoke(["show", "--quiet", "--inline", "select 1", *options, "--log-path", str(folder / "dbt")])
    assert done.success, done.exception
    return process_session()


def export(session: SparkSession, folder: Path) -> None:
    """Write each table of the schema as one file of parquet; the list has the session's temporary views, too."""
    for table in session.catalog.listTables(SCHEMA):
        if table.isTemporary:
            continue
        (folder / table.name).mkdir(parents=True)
        pq.write_table(session.table(f"{SCHEMA}.{table.name}").toArrow(), folder / table.name / "rows.parquet")


def watch(session: SparkSession, file: Path, stop: Path, names: Sequence[str]) -> None:
    """Read tables in rounds; the last round begins after `stop` was made."""
    number, is_last = 0, False
    with file.open("w") as out:
        while not is_last:
            is_last = stop.exists()
            for name in names:
                digest = str(session.sql(_DIGEST.format(table=name)).first())
                out.write(json.dumps([number, name, digest]) + "\n")
                out.flush()
            number += 1


if __name__ == "__main__":
    main()
