"""Drives dbt from pytest: one Spark session for all tests, a schema for each build."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"


@dataclass
class DbtProject:
    """A dbt project whose tables go to a schema of their own."""

    warehouse: Path
    schema: str
    project_dir: Path = ROOT
    vars: dict = field(default_factory=dict)

    def invoke(self, *args: str):
        """Run a dbt command in this process and return its result, whatever it is."""
        from dbt.cli.main import dbtRunner

        os.environ["TANGLES_SCHEMA"] = self.schema
        options = ["--project-dir", str(self.project_dir), "--profiles-dir", str(ROOT), "--vars", json.dumps(self.vars)]
        paths = ["--target-path", str(self.warehouse / "target" / self.schema)]
        logs = ["--log-path", str(self.warehouse / "logs" / self.schema)]
        return dbtRunner().invoke([*args, *options, *paths, *logs])

    def build(self, *args: str) -> "DbtProject":
        """Run `dbt build` and fail with what failed, unless everything is green."""
        result = self.invoke("build", *args)
        assert result.exception is None, result.exception
        failed = [
            f"{r.node.name}: {r.message}" for r in result.result if r.status in ("error", "fail", "runtime error")
        ]
        assert not failed, "\n".join(failed)
        return self

    def table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """Read a built table the way a notebook would: plain parquet files."""
        return ds.dataset(self.warehouse / f"{self.schema}.db" / name, format="parquet").to_table(columns=columns)

    def rows(self, name: str, columns: list[str] | None = None) -> list[dict]:
        """Return a built table's rows."""
        return self.table(name, columns).to_pylist()


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory) -> Path:
    """A fresh warehouse; every dbt run of this process shares its Spark session."""
    path = tmp_path_factory.mktemp("warehouse")
    os.environ["TANGLES_WAREHOUSE"] = str(path)
    os.environ["TANGLES_SHUFFLE_PARTITIONS"] = "4"
    return path


@pytest.fixture(scope="session")
def project(warehouse):
    """Make a project: `project("schema", ssb_log=…)`."""

    def make(schema: str, project_dir: Path = ROOT, **variables) -> DbtProject:
        return DbtProject(warehouse, schema, project_dir, variables)

    return make


@pytest.fixture(scope="session")
def fixtures(project) -> DbtProject:
    """Build every model from the seed fixtures; their tests run in `make test`."""
    built = project("tangles")
    assert built.invoke("build", "--resource-type", "model", "--resource-type", "seed").success
    return built
