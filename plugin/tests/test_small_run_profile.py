"""Which runs are small, and the settings of small runs."""

from types import SimpleNamespace

import pytest

from dbt_spark_python.session import small_run_profile
from dbt_spark_python.session.small_run_profile import JAVA_OPTIONS
from plugin_projects import make_project, python_model

PROFILE = {
    "spark.dbt.small.inputs": "some_log, other_log",
    "spark.dbt.small.bytes": "100",
    "spark.dbt.small.java": "-Xint",
    "spark.dbt.small.spark.sql.shuffle.partitions": 2,
}


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
    monkeypatch.setattr(small_run_profile, "find_session", lambda: None)
    monkeypatch.setattr(small_run_profile, "_added", set())
    (tmp_path / "folder").mkdir()
    for name, size in (("60", 60), ("100", 100), ("101", 101), ("folder/x", 60)):
        (tmp_path / name).write_bytes(b"x" * size)
    if variables.get("some_log") == "file:60":
        variables = {"some_log": f"file:{tmp_path}/60"}
    given = {"spark.master": "local[*]", "spark.sql.shuffle.partitions": "32", JAVA_OPTIONS: "-Da=b"}
    parameters = {**given, **PROFILE}
    small_run_profile.apply(parameters, variables)
    small = {"spark.sql.shuffle.partitions": "2", JAVA_OPTIONS: "-Da=b -Xint"}
    assert parameters == given | (small if is_small else {})  # Spark never sees the keys


def test_a_large_run_takes_the_settings_of_a_small_one_out_of_the_session(monkeypatch):
    """An orchestrator may run several commands in a process."""
    settings: dict[str, str] = {}
    session = SimpleNamespace(conf=SimpleNamespace(unset=settings.pop))
    monkeypatch.setattr(small_run_profile, "find_session", lambda: session)
    monkeypatch.setattr(small_run_profile, "_added", set())
    for size, added in ((10, {"spark.sql.shuffle.partitions": "2"}), (1000, {})):
        monkeypatch.setattr(small_run_profile, "measure", lambda path, size=size: size)
        small_run_profile.apply(parameters := dict(PROFILE), {"some_log": "a"})
        parameters.pop(JAVA_OPTIONS, None)
        settings |= parameters
        assert settings == added


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
