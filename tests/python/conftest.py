"""Drives dbt from pytest: one session for all tests of a process, a schema for each build.

TANGLES_TEST_ENGINE=sail runs the builds on Sail, which takes less time; tests marked `spark` are about Spark itself and
are skipped there. `tests/run.sh` tells which tests run where.
"""

import gc
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import dbt_common.tests
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from click.testing import Result
from dbt.contracts.graph.manifest import Manifest
from hypothesis import settings

import manifests
from both_tiers import as_users_run, both_tiers
from dbt_tangles.kernel_runtime.compiled import TIER, TIERS

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"

ENGINE = os.environ.get("TANGLES_TEST_ENGINE", "local")

# Searches of properties: `make test` uses the same examples each time, `make test-long` random and more ones.
settings.register_profile("quick", max_examples=20, derandomize=True, deadline=None)
settings.register_profile("long", max_examples=60, deadline=None)
settings.load_profile("quick")


def pytest_configure(config):
    """Refuse an unknown engine."""
    if ENGINE not in ("local", "sail"):
        raise pytest.UsageError(f"TANGLES_TEST_ENGINE is {ENGINE!r}, but must be local or sail")
    os.environ["TANGLES_TARGET"] = ENGINE
    kits = {path.stem for path in (Path(__file__).parent / "kits").glob("*.py")}
    pytest.register_assert_rewrite(*kits - sys.modules.keys())


def pytest_collection_finish():
    """Exclude the data of all tests from garbage collection, which would traverse them each time.

    A parsed project is 200,000 objects, and dbt makes millions while it runs, so collections are made rarely.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 10, 10)


def pytest_unconfigure():
    """Let all excluded objects be freed, as libraries in C++ expect."""
    gc.unfreeze()


#: Environment variables of builds: a command would read their values as its own.
OF_BUILDS = ("TANGLES_WAREHOUSE", "TANGLES_SCHEMA", "TANGLES_SHUFFLE_PARTITIONS", "TANGLES_SMALL_BYTES")
#: Builds that several files share.
SHARED = ("fixtures", "small", "odd_files", "empty")


def pytest_make_parametrize_id(val):
    """Shorten the names of tests with long values."""
    return ascii(val[:60]) if isinstance(val, str | bytes) and len(val) > 200 else None


@pytest.hookimpl(tryfirst=True)  # before `-m` selects by marks
def pytest_collection_modifyitems(items):
    """Skip tests about the other engine; keep tests of one build in one process, with builds before other tests."""
    left_out = {"local": "sail", "sail": "spark"}[ENGINE]
    for item in items:
        shared = [name for name in SHARED if name in item.fixturenames]
        if not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(shared[0] if shared else item.path.stem))
        if "fixtures" in shared:
            item.add_marker(pytest.mark.both)
        if item.get_closest_marker(left_out):
            item.add_marker(pytest.mark.skip(reason=f"about {left_out}: TANGLES_TEST_ENGINE is {ENGINE}"))
    items.sort(key=lambda item: (SHARED[0] not in item.fixturenames, item.path.parent != Path(__file__).parent))


@pytest.fixture(scope="module", autouse=True)
def kernels_run_both_ways(request):
    """Tests of kernels run them compiled, and compare small calls with interpreted ones; builds run as a user's do."""
    if request.path.parent != Path(__file__).parent:
        with both_tiers(), pytest.MonkeyPatch.context() as patched:
            for name in OF_BUILDS:
                patched.delenv(name, raising=False)
            yield
    else:
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv(TIER, os.environ.get(TIER, TIERS[0]))
            yield


@dataclass
class DbtProject:
    """A dbt project whose tables go to a schema of their own."""

    warehouse: Path
    schema: str
    project_dir: Path = ROOT
    vars: dict = field(default_factory=dict)
    profiles_dir: Path = ROOT
    partitions: int = 4

    def given(self, **logs: list[bytes]) -> "DbtProject":
        """Write the lines of logs, in place of those before, and set the vars with their paths."""
        import log_files

        for log, lines in logs.items():
            path = self.warehouse / "given" / f"{self.schema}.{log}.jsonl"
            path.parent.mkdir(exist_ok=True)
            self.vars[log] = log_files.write(path, lines)
        return self

    def invoke(self, *args: str, manifest=None):
        """Run a dbt command in this process and return its result, successful or not.

        With a manifest the project is not parsed: only the vars that are read when a command runs take effect.
        """
        from dbt.cli.main import dbtRunner

        os.environ |= {"TANGLES_SCHEMA": self.schema, "TANGLES_SHUFFLE_PARTITIONS": str(self.partitions)}
        options = ["--project-dir", str(self.project_dir), "--profiles-dir", str(self.profiles_dir)]
        # The logs of tests are small, and nights are to replace the rows of changed groups.
        options += ["--vars", json.dumps({"incremental_from": 0} | self.vars)]
        paths = ["--target-path", str(self.warehouse / "target" / self.schema)]
        logs = ["--log-path", str(self.warehouse / "logs" / self.schema)]
        with as_users_run():
            return dbtRunner(manifest=manifest).invoke([*args, *options, *paths, *logs])

    def build(self, *args: str) -> "DbtProject":
        """Run `dbt build` and fail with the failed nodes, unless everything succeeds.

        Unit tests bring their own input and have the same result in each build: `test_unit_tests.py` runs them.
        """
        return self._succeed(self.invoke_parsed("build", *args, "--exclude-resource-type", "unit_test"))

    def run(self, *args: str) -> "DbtProject":
        """Run `dbt run` and fail with the failed nodes."""
        return self._succeed(self.invoke_parsed("run", *args))

    def invoke_parsed(self, command: str, *args: str):
        """Run a dbt command as `invoke` does, with a manifest that was parsed before if there is one; no unit tests.

        dbt spends a third of a small run on writing files about the command: `--write-json` enables them.
        """
        manifest = manifests.manifest_for(self) if self.project_dir == ROOT else None
        return self.invoke(command, "--no-write-json", *args, manifest=manifest)

    def _succeed(self, result) -> "DbtProject":
        assert result.exception is None, result.exception
        failed = [
            f"{r.node.name}: {r.message}" for r in result.result if r.status in ("error", "fail", "runtime error")
        ]
        assert not failed, "\n".join(failed)
        return self

    def parse(self) -> Manifest:
        """Parse the project anew and return its manifest."""
        result = self.invoke("parse")
        assert result.success, result.exception
        return result.result

    def ask(self, *words: str, **options) -> Result:
        """Run `tangles` on the tables; its output is harmless."""
        from cli_kit import assert_harmless, tangles

        place = ["--warehouse", str(self.warehouse), "--schema", self.schema]
        result = tangles(words[0], *place, *words[1:], **options)
        assert_harmless(result)
        return result

    def table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """Read a built table as a notebook would: plain parquet files."""
        return ds.dataset(self.warehouse / f"{self.schema}.db" / name, format="parquet").to_table(columns=columns)

    def rows(self, name: str, columns: list[str] | None = None) -> list[dict]:
        """Return a built table's rows."""
        return self.table(name, columns).to_pylist()

    def sorted_rows(self, name: str, columns: list[str] | None = None) -> list[str]:
        """Return a built table's rows as texts in a fixed order."""
        return sorted(map(repr, self.rows(name, columns)))


def refusal(result) -> str:
    """Return the message of a dbt command that failed."""
    assert not result.success
    return str(result.exception) + "".join(str(each.message) for each in result.result or [])


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory) -> Path:
    """A fresh warehouse; every dbt run of this process shares its Spark session."""
    path = tmp_path_factory.mktemp("warehouse")
    os.environ["TANGLES_WAREHOUSE"] = str(path)
    # Nearly all logs of tests are small, and all builds share the JVM of the first build.
    os.environ["TANGLES_SMALL_BYTES"] = str(20 * 2**20)
    dbt_common.tests.enable_test_caching()
    return path


@pytest.fixture(scope="session")
def project(warehouse):
    """Make a project: `project("schema", ssb_log=…)`."""

    def make(schema: str, project_dir: Path = ROOT, partitions: int = 4, **variables) -> DbtProject:
        return DbtProject(warehouse, schema, project_dir, variables, partitions=partitions)

    return make


@pytest.fixture(scope="session")
def fixtures(project) -> DbtProject:
    """Build every model from the seed fixtures, with all links of the log's timeline, and run every data test."""
    return project("tangles", log_timeline="full").build("--write-json")


@pytest.fixture(scope="session")
def manifest(project):
    """This project as dbt parses it with all its models; `clock_limit` turns on those of clocks."""
    return manifests.manifest_for(project("parsed", clock_limit=1))


@pytest.fixture(scope="session")
def empty(project, tmp_path_factory) -> DbtProject:
    """Build every model and run every test, from four logs without lines."""
    log = tmp_path_factory.mktemp("empty") / "empty.jsonl"
    log.touch()
    logs = dict.fromkeys(manifests.LOGS, str(log))
    return project("empty", **logs).build()


@pytest.fixture(scope="session")
def odd_files(project, tmp_path_factory):
    """Build four logs with damaged files, wrong line ends and other formats."""
    from odd_files import build

    return build(project, tmp_path_factory.mktemp("odd_files"))


@pytest.fixture(scope="session")
def small(project) -> DbtProject:
    """Build every model from the small log and a few events."""
    import small_log

    return project("small", **small_log.VARS).given(event_log=small_log.events()).run()
