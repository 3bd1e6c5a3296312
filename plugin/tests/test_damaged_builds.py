"""Builds over a warehouse with a damaged table: the table is reported and rebuilt."""

import os

import pytest

from conftest import overwrite
from dbt_spark_python.session import connection
from dbt_spark_python.table_store import manifest
from plugin_projects import make_project

pytestmark = pytest.mark.both

MODELS = {
    "numbers.sql": """
        {{ config(materialized='table') }}
        select id, sha2(cast(id as string), 256) as text from range(20000)
    """,
    "counted.sql": """
        {{ config(materialized='table') }}
        select count(*) as n, sum(ascii(reverse(text))) as s, {{ var('version', 1) }} as version
        from {{ ref('numbers') }}
    """,
    "python.py": """
        def model(dbt, spark):
            return dbt.ref("numbers").selectExpr("count(*) as n", "sum(ascii(reverse(text))) as s")
    """,
    "history.sql": """
        {{ config(materialized='incremental') }}
        select count(*) as n from {{ ref('numbers') }}
    """,
}

COUNTED = """
    {% macro counted_key_columns() %}
        {{ return(['n'] if model.name == 'counted' else none) }}
    {% endmacro %}
"""


@pytest.fixture(scope="module")
def shared(project, tmp_path_factory):
    return project("damaged", make_project(tmp_path_factory.mktemp("damaged") / "p", MODELS, {"counted.sql": COUNTED}))


@pytest.fixture
def built(shared, capsys):
    """The project with all tables, which a build repairs after each test."""
    shared.build()
    capsys.readouterr()
    return shared


def file_of(built, table):
    folder = built.warehouse / f"{built.schema}.db" / table
    return min(folder.glob("*.parquet")), folder


def spoil(path):
    """Overwrite the first half of a file, its value pages, with zeros; keep size and times."""
    content = bytearray(path.read_bytes())
    half = len(content) // 2
    content[4:half] = bytes(half - 4)
    overwrite(path, content)
    (path.with_name(f".{path.name}.crc")).unlink(missing_ok=True)  # Spark's checksum file of the old bytes


@pytest.mark.parametrize(
    ("tables", "options"),
    [
        (["numbers"], []),
        (["counted", "python", "history"], []),
        pytest.param(["numbers"], ["--full-refresh"], marks=pytest.mark.long),
        pytest.param(["counted", "python", "history"], ["--full-refresh"], marks=pytest.mark.long),
    ],
)
def test_a_truncated_file_blocks_no_build(built, capsys, tables, options):
    paths = [file_of(built, table)[0] for table in tables]
    for path in paths:
        os.truncate(path, path.stat().st_size // 2)
    built.build(*options)
    said = capsys.readouterr().out
    for table, path in zip(tables, paths, strict=True):
        damaged = f"the table '{built.schema}.{table}' is damaged and counts as missing: '{path}'"
        assert f"{damaged} is not a parquet file" in said
        assert path.parent.parent.joinpath(".damaged", table, path.name).exists()
    assert len(built.rows("numbers")) == 20000
    assert [row["n"] for row in built.rows("counted")] == [20000]
    built.build()
    assert "is damaged" not in capsys.readouterr().out


def test_a_build_of_other_tables_says_which_is_damaged(built, capsys):
    path, _ = file_of(built, "python")
    os.truncate(path, 10)
    built.build("--select", "numbers", "counted")
    assert f"'{path}' is not a parquet file (10 bytes)" in capsys.readouterr().out

    path, _ = file_of(built, "numbers")
    os.truncate(path, 10)
    assert built.failures("run", "--select", "counted").keys() == {"counted"}
    assert f"'{path}' is not a parquet file (10 bytes)" in capsys.readouterr().out
    built.build("--select", "numbers", "python")
    assert len(built.rows("numbers")) == 20000


def test_a_pipe_keeps_no_build_waiting(built, capsys):
    _, folder = file_of(built, "numbers")
    os.mkfifo(folder / "part-9.parquet")
    path = manifest.path_of(folder.parent / "counted")
    os.mkfifo(path.with_suffix(".new"))
    path.unlink()
    os.mkfifo(path)
    built.build()
    said = capsys.readouterr().out
    assert "part-9.parquet' is a pipe, not a file" in said
    assert f"'{path}' cannot be used: it is a pipe, not a file" in said


@pytest.mark.parametrize("reader", ["counted", "python"])
def test_bytes_that_an_engine_cannot_read_are_named_and_made_anew(built, capsys, reader):
    path, _ = file_of(built, "numbers")
    spoil(path)
    said = built.failures("run", "--select", reader)[reader]
    assert f"the table '{built.schema}.numbers' is damaged: '{path}' has changed since it was published" in said
    built.build()
    assert len(built.rows("numbers")) == 20000
    assert [row["n"] for row in built.rows("counted")] == [20000]


def test_a_changed_footer(built, capsys):
    """The footer changes while size and time stay, so the quick check passes."""
    for path in file_of(built, "numbers")[1].glob("*.parquet"):
        content = path.read_bytes()
        length = int.from_bytes(content[-8:-4], "little")
        overwrite(path, content[: -8 - length] + bytes(length) + content[-8:])
    connection._catalog._registered.pop((built.schema, "numbers"))  # as in a new process
    built.build()
    said = capsys.readouterr().out
    assert f"the table '{built.schema}.numbers' is damaged: " in said
    assert "It counts as missing; the next build that selects it rebuilds it" in said
    assert len(built.rows("numbers")) == 20000


def test_a_table_that_cannot_be_compared_is_replaced(built):
    path, _ = file_of(built, "counted")
    spoil(path)
    version = built.vars["version"] = built.vars.get("version", 1) + 1
    built.build("--select", "counted")
    assert [row["version"] for row in built.rows("counted")] == [version]
