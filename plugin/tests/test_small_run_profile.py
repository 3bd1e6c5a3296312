"""Which runs are small, and the settings of small runs."""

from types import SimpleNamespace

import pytest
from dbt.adapters.spark.session import Cursor

from dbt_spark_python.fences import known_session
from dbt_spark_python.session import error_translation, small_run_profile
from plugin_projects import make_project, python_model

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


@pytest.mark.parametrize(
    ("variables", "is_small"),
    [
        ({}, True),
        ({"some_log": None, "other_log": None, "third_log": "s3a://bucket/x"}, True),
        *(({"some_log": path}, True) for path in ("60", "file:60", "100", "folder", "folder/*", "{60,x}", "[6]0")),
        ({"project": {"other_log": "100"}}, True),
        ({"some_log": "101"}, False),
        ({"project": {"some_log": "101"}}, False),
        ({"some_log": "60", "other_log": "60"}, True),  # one file
        ({"some_log": "60", "other_log": "folder"}, False),
        ({"some_log": "*"}, False),
        *(({"some_log": path}, False) for path in ("s3a://bucket/x", "hdfs:///x", "dbfs:/x", "nowhere", "*.nothing")),
        *(({"some_log": path}, False) for path in ("//[x", "a\0b", 5, ["a"])),
    ],
)
def test_a_run_is_small_if_its_inputs_are(tmp_path, monkeypatch, variables, is_small):
    """All inputs together have at most 100 bytes; an input of unknown size is large."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name, size in (("60", 60), ("100", 100), ("101", 101), ("folder/x", 60)):
        (tmp_path / name).write_bytes(b"x" * size)
    if variables.get("some_log") == "file:60":
        variables = {"some_log": f"file:{tmp_path}/60"}
    small = small_run_profile.SmallRun("-Xint", {"spark.sql.shuffle.partitions": "2"})
    assert taken(**variables) == (small if is_small else None)


def test_many_files_are_large(tmp_path, monkeypatch):
    monkeypatch.setattr(small_run_profile, "_MAX_FILES", 3)
    for name, is_small in (("a", True), ("b", True), ("c", True), ("d", False)):
        (tmp_path / name).touch()
        assert (taken(some_log=str(tmp_path)) is not None) is is_small


def test_profiles_without_the_keys():
    parameters = {"spark.master": "local[*]"}
    assert small_run_profile.take_settings(parameters, {}) is None
    assert parameters == {"spark.master": "local[*]"}


TOLD = python_model(
    'names = ("spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode")',
    "rows = [(place, spark.conf.get(name)) for place, name in enumerate(names)]",
    'return spark.createDataFrame(rows, "place int, value string")',
)


@pytest.mark.spark
def test_a_small_run_and_a_large_one_behind_it(project, tmp_path, monkeypatch):
    folder = make_project(tmp_path / "p", {"told.py": TOLD})

    def told(schema):
        built = project(schema, folder)
        assert built.invoke("run").success
        return [row["value"] for row in sorted(built.rows("told"), key=lambda row: row["place"])]

    assert told("small_run") == ["false", "NO_CODEGEN"]
    monkeypatch.setenv("DBT_SPARK_PYTHON_TEST_SMALL", "-1")
    assert told("large_run") == ["true", "FALLBACK"]


def test_settings_are_removed_from_a_session_without_a_warehouse_of_folders(monkeypatch):
    """As on the targets `iceberg` and `delta`, where an orchestrator may run several commands in a process."""
    settings: dict[str, str] = {}
    session = SimpleNamespace(conf=SimpleNamespace(unset=settings.pop))
    runs = small_run_profile.SmallRuns()
    for is_small in (True, False):
        small = small_run_profile.SmallRun("", {"spark.sql.adaptive.enabled": "false"}, is_small)
        monkeypatch.setattr(small_run_profile, "take_settings", lambda *_, small=small: small)
        runs.read(parameters := {"spark.master": "local"}, {})
        runs.apply(parameters, session)
        settings |= {name: parameters[name] for name in small.settings.keys() & parameters.keys()}
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
            session = getattr(self, "session", None) or known_session.find_session()
            seen.append((sql, session.conf.get("spark.sql.codegen.wholeStage")))
            return execute(self, sql, *parameters)

        monkeypatch.setattr(kind, "execute", look)

    watch(Cursor)
    watch(error_translation.OpenCursor)
    assert set(built.failures("build")) == {"thrice"}
    assert {codegen for sql, codegen in seen if "actual_or_expected" in sql} == {"false"}
    assert {codegen for sql, codegen in seen if "view unit_tests" in sql.replace("`", "")} == {"true"}
