"""Builds that are killed at any moment: readers see whole tables, the next run mends, nothing is left over."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from conftest import DATA, ROOT
from dbt_spark_python.steps import MOST_STEPS

SELECTED = "+tangle_edges +tangle_ancestors +timeline_edits +timeline_stats ssb_rejects +feed_messages"

# How the published orders came about differs with what was killed, by design.
OF_RUNS = {"runs", "run_changes"}
HISTORY = {"previous_publication", "update_step", "update_from_position", "update_to_position"}


class Build:
    """A dbt process, and all that it starts."""

    def __init__(self, folder: Path, log: Path) -> None:
        self.folder = folder
        self.left = self.sessions()
        self.said = (folder / "said").open("w+")
        command = [sys.executable, "-m", "dbt.cli.main", "run", "--select", *SELECTED.split()]
        command += ["--project-dir", ROOT, "--profiles-dir", ROOT, "--vars", json.dumps({"ssb_log": str(log)})]
        command += ["--target-path", folder / "target", "--log-path", folder / "logs"]
        environment = {
            **os.environ,
            "TANGLES_WAREHOUSE": str(folder / "warehouse"),
            "TANGLES_SCHEMA": "tangles",
            "TANGLES_SHUFFLE_PARTITIONS": "2",
        }
        self.process = subprocess.Popen(
            command, env=environment, stdout=self.said, stderr=subprocess.STDOUT, start_new_session=True, cwd=folder
        )

    def sessions(self) -> set[Path]:
        """The folders of processes, dead ones too."""
        return {path for path in (self.folder / "warehouse" / ".sessions").glob("*") if path.is_dir()}

    def open(self) -> float:
        """Wait until it touches the warehouse; returns when that is."""
        while self.sessions() <= self.left:
            assert self.process.poll() is None, "it ended too early"
            time.sleep(0.02)
        return time.monotonic()

    def kill(self) -> None:
        """Kill -9, and wait until all of it is gone; it may have ended before."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kill_once_published(self, table: str) -> None:
        """Kill it when it has built some tables, this one for the last, and others not."""
        before = stamp(self.folder, table)
        while stamp(self.folder, table) == before:
            assert self.process.poll() is None, "it ended too early"
            time.sleep(0.05)
        self.kill()

    def end(self) -> str:
        """Wait until it has ended well; returns what it said."""
        code = self.process.wait(timeout=900)
        self.said.seek(0)
        said = self.said.read()
        assert code == 0, said
        return said


def tables(folder: Path) -> dict[str, list[str]]:
    """The rows of each table below a schema's folder, in an order of their own, without what is history."""
    found = {}
    for path in sorted(path for path in folder.iterdir() if path.name[0] != "." and path.name not in OF_RUNS):
        table = ds.dataset(path, format="parquet").to_table()
        table = table.select([name for name in table.column_names if name not in HISTORY])
        found[path.name] = sorted(map(repr, table.to_pylist()))
    return found


def stamp(folder: Path, name: str) -> str | None:
    """The run that built a table."""
    path = folder / "warehouse" / "tangles.db" / name / "_table.json"
    return json.loads(path.read_text())["run_id"] if path.exists() else None


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Two logs that have most lines in common."""
    lines = (DATA / "ssb" / "small.jsonl").read_bytes().splitlines(keepends=True)
    paths = tmp_path_factory.mktemp("logs") / "a.jsonl", tmp_path_factory.mktemp("logs") / "b.jsonl"
    paths[0].write_bytes(b"".join(lines))
    paths[1].write_bytes(b"".join(line for number, line in enumerate(lines) if number % 5))
    return paths


@pytest.fixture(scope="module")
def undisturbed(project, logs):
    """What each log gives, by builds that nobody kills."""
    expected = []
    for name, log in zip("ab", logs, strict=True):
        made = project(f"undisturbed_{name}", ssb_log=str(log))
        made.run("--select", *SELECTED.split())
        expected.append(tables(made.warehouse / f"{made.schema}.db"))
    return expected


@pytest.mark.parametrize(
    "kills", [pytest.param(3, marks=pytest.mark.both_at_length), pytest.param(12, marks=pytest.mark.exhaustive)]
)
def test_builds_killed_at_any_moment(kills, tmp_path, logs, undisturbed):
    choice = random.Random(12)
    first = Build(tmp_path, logs[0])
    opened = first.open()
    assert "not all of one run" not in first.end()
    duration = time.monotonic() - opened
    schema = tmp_path / "warehouse" / "tangles.db"
    assert tables(schema) == undisturbed[0]

    # The first one is killed where it is sure that tables of both runs stand side by side.
    killed = Build(tmp_path, logs[1])
    killed.kill_once_published("ssb_messages")
    killed_run = stamp(tmp_path, "ssb_messages")
    said = Build(tmp_path, logs[1]).end()
    lines = [line for line in said.splitlines() if " of the run of " in line]
    assert len(lines) == 2
    assert f"over ssb_log {logs[1]}, which did not end" in lines[0]
    assert lines[1].endswith(f"over ssb_log {logs[0]}")
    assert "A build of everything (no --select) makes it so" in said
    assert tables(schema) == undisturbed[1]

    ended, number = 0, 1
    while number < kills:
        build = Build(tmp_path, logs[(number + 1) % 2])
        build.open()
        moment = choice.uniform(0, duration)
        time.sleep(moment)
        if build.process.poll() is None:
            number += 1
        else:  # as less was left to be done; then moments are drawn from less time
            ended, duration = ended + 1, moment
        build.kill()
        held = tables(schema)
        assert held.keys() == undisturbed[0].keys(), "a table that was there is there"
        for name, rows in held.items():
            assert rows in (undisturbed[0][name], undisturbed[1][name]), f"{name} is neither old nor new"
        if number % 4 == 0:
            Build(tmp_path, logs[0]).end()
            assert tables(schema) == undisturbed[0]
        assert ended < kills, "most builds are killed before their end"

    Build(tmp_path, logs[1]).end()
    assert tables(schema) == undisturbed[1]
    assert sorted(path.name for path in (tmp_path / "warehouse" / ".sessions").iterdir()) == [".turn"]
    assert sorted(path.name for path in schema.iterdir()) == sorted([".steps", *undisturbed[1], *OF_RUNS])
    steps = {table.name: list(table.iterdir()) for table in (schema / ".steps").iterdir()}
    assert steps.keys() <= undisturbed[1].keys()
    assert all(len(kept) <= MOST_STEPS for kept in steps.values())

    runs = ds.dataset(schema / "runs", format="parquet").to_table().to_pylist()
    runs = {run["run_id"]: run for run in runs}
    assert (runs[killed_run]["status"], runs[killed_run]["finished_at"]) == ("interrupted", None)
    last = max(runs.values(), key=lambda run: run["started_at"])
    assert last["status"] == "success"
    assert [given["path"] for given in last["inputs"]] == [str(logs[1])]
    assert sorted(last["tables"]) == [f"tangles.{name}" for name in sorted(undisturbed[1])]
    assert all(not run["tables"] for run in runs.values() if run is not last)
