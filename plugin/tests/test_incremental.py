"""Incremental Python models: append, insert_overwrite, merge, and refused combinations."""

import pytest

from conftest import ENGINE
from plugin_projects import make_project, python_model

pytestmark = pytest.mark.both

MODELS = {
    "growing.py": python_model(
        'dbt.config(materialized="incremental", incremental_strategy="append")',
        "first = spark.table(str(dbt.this)).count() if dbt.is_incremental else 0",
        "return spark.range(first, first + 2)",
    ),
    "replaced.py": python_model(
        'dbt.config(materialized="incremental", incremental_strategy="insert_overwrite")',
        "return spark.range(10, 12) if dbt.is_incremental else spark.range(5)",
    ),
}


def ids(built, name: str) -> list[int]:
    return sorted(row["id"] for row in built.rows(name))


def test_append_and_insert_overwrite(project, tmp_path):
    """Two models without partitions, built several times in one process, to find leftovers of earlier runs."""
    built = project("incremental", make_project(tmp_path / "p", MODELS))
    for options, growing, replaced in (
        (["--full-refresh"], 2, [0, 1, 2, 3, 4]),
        ([], 4, [10, 11]),
        ([], 6, [10, 11]),
        (["--full-refresh"], 2, [0, 1, 2, 3, 4]),
    ):
        built.build(*options)
        assert ids(built, "growing") == list(range(growing))
        assert ids(built, "replaced") == replaced


PARTS = python_model(
    'dbt.config(materialized="incremental", incremental_strategy="insert_overwrite", partition_by=["part"])',
    'rows = spark.range(9).selectExpr("id % 3 as part", "id")',
    'return rows.where("part = 1 and id > 4") if dbt.is_incremental else rows',
)


@pytest.mark.spark
def test_insert_overwrite_replaces_the_partitions_of_new_rows(project, tmp_path):
    built = project("parts", make_project(tmp_path / "p", {"parts.py": PARTS})).build("--full-refresh").build()
    assert (built.warehouse / "parts.db" / "parts" / "part=1").is_dir()
    assert built.asked("select id from parts.parts") == [(0,), (2,), (3,), (5,), (6,), (7,), (8,)]


MERGED = python_model(
    'dbt.config(materialized="incremental", incremental_strategy="merge", unique_key="id", file_format="delta")',
    """new = "values (1, 'new'), (7, 'new') as t(id, state)" """,
    """old = "select id, 'old' as state from range(3)" """,
    'return spark.sql(f"select * from {new}" if dbt.is_incremental else old)',
)


@pytest.mark.sail  # Spark needs Delta Lake's jar, which wheels do not contain
def test_merge(project, tmp_path):
    built = project("merged", make_project(tmp_path / "p", {"merged.py": MERGED})).build().build()
    sql = "select id, state from merged.merged"
    assert built.asked(sql) == [(0, "old"), (1, "new"), (2, "old"), (7, "new")]
    assert built.build().asked(sql) == [(0, "old"), (1, "new"), (2, "old"), (7, "new")]
    assert built.build("--full-refresh").asked(sql) == [(0, "old"), (1, "old"), (2, "old")]
    assert (built.warehouse / "merged.db" / "merged" / "_delta_log").is_dir()


@pytest.mark.sail
def test_tables_of_delta_lake_are_published_whole(project, tmp_path):
    """A failed build leaves the old table; the next build replaces it, with other columns."""
    model = python_model('dbt.config(materialized="table", file_format="delta")', 'return spark.sql("{}")')
    models = {"told.py": model.format("select 1 as id"), "asks.sql": "select * from {{ ref('told') }}"}
    folder = make_project(tmp_path / "p", models)
    built = project("of_delta", folder).build()
    for sql, fails in (("select raise_error('x') as id", True), ("select 2 as other", False)):
        (folder / "models" / "told.py").write_text(model.format(sql))
        assert bool(built.failures("run", "--select", "told")) == fails
        built.build("--select", "asks")
        assert built.asked("select * from of_delta.asks") == [(1,)] if fails else [(2,)]


def test_configs_that_an_engine_or_a_format_lacks_are_refused(project, tmp_path):
    refused = {"merged.py": MERGED.replace("delta", "parquet")} | ({"parts.py": PARTS} if ENGINE == "sail" else {})
    said = project("refused", make_project(tmp_path / "p", refused)).failures("run")
    assert "file_format is set to 'delta' or 'iceberg' or 'hudi'" in said["merged"]
    assert ENGINE != "sail" or "remove `partition_by`, or build with Spark" in said["parts"]
