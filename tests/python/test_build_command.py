"""`tangles build` as users run it: tables from logs, without a project, in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from functools import partial
from urllib.parse import unquote

import pyarrow.dataset as ds
import pytest

from conftest import DATA, ENGINE

EVENTS = b"".join(b'{"timeline": "t", "event": "%d", "after": [], "arrival": %d}\n' % (n, n) for n in range(3))


#: The environment without the variables of the test session.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("DBT_", "TANGLES_"))}
COMMAND = [sys.executable, "-m", "dbt_tangles.cli.cli"]
#: The logs and options of the builds; the event log is the standard input.
GIVEN = ["log.jsonl", "-", "--var", "edit_batch_size=2", "--no-tests"]


def build(folder, *words: str):
    """Run the command in a folder."""
    engine = {"local": "spark", "sail": "sail"}[ENGINE]
    command = [*COMMAND, "build", *words, "--engine", engine]
    given = {"cwd": folder, "env": CLEAN, "text": True, "input": EVENTS.decode()}
    return subprocess.run(command, **given, capture_output=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("build")
    with (DATA / "ssb" / "small.jsonl").open("rb") as file:
        (folder / "log.jsonl").write_bytes(b"".join(next(file) for _ in range(24)))
    return folder


@pytest.fixture(scope="module")
def stopped(folder):
    """A build on Sail that gets Ctrl-C once lines are verified: its process, its output, and the status afterwards."""
    # A test session that runs in the background may ignore the signal, and its children would, too.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    given = {"cwd": folder, "env": CLEAN, "text": True}
    command = [*COMMAND, "build", *GIVEN, "--engine", "sail"]
    lines = []
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, start_new_session=True, preexec_fn=heed, **given) as process:
        process.stdin.write(EVENTS.decode())
        process.stdin.close()
        process.stdin = None
        while not lines or "SSB messages verified" not in lines[-1]:
            lines.append(process.stderr.readline())
            assert lines[-1]
        os.killpg(process.pid, signal.SIGINT)
        lines += process.communicate(timeout=60)[1].splitlines()
    status = subprocess.run([*COMMAND, "status", "--json"], capture_output=True, **given)
    return process, lines, json.loads(status.stdout)


@pytest.fixture(scope="module")
def built(folder, request):
    """A complete build; on Sail, after the one that was stopped."""
    if ENGINE == "sail":
        request.getfixturevalue("stopped")
    done = build(folder, *GIVEN)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_progress_goes_to_the_standard_error(built, request):
    lines = built.stderr.splitlines()
    assert lines[0].startswith("ssb_log /") and lines[0].endswith("/log.jsonl")
    if ENGINE == "sail":
        lines += request.getfixturevalue("stopped")[1]
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
    assert ds.dataset(tables / "tangle_messages").count_rows()
    edits = ds.dataset(tables / "timeline_edits").to_table(columns=["timeline_id", "batch"]).to_pylist()
    assert {row["batch"] for row in edits if row["timeline_id"] == "t"} == {1, 2}
    assert {path.name for path in folder.iterdir()} == {"log.jsonl", "warehouse"}


def test_the_standard_input_is_a_log(folder, built):
    """Its lines have a place of that name, and its text does not stay."""
    assert "/<stdin>" in built.stderr
    (place,) = {
        row["source_file"]
        for row in ds.dataset(folder / "warehouse" / "tangles.db" / "stg_events__lines").to_table().to_pylist()
    }
    assert unquote(place).endswith("/warehouse/.tangles/<stdin>")
    assert not (folder / "warehouse" / ".tangles" / "<stdin>").exists()


def test_status_finds_the_results_of_the_build(folder, built, tmp_path):
    words = [*COMMAND, "status", "--warehouse", str(folder / "warehouse")]
    done = subprocess.run(words, cwd=tmp_path, env=CLEAN, capture_output=True, text=True, check=True)
    assert "no results found" not in done.stdout and ": none ran\n" in done.stdout


def test_a_wrong_value_is_refused_by_name(folder, built):
    done = build(folder, "log.jsonl", "--var", "edit_batch_size=x")
    assert (done.returncode, done.stdout) == (2, "")
    assert "var 'edit_batch_size' is \"x\", but must be" in done.stderr


@pytest.mark.sail
def test_an_interrupt_ends_a_build_on_sail(stopped, built):
    """Ctrl-C ends the build within moments, although Sail takes the signal too; the next build completes the tables."""
    process, lines, answer = stopped
    assert (process.returncode, "interrupted; run the command again" in "".join(lines)) == (130, True)
    assert answer["runs"][0]["status"] == "interrupted"
    assert built.returncode == 0
