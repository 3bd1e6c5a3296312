"""The warehouse from outside: dbt in separate processes, as users start it."""

import pyarrow.dataset as ds
import pytest

from dbt_process import dbt
from dbt_spark_python.session import environment
from plugin_projects import make_project

pytestmark = pytest.mark.spark

MODELS = {
    "numbers.sql": "{{ config(materialized='table') }} select id, {{ var('factor', 1) }} * id as value from range(10)",
    "evens.sql": "{{ config(materialized='view') }} select * from {{ ref('numbers') }} where id % 2 = 0",
    "above_evens.sql": "{{ config(materialized='view') }} select * from {{ ref('evens') }}",
    "count.sql": """
        {{ config(materialized='table') }} select count(*) as n, sum(value) as s from {{ ref('above_evens') }}
    """,
    "parts.sql": """
        {{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['part']) }}
        select id, id % 3 as part from range(9) {% if is_incremental() %} where id % 3 = 1 and id > 4 {% endif %}
    """,
    "checks.yml": """
        models:
          - name: parts
            columns:
              - name: id
                data_tests:
                  - accepted_values: {arguments: {values: [0, 1, 2], quote: false}, config: {store_failures: true}}
    """,
}


def rows(warehouse, table, schema="s"):
    """Read a table as a notebook does."""
    return ds.dataset(warehouse / f"{schema}.db" / table, format="parquet", partitioning="hive").to_table().to_pylist()


@pytest.fixture
def small(tmp_path):
    return make_project(tmp_path / "project", MODELS)


def test_a_process_finds_the_tables_of_an_earlier_one(small, tmp_path):
    """Tables, views on views, partitions and stored failures, in a path that Derby could not use."""
    warehouse = tmp_path / "a \"ware\";house %20 'of' ünits #1"
    said = dbt(small, "run", "--exclude", "count", warehouse=warehouse, DBT_LOG_LEVEL="warn")
    assert "OK created" not in said
    # Only models that read the views and extend the partitions.
    said = dbt(small, "build", "--select", "count", "parts", code=1, warehouse=warehouse, DBT_LOG_LEVEL="warn")
    assert "Got 5 results, configured to fail if != 0" in said
    assert rows(warehouse, "count") == [{"n": 5, "s": 20}]
    assert sorted(row["id"] for row in rows(warehouse, "parts")) == [0, 2, 3, 5, 6, 7, 8], "one part of three is new"
    (kept,) = [path.name for path in (warehouse / "s_dbt_test__audit.db").iterdir() if path.name[0] != "."]
    assert len(rows(warehouse, kept, "s_dbt_test__audit")) == 5


def test_java_is_not_searched_before_a_session_is_opened(small):
    nowhere = {"JAVA_HOME": "/nowhere", environment.REAL_JAVA: ""}  # this process's own JVM is not passed on
    for command in ("deps", "parse", "list"):
        dbt(small, command, PATH="/usr/bin:/bin", **nowhere)
    said = dbt(small, "run", code=2, warehouse=small / "warehouse", **nowhere)
    assert "JAVA_HOME leads to no working java" in said


JAVA = """
    def model(dbt, spark):
        bean = spark._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean()
        return spark.createDataFrame([(option,) for option in bean.getInputArguments()], "option string")
"""


@pytest.mark.parametrize(("most", "is_small"), [(10_000, True), (-1, False)])
def test_a_small_run_has_a_java_that_starts_fast(most, is_small, tmp_path):
    """It has the small-run options of the profile; all runs have the options that Spark has settings for."""
    project = make_project(tmp_path / "project", {"java.py": JAVA})
    dbt(project, "run", warehouse=tmp_path / "warehouse", most=most)
    options = {row["option"] for row in rows(tmp_path / "warehouse", "java")}
    assert any(option.startswith("-Xmx") for option in options)
    assert ("-XX:TieredStopAtLevel=1" in options) == is_small
    assert "-Dof.the.profile=two words" in options
