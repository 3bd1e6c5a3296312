"""Builds over damaged tables: the build names and rebuilds them, and later builds succeed."""

import os

import pytest
from click.testing import CliRunner

import fixture_seeds
from dbt_tangles.cli.cli import main
from log_files import flip_bit, write

# plugin/tests/test_damaged_builds.py has builds of damaged tables on Spark in each run.
pytestmark = pytest.mark.both

SELECTED = ["--select", "+feeds", "+ssb_rejects", "+tangle_messages"]
TABLES = ("feeds", "ssb_messages", "tangle_messages", "runs")


@pytest.fixture(scope="module")
def built(project, tmp_path_factory):
    """Build a small log; each test repairs the tables that it damages."""
    lines = fixture_seeds.lines("ssb", "worked_examples.jsonl")
    log = write(tmp_path_factory.mktemp("damaged") / "log.jsonl", [*lines, b"{"])
    return project("damaged_tables", ssb_log=log).run(*SELECTED)


def file_of(built, table):
    """Return the first data file of a table."""
    return min((built.warehouse / f"{built.schema}.db" / table).glob("*.parquet"))


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(SELECTED, id="usual"),
        pytest.param([*SELECTED, "--full-refresh"], marks=pytest.mark.long, id="full_refresh"),
    ],
)
def test_truncated_files_block_no_build(built, capsys, options):
    names = ("feeds", "ssb_messages", "tangle_messages", "stg_ssb__lines", "int_feed_messages", "runs")
    there = [name for name in names if (built.warehouse / f"{built.schema}.db" / name).is_dir()]
    assert set(TABLES) <= set(there)
    rows = {name: sorted(map(repr, built.rows(name))) for name in there if name != "runs"}
    for name in there:
        path = file_of(built, name)
        os.truncate(path, path.stat().st_size - 5)
    built.run(*options)
    said = capsys.readouterr().out
    for name in there:
        assert f"the table '{built.schema}.{name}' is damaged and counts as missing: " in said
    assert {name: sorted(map(repr, built.rows(name))) for name in rows} == rows
    assert [row["status"] for row in built.rows("runs")] == ["success"]
    built.run(*options)
    assert "is damaged" not in capsys.readouterr().out


def test_one_damaged_table_can_be_rebuilt(built, capsys):
    path = file_of(built, "feeds")
    rows = sorted(map(repr, built.rows("feeds")))
    os.truncate(path, 20)
    built.run("--select", "ssb_messages")
    assert f"'{path}' is not a parquet file (20 bytes)" in capsys.readouterr().out
    built.run("--select", "feeds")
    assert sorted(map(repr, built.rows("feeds"))) == rows


def test_status_verify_finds_a_flipped_bit(built):
    path = file_of(built, "ssb_rejects")
    rows = sorted(map(repr, built.rows("ssb_rejects")))
    flip_bit(path, path.stat().st_size // 2)
    question = ["status", "--verify", "--warehouse", str(built.warehouse), "--schema", built.schema]
    answer = CliRunner().invoke(main, question)
    assert answer.exit_code == 1
    assert f"ssb_rejects: {path} has changed since it was published" in answer.stdout
    assert answer.stdout.splitlines()[-1].strip() == "dbt build --full-refresh --select ssb_rejects+"
    built.run("--full-refresh", "--select", "ssb_rejects+")
    assert CliRunner().invoke(main, question).exit_code == 0
    assert sorted(map(repr, built.rows("ssb_rejects"))) == rows
