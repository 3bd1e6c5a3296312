"""Run nights in one process: `python run_nights.py FOLDER SELECTED NAME=LOG... -- NIGHT...`, on TANGLES_TARGET.

NAME is the var of a log. A night copies the files of the folder NIGHT over the logs and runs the models of SELECTED;
without a NIGHT, one night reads the logs as they are. Tables of a table format are written as plain parquet afterwards,
into `FOLDER/exported/<table>`.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from dbt.cli.main import dbtRunner

from bench.machine import ROOT
from dbt_spark_python.fences.known_session import find_session
from tests.cluster.snapshots import export


def main() -> None:
    folder, selected, *rest = sys.argv[1:]
    logs, nights = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    variables = dict(log.split("=", 1) for log in logs)
    options = ["--project-dir", ROOT, "--profiles-dir", ROOT, "--target-path", folder, "--log-path", folder]
    options += ["--vars", json.dumps(variables), "--no-use-colors"]
    for night in nights or [""]:
        for log in variables.values() if night else ():
            shutil.copy(Path(night) / Path(log).name, log)
        result = dbtRunner().invoke(["run", "--select", *selected.split(), *map(str, options)])
        if not result.success:
            sys.exit(2 if result.exception else 1)
    if os.environ["TANGLES_TARGET"] != "sail":
        export(find_session(), Path(folder) / "exported")


if __name__ == "__main__":
    main()
