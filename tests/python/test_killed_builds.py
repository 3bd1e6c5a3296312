"""Builds that are killed at any moment: readers see whole tables; the next run repairs the rest, without leftovers."""

import random
import time
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

from conftest import DATA, ENGINE
from dbt_spark_python.incremental.plan import WORKING_SET, find_held
from dbt_spark_python.table_store import manifest
from killed_build import Build

pytestmark = [pytest.mark.long, pytest.mark.both]

SOME = ["+tangle_edges", "ssb_rejects", "+feed_messages"]
MORE = ["+tangle_edges", "+tangle_ancestors", "+timeline_edits", "+timeline_stats", "ssb_rejects", "+feed_messages"]
#: How many builds are killed, and the models; a build on Spark takes longer.
KILLS, SELECTED = (8, MORE) if ENGINE == "sail" else (1, SOME)
#: With `auto`, a full build makes the tables of SQL rounds, and a night those of kernels.
OPTIONS = {"tangle_engine": "sql"}

# The histories of published orders and of versions depend on the moment of a kill, by design.
OF_RUNS = {"runs", "run_changes"}
HISTORY = {"previous_publication", "update_step", "update_from_position", "update_to_position", "version"}


def tables(folder: Path) -> dict[str, list[str]]:
    """Return the sorted rows of each table in a schema's folder, without histories and tombstones."""
    found = {}
    for path in sorted(path for path in folder.iterdir() if path.name[0] != "." and path.name not in OF_RUNS):
        table = ds.dataset(path, format="parquet").to_table()
        if path.name.endswith("_versions"):
            table = table.filter(pc.field("digest").is_valid())
        table = table.select([name for name in table.column_names if name not in HISTORY])
        found[path.name] = sorted(map(repr, table.to_pylist()))
    return found


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Two logs that share most of their lines."""
    lines = (DATA / "ssb" / "small.jsonl").read_bytes().splitlines(keepends=True)
    paths = tmp_path_factory.mktemp("logs") / "a.jsonl", tmp_path_factory.mktemp("logs") / "b.jsonl"
    paths[0].write_bytes(b"".join(lines))
    paths[1].write_bytes(b"".join(line for number, line in enumerate(lines) if number % 5))
    return paths


@pytest.fixture(scope="module")
def undisturbed(project, logs):
    """The tables of each log, from builds that run to their end."""
    expected = []
    for name, log in zip("ab", logs, strict=True):
        made = project(f"undisturbed_{name}", ssb_log=str(log), **OPTIONS)
        made.run("--select", *SELECTED)
        expected.append(tables(made.warehouse / f"{made.schema}.db"))
    return expected


@pytest.fixture(scope="module")
def working_sets(manifest):
    """Return the tables that may lack the rows of unchanged groups."""
    return {node.name for node in manifest.nodes.values() if find_held(node.config.to_dict()) == WORKING_SET}


def test_builds_killed_at_any_moment(tmp_path, logs, undisturbed, working_sets):
    choice = random.Random(12)
    warehouse = tmp_path / "warehouse"

    def start(log: Path) -> Build:
        return Build(warehouse, "tangles", tmp_path, OPTIONS | {"ssb_log": str(log)}, SELECTED)

    def differing(*expected: dict[str, list[str]]) -> list[str]:
        """Return the tables that equal none of the given builds; for working sets, those with unknown rows."""
        held = tables(schema)
        assert held.keys() == undisturbed[0].keys(), "a killed build removed or added tables"
        rows = {name: set().union(*(each[name] for each in expected)) for name in held}
        return [
            name
            for name in held
            if not (
                set(held[name]) <= rows[name] if name in working_sets else held[name] in [e[name] for e in expected]
            )
        ]

    first = start(logs[0])
    opened = first.open()
    assert "tables of several runs" not in first.end()
    duration = time.monotonic() - opened
    schema = warehouse / "tangles.db"
    assert tables(schema) == undisturbed[0]

    # The first build is killed at a moment when tables of both runs certainly stand side by side.
    killed = start(logs[1])
    killed.kill_once_published("ssb_messages")
    killed_run = killed.stamp("ssb_messages")
    check_report(start(logs[1]).end(), *logs)
    assert differing(undisturbed[1]) == []

    ended, number = 0, 1
    while number < KILLS:
        build = start(logs[(number + 1) % 2])
        build.open()
        moment = choice.uniform(0, duration)
        time.sleep(moment)
        if build.process.poll() is None:
            number += 1
        else:  # less remains to be built, so later moments are drawn from a shorter time
            ended, duration = ended + 1, moment
        build.kill()
        assert differing(*undisturbed) == [], "these tables hold the rows of neither build"
        if number % 4 == 0:
            start(logs[0]).end()
            assert differing(undisturbed[0]) == []
        assert ended < KILLS, "most builds ended before they were killed"

    if KILLS > 1:
        start(logs[1]).end()
        assert differing(undisturbed[1]) == []
    assert [*(warehouse / ".sessions").iterdir()] == []
    left = sorted(path.name for path in schema.iterdir() if path.name != manifest.FOLDER)
    assert left == sorted([*undisturbed[1], *OF_RUNS])

    check_runs(schema, killed_run, logs[1], sorted(undisturbed[1]))


def check_report(said: str, finished: Path, killed: Path) -> None:
    """Check that a build names the two runs, and logs, of the tables that stand side by side."""
    lines = [line for line in said.splitlines() if " of the run of " in line]
    assert len(lines) == 2
    assert f"over ssb_log {killed}, which did not end" in lines[0]
    assert lines[1].endswith(f"over ssb_log {finished}")
    assert "A build without --select builds them all in one run" in said


def check_runs(schema: Path, killed_run: str, log: Path, names: list[str]) -> None:
    """Check that `runs` has the killed run as interrupted, and that the last run published all tables."""
    runs = ds.dataset(schema / "runs", format="parquet").to_table().to_pylist()
    runs = {run["run_id"]: run for run in runs}
    assert (runs[killed_run]["status"], runs[killed_run]["finished_at"]) == ("interrupted", None)
    last = max(runs.values(), key=lambda run: run["started_at"])
    assert last["status"] == "success"
    assert [given["path"] for given in last["inputs"]] == [str(log)]
    assert sorted(last["tables"]) == [f"tangles.{name}" for name in names]
    assert all(not run["tables"] for run in runs.values() if run is not last)
