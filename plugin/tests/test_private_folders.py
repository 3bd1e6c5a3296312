"""Tables for their owner only: modes 0700 and 0600 for any umask and engine."""

import os
from pathlib import Path

import pytest

from conftest import write_files
from dbt_spark_python.table_store import warehouse
from plugin_projects import make_project

OWNER_ONLY = "meta={'owner_only': true}"
MODELS = {
    "in_sql.sql": f"{{{{ config(materialized='table', {OWNER_ONLY}) }}}} select 1 as id",
    "in_python.py": "def model(dbt, spark):\n    return spark.range(3)\n",
    "in_python.yml": "models: [{name: in_python, config: {meta: {owner_only: true}}}]",
    "growing.sql": f"""
        {{{{ config(materialized='incremental', incremental_strategy='append', {OWNER_ONLY}) }}}}
        select {{{{ var('day', 1) }}}} as day
    """,
    "in_parts.sql": f"""
        {{{{ config(materialized='table', partition_by=['part'], {OWNER_ONLY}) }}}}
        select id, id % 2 as part from (select explode(sequence(1, 4)) as id)
    """,
    "no_rows.sql": f"{{{{ config(materialized='table', {OWNER_ONLY}) }}}} select 1 as id where false",
    "left_open.sql": "{{ config(materialized='table', meta={'owner_only': var('day', 1) == 2}) }} select 1 as id",
    "for_all.sql": "{{ config(materialized='table') }} select 1 as id",
}


def modes(folder: Path) -> dict[str, set[int]]:
    below = [path for path in folder.rglob("*") if not path.is_symlink()]
    return {
        "folders": {path.stat().st_mode & 0o777 for path in [folder, *below] if path.is_dir()},
        "files": {path.stat().st_mode & 0o777 for path in below if path.is_file()},
    }


def modes_of_tables(built) -> dict[str, dict[str, set[int]]]:
    return {place.name: modes(place) for place in (built.warehouse / f"{built.schema}.db").glob("[!.]*")}


CLOSED = {"folders": {0o700}, "files": {0o600}}


@pytest.mark.both
def test_tables_of_their_owner_alone(project, tmp_path):
    """SQL and Python tables, extended, partitioned and empty ones, and one that a build left open; no others."""
    before = os.umask(0)
    try:
        built = project("owner_only", make_project(tmp_path / "p", MODELS)).build()
        first = modes_of_tables(built)
        built.vars = {"day": 2}
        built.build()
        later = modes_of_tables(built)
    finally:
        os.umask(before)
    left_open = first.pop("left_open")
    assert later.pop("left_open") == CLOSED != left_open
    for found in (first, later):
        for_all = found.pop("for_all")
        assert found == dict.fromkeys(["in_sql", "in_python", "growing", "in_parts", "no_rows"], CLOSED)
        assert all(mode & 0o044 for mode in for_all["folders"] | for_all["files"])
    assert sorted(row["day"] for row in built.rows("growing")) == [1, 2]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=oct)
def test_a_table_is_closed_before_it_is_public(folders, umask, monkeypatch):
    """So is its manifest, which is rewritten when a run reuses the table."""
    seen, replace, before = [], warehouse.replace_folder, os.umask(umask)
    monkeypatch.setattr(warehouse, "replace_folder", lambda new, *rest: (seen.append(modes(new)), replace(new, *rest)))
    try:
        folders.mark_owner_only("s", "keys", True)
        (write_files(folders, {"a.parquet": ""}, "keys") / "a.parquet").chmod(0o644)
        folders.publish("s", "keys", "first")
        folders.record_reuse("s", "keys", "second", warehouse.Publication())
    finally:
        os.umask(before)
    assert seen == [CLOSED]
    assert modes(folders.public_place("s", "keys")) == CLOSED
