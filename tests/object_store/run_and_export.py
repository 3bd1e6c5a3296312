"""Run models and write tables as plain parquet: `python run_and_export.py FOLDER VARS MODELS...`, on TANGLES_TARGET."""

import sys
from pathlib import Path

import pyarrow.parquet as pq
from dbt.cli.main import dbtRunner

from dbt_spark_python.session.connection import process_session

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Run the models with their inputs; write the models and `runs` into `FOLDER/exported/<table>`."""
    folder, variables, models = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    options = ["--project-dir", ROOT, "--profiles-dir", ROOT, "--vars", variables]
    options += ["--target-path", folder / "target", "--log-path", folder / "logs", "--log-level-file", "debug"]
    selected = [f"+{model}" for model in models]
    result = dbtRunner().invoke([str(word) for word in ["run", "--select", *selected, *options]])
    if not result.success:
        sys.exit(2 if result.exception else 1)  # as dbt's own command
    for name in [*models, "runs"]:
        table = folder / "exported" / name
        table.mkdir(parents=True, exist_ok=True)
        pq.write_table(process_session().table(f"tangles.{name}").toArrow(), table / "rows.parquet")


if __name__ == "__main__":
    main()
