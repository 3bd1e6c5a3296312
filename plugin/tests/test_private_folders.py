"""Tables for their owner only: modes 0700 and 0600 for any umask and engine."""

import os
import tempfile
from pathlib import Path

import pytest

from dbt_process import run_python
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
    "for_all.sql": "{{ config(materialized='table') }} select 1 as id",
}


def modes(folder: Path) -> dict[str, set[int]]:
    """The modes of a table's folders and files."""
    below = [path for path in folder.rglob("*") if not path.is_symlink()]
    return {
        "folders": {path.stat().st_mode & 0o777 for path in [folder, *below] if path.is_dir()},
        "files": {path.stat().st_mode & 0o777 for path in below if path.is_file()},
    }


def modes_of_tables(built) -> dict[str, dict[str, set[int]]]:
    """The modes of each table of a project."""
    tables = (built.warehouse / f"{built.schema}.db").iterdir()
    return {place.name: modes(place) for place in tables if not place.name.startswith(".")}


CLOSED = {"folders": {0o700}, "files": {0o600}}


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request):
    """An umask for this process: empty, the usual one, and a strict one."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.both
def test_tables_of_their_owner_alone(project, tmp_path):
    """SQL and Python tables, extended, partitioned and empty ones; other tables keep their modes."""
    before = os.umask(0)
    try:
        built = project("owner_only", make_project(tmp_path / "p", MODELS)).build()
        first = modes_of_tables(built)
        built.vars = {"day": 2}
        built.build()
        later = modes_of_tables(built)
    finally:
        os.umask(before)
    for found in (first, later):
        for_all = found.pop("for_all")
        assert found == dict.fromkeys(["in_sql", "in_python", "growing", "in_parts", "no_rows"], CLOSED)
        assert all(mode & 0o044 for mode in for_all["folders"] | for_all["files"])
    assert sorted(row["day"] for row in built.rows("growing")) == [1, 2]


@pytest.mark.both
def test_a_table_that_an_earlier_version_left_open(project, tmp_path):
    """The next build restricts it even if it reuses the table."""
    folder = make_project(tmp_path / "p", {"keys.sql": "{{ config(materialized='table') }} select 1 as id"})
    built = project("left_open", folder).build()
    place = built.warehouse / "left_open.db" / "keys"
    place.chmod(0o755)
    (folder / "models" / "keys.yml").write_text("models: [{name: keys, config: {meta: {owner_only: true}}}]")
    built.build()
    assert modes(place) == CLOSED


def new_table(folders, name: str) -> None:
    """Write a table in the engine's place, readable by all."""
    place = folders.private_place("s", name)
    place.mkdir(parents=True)
    (place / "a.parquet").write_text(name)
    (place / "a.parquet").chmod(0o644)


def test_a_table_is_closed_before_it_is_public(folders, umask, monkeypatch):
    """So is its manifest, which is rewritten when a run reuses the table."""
    seen = []
    replace = warehouse.replace_folder
    monkeypatch.setattr(warehouse, "replace_folder", lambda new, *rest: (seen.append(modes(new)), replace(new, *rest)))
    folders.mark_owner_only("s", "keys", True)
    new_table(folders, "keys")
    folders.publish("s", "keys", "first")
    folders.record_reuse("s", "keys", "second", warehouse.Publication())
    assert seen == [CLOSED]
    assert modes(folders.public_place("s", "keys")) == CLOSED


READER = """
import os, sys
from pathlib import Path
from dbt_spark_python.table_store.warehouse import Warehouse
if os.getuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
else:
    Path(sys.argv[1], "s.db", "keys").chmod(0)
reader = Warehouse(Path(sys.argv[1]))
print([table.name for table in reader.published()])
reader.close()
"""


def test_other_users_do_not_see_the_table():
    """Other users continue with the tables that they may read."""
    with tempfile.TemporaryDirectory() as place:  # pytest restricts its own folder at each start
        folders = warehouse.Warehouse(Path(place) / "warehouse")
        folders.mark_owner_only("s", "keys", True)
        for name in ("keys", "for_all"):
            new_table(folders, name)
            folders.publish("s", name, "first")
        for folder in (Path(place), folders.root, folders.root / "s.db", folders.public_place("s", "for_all")):
            folder.chmod(0o755)
        done = run_python(READER, folders.root)
        folders.public_place("s", "keys").chmod(0o700)
        folders.close()
    assert done.stdout == "['for_all']\n", done.stderr
