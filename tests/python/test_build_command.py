"""`tangles build` as users run it: tables from logs, without a project, in a process of its own."""

import os
import subprocess
import sys

import pyarrow.dataset as ds
import pytest

from conftest import DATA, ENGINE

EVENTS = b"".join(b'{"timeline": "t", "event": "%d", "after": [], "arrival": %d}\n' % (n, n) for n in range(3))


def build(folder, *words: str):
    """Run the command in a folder, without the variables of the test session."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("DBT_", "TANGLES_"))}
    engine = {"local": "spark", "sail": "sail"}[ENGINE]
    command = [sys.executable, "-m", "dbt_tangles.cli.cli", "build", *words, "--engine", engine]
    return subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("build")
    with (DATA / "ssb" / "small.jsonl").open("rb") as file:
        (folder / "log.jsonl").write_bytes(b"".join(next(file) for _ in range(24)))
    (folder / "events.jsonl").write_bytes(EVENTS)
    return folder


@pytest.fixture(scope="module")
def built(folder):
    done = build(folder, "log.jsonl", "events.jsonl", "--var", "edit_batch_size=2", "--no-tests")
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_progress_goes_to_the_standard_error(built):
    lines = built.stderr.splitlines()
    assert lines[0].startswith("ssb_log /") and lines[0].endswith("/log.jsonl")
    told = [line.partition(" s  ")[2] for line in lines]
    for words in ("SSB messages verified: ", "feeds chained: ", "tangles ordered: ", "timelines sorted: "):
        assert any(line.startswith(words) for line in told), (words, lines)
    assert not any("bases linearised" in line for line in told)


def test_ends_with_the_status(built):
    assert "24 messages of SSB: usable 24" in built.stdout and "run of " in built.stdout
    assert "log.jsonl: 1 file" in built.stdout


def test_tables_are_below_the_warehouse(folder, built):
    tables = folder / "warehouse" / "tangles.db"
    assert ds.dataset(tables / "ssb_messages").count_rows() == 24
    edits = ds.dataset(tables / "timeline_edits").to_table(columns=["timeline_id", "batch"]).to_pylist()
    assert {row["batch"] for row in edits if row["timeline_id"] == "t"} == {1, 2}
    assert {path.name for path in folder.iterdir()} == {"log.jsonl", "events.jsonl", "warehouse"}


def test_a_wrong_value_is_refused_by_name(folder, built):
    done = build(folder, "log.jsonl", "--var", "edit_batch_size=x")
    assert (done.returncode, done.stdout) == (2, "")
    assert "var 'edit_batch_size' is \"x\", but must be" in done.stderr
