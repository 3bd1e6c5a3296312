"""The adapter is chosen by a profile's type: other projects of the environment keep dbt-spark's own."""

import json

import pytest

from conftest import ENGINE
from dbt_process import dbt
from plugin_projects import make_project

#: Two nodes that a planned seed and test would reuse in the second build.
MODELS = {
    "ones.sql": "{{ config(materialized='table') }} select * from {{ ref('given') }}",
    "ones.yml": "models: [{name: ones, columns: [{name: id, data_tests: [not_null]}]}]",
}


@pytest.mark.both
def test_dbt_debug_connects(tmp_path):
    """The adapter gets a profile there, which has no vars; the engine and the folder of the tables are told."""
    folder = make_project(tmp_path / "p", {"one.sql": "select 1 as id"})
    said = dbt(folder, "debug", warehouse=tmp_path / "warehouse")
    assert "All checks passed!" in said and f"warehouse: {tmp_path / 'warehouse'}" in said
    assert f"engine: {'sail' if ENGINE == 'sail' else 'spark'}" in said


@pytest.mark.spark
def test_a_project_of_dbt_spark_is_untouched(tmp_path):
    """Its seed, table and test are built by dbt-spark's materializations, and again in the next build."""
    folder = make_project(tmp_path / "p", MODELS)
    (folder / "seeds").mkdir()
    (folder / "seeds" / "given.csv").write_text("id\n1\n")
    parameters = {"spark.master": "local[1]", "spark.sql.warehouse.dir": str(tmp_path / "tables")}
    output = {"type": "spark", "method": "session", "host": "here", "schema": "s", "server_side_parameters": parameters}
    profile = tmp_path / "profile"
    profile.mkdir()
    (profile / "profiles.yml").write_text(json.dumps({"plugin": {"target": "own", "outputs": {"own": output}}}))
    for _ in range(2):
        said = dbt(folder, "build", profiles=profile)
        assert "Registered adapter: spark=" in said
        assert "PASS=3" in said and "unchanged" not in said
