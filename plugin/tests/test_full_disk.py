"""A disk that is full while tables are written: SQL and Python models report it in one line."""

import pytest

from plugin_projects import make_project

pytestmark = pytest.mark.both

MODELS = {
    "from_sql.sql": "{{ config(materialized='table') }} select raise_error(concat('No space', ' left on device')) as n",
    "from_python.py": """
        def write():
            raise OSError(28, "No space left on device")


        def model(dbt, spark):
            return write()
    """,
}


def test_a_full_disk_is_reported_in_one_line(project, tmp_path):
    built = project("full_disk", make_project(tmp_path / "p", MODELS))
    result = built.invoke("run")
    said = {r.node.name: r.message for r in result.result}
    line = f"no space is left at {built.warehouse}: free some and run again; all published tables are intact"
    assert said.keys() == {"from_sql", "from_python"}
    assert all(line in message for message in said.values())
    assert len(said["from_sql"].strip().splitlines()) <= 2
    assert "Traceback" not in said["from_python"]
