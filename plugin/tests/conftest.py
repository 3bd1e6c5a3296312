"""Runs dbt from pytest: one session for all tests, and a schema for each project.

DBT_SPARK_PYTHON_TEST_ENGINE=sail runs the builds on Sail, in a fraction of the time; tests marked `spark` need Spark
itself and are skipped there. `iceberg` and `delta` run the tests with these marks on tables of Iceberg and Delta Lake;
DBT_SPARK_PYTHON_TEST_JARS names the jars, and the Spark of the environment has to support them. `rest` runs the tests
with this mark on tables of Iceberg in the REST catalog at the address DBT_SPARK_PYTHON_TEST_CATALOG.
"""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import dbt_common.tests
import pyarrow.dataset as ds
import pytest

from dbt_spark_python.fences.known_session import find_session
from dbt_spark_python.table_store.warehouse import Warehouse
from plugin_projects import make_project

TESTS = Path(__file__).parent
ENGINE = os.environ.get("DBT_SPARK_PYTHON_TEST_ENGINE", "local")
#: The table formats of engines whose tables are in a catalog, with snapshots.
FORMATS = {"iceberg": "iceberg", "delta": "delta", "rest": "iceberg"}


def pytest_configure(config):
    """Refuse an unknown engine."""
    if ENGINE not in ("local", "sail", *FORMATS):
        raise pytest.UsageError(f"DBT_SPARK_PYTHON_TEST_ENGINE is {ENGINE!r}: set local, sail, {', '.join(FORMATS)}")


@pytest.hookimpl(tryfirst=True)  # before `-m` selects by markers
def pytest_collection_modifyitems(items):
    """Skip tests that need the other engine; of a table format, run only the tests with its mark."""
    if ENGINE in FORMATS:
        items[:] = [item for item in items if item.get_closest_marker(ENGINE)]
        return
    left_out = {"local": "sail", "sail": "spark"}[ENGINE]
    items[:] = [item for item in items if not of_formats_only(item)]
    for item in items:
        if item.get_closest_marker(left_out):
            item.add_marker(pytest.mark.skip(reason=f"about {left_out}: DBT_SPARK_PYTHON_TEST_ENGINE is {ENGINE}"))


def of_formats_only(item) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    return not marks.isdisjoint(FORMATS) and marks.isdisjoint(("both", "sail", "spark"))


@dataclass
class DbtProject:
    """A dbt project with its own schema."""

    warehouse: Path
    schema: str
    project_dir: Path
    vars: dict = field(default_factory=dict)

    def invoke(self, *args: str, callbacks=()):
        """Run a dbt command in this process and return its result."""
        from dbt.cli.main import dbtRunner

        os.environ["DBT_SPARK_PYTHON_TEST_SCHEMA"] = self.schema
        options = ["--project-dir", str(self.project_dir), "--profiles-dir", str(TESTS)]
        options += ["--vars", json.dumps(self.vars)]
        paths = ["--target-path", str(self.warehouse / "target" / self.schema)]
        logs = ["--log-path", str(self.warehouse / "logs" / self.schema)]
        return dbtRunner(callbacks=[*callbacks]).invoke([*args, *options, *paths, *logs])

    def build(self, *args: str) -> "DbtProject":
        """Run `dbt build`, and fail with the messages of failed nodes."""
        said = self.failures("build", *args)
        assert not said, "\n".join(said.values())
        return self

    def failures(self, *args: str) -> dict[str, str]:
        """Run a dbt command; return the messages of failed nodes by name."""
        result = self.invoke(*args)
        assert result.exception is None, result.exception
        return {r.node.name: r.message for r in result.result if r.status in ("error", "fail", "runtime error")}

    def rows(self, name: str) -> list[dict]:
        """Read a built table as a notebook would: plain parquet files, or for a table format the session."""
        if ENGINE in FORMATS:
            return [row.asDict() for row in find_session().table(f"{self.schema}.{name}").collect()]
        return ds.dataset(self.warehouse / f"{self.schema}.db" / name, format="parquet").to_table().to_pylist()

    def asked(self, sql: str) -> list[tuple]:
        """Query the process's session, as a notebook beside dbt would."""
        return sorted(map(tuple, find_session().sql(sql).collect()), key=repr)


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory) -> Path:
    """A fresh warehouse; every dbt run of this process shares its session."""
    path = tmp_path_factory.mktemp("warehouse") / "new"
    os.environ["DBT_SPARK_PYTHON_TEST_WAREHOUSE"] = str(path)
    dbt_common.tests.enable_test_caching()
    return path


@pytest.fixture(scope="session")
def project(warehouse):
    """Make a project: `project("schema", folder)`."""

    def make(schema: str, project_dir: Path, **variables) -> DbtProject:
        return DbtProject(warehouse, schema, project_dir, variables)

    return make


@pytest.fixture(scope="module")
def spark(project, tmp_path_factory):
    """The session of a build."""
    project("one", make_project(tmp_path_factory.mktemp("one"), {"one.sql": "select 1 as id"})).build()
    return find_session()


@pytest.fixture
def folders(tmp_path) -> Warehouse:
    """A separate warehouse, locked by this process."""
    made = Warehouse(tmp_path / "warehouse")
    made.begin_writing()
    yield made
    made.close()


def write_files(folders: Warehouse, files: dict[str, str], name: str = "t") -> Path:
    """Write the files of a new table of the schema `s`, and return its folder; they need not be parquet."""
    place = folders.private_place("s", name)
    for file, text in files.items():
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_text(text)
    return place


def publish_files(folders: Warehouse, files: dict[str, str], run: str = "run", name: str = "t", **options):
    """Publish a new table of these files."""
    write_files(folders, files, name)
    return folders.publish("s", name, run, **options)


def overwrite(path: Path, content: bytes) -> None:
    """Change the bytes of a file, but not its times."""
    found = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


@pytest.fixture
def schema(request) -> str:
    return "".join(c if c.isalnum() else "_" for c in request.node.name.lower())


@pytest.fixture
def nights(project, tmp_path, schema):
    """The shop project with a log of its own, before its first build."""
    from shop_nights import Nights  # it reads ENGINE of this module

    return Nights(project, tmp_path, schema)
