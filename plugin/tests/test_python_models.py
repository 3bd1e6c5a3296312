"""Python models on an embedded session: what dbt promises them, errors, threads, job groups, interpreters."""

import sys
from pathlib import Path

import pytest

from dbt_spark_python import submission
from plugin_projects import make_project

pytestmark = pytest.mark.spark

MODELS = {
    "numbers.sql": "select id from range(10)",
    "from_ref.py": """
        def model(dbt, spark):
            dbt.config(materialized="table", answer=42)
            answer = dbt.config.get("answer")
            return dbt.ref("numbers").selectExpr("id", f"{answer} as answer", f"'{dbt.this.identifier}' as this_name")
    """,
    "from_source.py": """
        def model(dbt, spark):
            return dbt.source("outside", "numbers")
    """,
    "job_group.py": """
        def model(dbt, spark):
            group = spark.sparkContext.getLocalProperty("spark.jobGroup.id")
            return spark.createDataFrame([(group,)], "job_group string")
    """,
    "interpreter.py": """
        import sys

        import pyarrow as pa


        def look(batches):
            import dbt_tangles.graph as graph  # the kernels are importable in the workers

            for batch in batches:
                yield pa.RecordBatch.from_pydict({"python": [sys.executable], "kernel": [graph.__name__]})


        def model(dbt, spark):
            return spark.range(1, numPartitions=1).mapInArrow(look, "python string, kernel string")
    """,
    "growing.py": """
        def model(dbt, spark):
            dbt.config(materialized="incremental", incremental_strategy="append")
            first = 100 if dbt.is_incremental else 0
            return spark.range(first, first + 3)
    """,
}

BROKEN = {
    "driver.py": ("return {}['boom']", "KeyError: 'boom'"),
    "worker.py": (
        "return spark.range(3).mapInArrow(fail, 'id bigint')",
        "ZeroDivisionError",
    ),
    "type.py": ("return 7", "not a supported type"),
}


@pytest.fixture(scope="module")
def built(project, tmp_path_factory):
    """The small project, built once."""
    from pyspark.sql import SparkSession

    built = project("plugin", make_project(tmp_path_factory.mktemp("plugin"), MODELS))
    built.invoke("run", "--select", "numbers")  # starts the session
    spark = SparkSession.active()
    spark.sql("create schema if not exists plugin_outside")
    spark.sql("create or replace temporary view outside_rows as select 5 as id")
    spark.sql("drop table if exists plugin_outside.numbers")
    spark.sql("create table plugin_outside.numbers using parquet as select * from outside_rows")
    return built.build("--threads", "4")


def test_ref_config_and_this(built):
    rows = built.rows("from_ref")
    assert sorted(row["id"] for row in rows) == list(range(10))
    assert {(row["answer"], row["this_name"]) for row in rows} == {(42, "from_ref")}


def test_source(built):
    assert built.rows("from_source") == [{"id": 5}]


def test_job_group_carries_the_node(built):
    assert built.rows("job_group") == [{"job_group": "model.plugin.job_group"}]


def test_workers_run_this_interpreter_and_import_the_kernels(built):
    assert built.rows("interpreter") == [{"python": sys.executable, "kernel": "dbt_tangles.graph"}]


def test_is_incremental(built):
    assert sorted(row["id"] for row in built.rows("growing")) == [0, 1, 2]
    built.build("--select", "growing")
    assert sorted(row["id"] for row in built.rows("growing")) == [0, 1, 2, 100, 101, 102]


@pytest.mark.parametrize("name", BROKEN)
def test_errors_show_the_models_file_and_line(project, tmp_path, name):
    line, message = BROKEN[name]
    code = f"def fail(batches):\n    1 / 0\n    yield\n\n\ndef model(dbt, spark):\n    {line}\n"
    broken = project(f"broken_{Path(name).stem}", make_project(tmp_path / "p", {name: code}))
    (failure,) = broken.invoke("run").result.results
    assert failure.status == "error"
    assert message in failure.message
    if name == "driver.py":
        assert "models/driver.py:7 in model" in failure.message
        assert line in failure.message  # the source line is shown
    if name == "worker.py":
        assert 'models/worker.py", line 2, in fail' in failure.message


def test_packages_named_in_meta_are_shipped(project, tmp_path, monkeypatch):
    shipped = []
    monkeypatch.setattr(submission, "ship", lambda spark, packages: shipped.append(packages))
    named = """
        def model(dbt, spark):
            dbt.config(meta={"ship_packages": ["dbt_tangles"]})
            return spark.range(1)
    """
    project("shipped", make_project(tmp_path / "p", {"named.py": named})).build()
    assert shipped == [["dbt_tangles"]]
