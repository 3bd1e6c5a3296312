"""Which runs are small, and the settings of small runs."""

from types import SimpleNamespace

import pytest
from dbt.adapters.spark.session import Cursor

from dbt_spark_python.session import connection, error_translation, small_run_profile
from plugin_projects import make_project

PROFILE = {
    "spark.master": "local[*]",
    "spark.sql.shuffle.partitions": "32",
    "spark.dbt.small.inputs": "some_log, other_log",
    "spark.dbt.small.bytes": "100",
    "spark.dbt.small.java": "-Xint",
    "spark.dbt.small.spark.sql.shuffle.partitions": 2,
}


def taken(**variables):
    """The settings of a run with these vars, None for a large run; Spark never sees the keys."""
    parameters = dict(PROFILE)
    found = small_run_profile.take_settings(parameters, variables)
    assert parameters == {"spark.master": "local[*]", "spark.sql.shuffle.partitions": "32"}
    return found if found.is_run else None


@pytest.fixture
def log(tmp_path):
    """A log of 60 bytes."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"x" * 60)
    return path


def test_no_input_is_small():
    assert taken() == small_run_profile.SmallRun("-Xint", {"spark.sql.shuffle.partitions": "2"})
    assert taken(some_log=None, other_log=None, third_log="s3a://bucket/x") is not None


def test_a_small_file_a_folder_and_a_glob(log):
    for path in (
        log,
        f"file:{log}",
        log.parent,
        log.parent / "*.jsonl",
        log.parent / "[l]og.js*",
        log.parent / "{log,x}.jsonl",
    ):
        assert taken(some_log=str(path)) is not None
        assert taken(project={"other_log": str(path)}) is not None


def test_one_byte_more(log):
    log.write_bytes(b"x" * 100)
    assert taken(some_log=str(log)) is not None
    log.write_bytes(b"x" * 101)
    assert taken(some_log=str(log)) is None
    assert taken(project={"some_log": str(log)}) is None


def test_all_inputs_together(log, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"x" * 60)
    assert taken(some_log=str(log), other_log=str(log)) is not None
    assert taken(some_log=str(log), other_log=str(other)) is None
    assert taken(some_log=str(tmp_path)) is None


@pytest.mark.parametrize(
    "path", ["s3a://bucket/x", "hdfs:///x", "dbfs:/x", "nowhere.jsonl", "*.nothing", "//[x", "a\0b", 5, ["a"]]
)
def test_inputs_of_unknown_size_are_large(path):
    assert taken(some_log=path) is None


def test_many_files_are_large(tmp_path, monkeypatch):
    monkeypatch.setattr(small_run_profile, "_MAX_FILES", 3)
    for name in "abc":
        (tmp_path / name).touch()
    assert taken(some_log=str(tmp_path)) is not None
    (tmp_path / "d").touch()
    assert taken(some_log=str(tmp_path)) is None


def test_profiles_without_the_keys():
    parameters = {"spark.master": "local[*]"}
    assert small_run_profile.take_settings(parameters, {}) is None
    assert parameters == {"spark.master": "local[*]"}


TOLD = """
    def model(dbt, spark):
        names = ("spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode")
        return spark.createDataFrame([(name, spark.conf.get(name)) for name in names], "name string, value string")
"""


@pytest.mark.spark
def test_a_small_run_and_a_large_one_behind_it(project, tmp_path, monkeypatch):
    """The settings are added, and removed again for the next run."""
    folder = make_project(tmp_path / "p", {"told.py": TOLD})

    def told(schema):
        built = project(schema, folder)
        assert built.invoke("run").success
        return {row["name"]: row["value"] for row in built.rows("told")}

    assert told("small_run") == {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    monkeypatch.setenv("DBT_SPARK_PYTHON_TEST_SMALL", "-1")
    assert told("large_run") == {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}


def test_settings_are_removed_from_a_session_without_a_warehouse_of_folders(monkeypatch):
    """As on the targets `iceberg` and `delta`, where an orchestrator may run several commands in a process."""
    settings: dict[str, str] = {}
    session = SimpleNamespace(conf=SimpleNamespace(unset=settings.pop))
    monkeypatch.setattr(connection, "_catalog", None)
    monkeypatch.setattr(connection, "_set", set())
    monkeypatch.setattr(connection, "process_session", lambda: session)
    for is_small in (True, False):
        small = small_run_profile.SmallRun("", {"spark.sql.adaptive.enabled": "false"}, is_small)
        monkeypatch.setattr(connection, "_small", small)
        monkeypatch.setattr(connection, "_parameters", parameters := {})
        connection.apply_small_run_settings(parameters)
        settings.update(parameters)  # as dbt-spark's connection does
        assert settings == (small.settings if is_small else {})


UNIT_TESTS = """
    unit_tests:
      - name: twice
        model: doubled
        given: [{input: ref('numbers'), rows: [{id: 3}]}]
        expect: {rows: [{id: 6}]}
      - name: thrice
        model: doubled
        given: [{input: ref('numbers'), rows: [{id: 3}]}]
        expect: {rows: [{id: 9}]}
"""


@pytest.mark.spark
def test_unit_tests_of_a_large_run_are_small(project, tmp_path, monkeypatch):
    """Their statements use the small-run settings, also after a failed one; those of models do not."""
    models = {
        "numbers.sql": "select 1 as id",
        "doubled.sql": "select 2 * id as id from {{ ref('numbers') }}",
        "unit_tests.yml": UNIT_TESTS,
    }
    built = project("unit_tests", make_project(tmp_path / "p", models))
    monkeypatch.setenv("DBT_SPARK_PYTHON_TEST_SMALL", "-1")
    assert built.invoke("run").success
    seen = []

    def watch(kind):
        execute = kind.execute

        def look(self, sql, *parameters):
            session = getattr(self, "session", None) or connection.process_session()
            seen.append((sql, session.conf.get("spark.sql.codegen.wholeStage")))
            return execute(self, sql, *parameters)

        monkeypatch.setattr(kind, "execute", look)

    watch(Cursor)
    watch(error_translation.OpenCursor)
    assert set(built.failures("build")) == {"thrice"}
    assert {codegen for sql, codegen in seen if "actual_or_expected" in sql} == {"false"}
    assert {codegen for sql, codegen in seen if "view unit_tests" in sql.replace("`", "")} == {"true"}
