"""Progress lines of a run, and of a Python model."""

import json
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from dbt_spark_python.session import progress
from dbt_spark_python.session.progress import RunProgress
from plugin_projects import make_project

MODELS = {f"m{n}.sql": "select 1 as id" for n in range(6)} | {
    "between.sql": "{{ config(materialized='ephemeral') }}\nselect * from {{ ref('m0') }}",
    "last.sql": "select * from {{ ref('between') }}",
    "broken.sql": "select no_such_column from {{ ref('m1') }}",
    "skipped.sql": "select * from {{ ref('broken') }}",
}
UNIT_TESTS = [
    {"name": f"of_m{n // 2}_{n % 2}", "model": f"m{n // 2}", "given": [], "expect": {"rows": [{"id": 1}]}}
    for n in range(12)
]
COLUMNS = [{"name": f"m{n}", "columns": [{"name": "id", "data_tests": ["not_null", "unique"]}]} for n in range(6)]


@pytest.fixture(scope="module")
def built(project, tmp_path_factory):
    """A project with unit tests, so that dbt's total would grow while models start."""
    made = make_project(tmp_path_factory.mktemp("progress") / "p", MODELS)
    (made / "models" / "tests.yml").write_text(json.dumps({"unit_tests": UNIT_TESTS, "models": COLUMNS}))
    return project("progress", made)


def lines_of(built, capfd, *command: str) -> list[tuple[int, int]]:
    """Run a command on two threads with a line for each step, and return the lines."""
    capfd.readouterr()
    built.invoke(*command, "--threads", "2", "--log-level", "warn", callbacks=[RunProgress(interval=0)])
    found = re.findall(r"^(\d+) of (\d+) steps done$", capfd.readouterr().out, re.MULTILINE)
    return [(int(done), int(total)) for done, total in found]


@pytest.mark.parametrize(("command", "total"), [("build", 9 + 12), ("test", 12 + 12)])
def test_a_run_counts_up_to_a_total_that_stays(built, capfd, command, total):
    """All but ephemeral models count, also failed and skipped ones; in a build unit tests do not."""
    assert lines_of(built, capfd, command) == [(done, total) for done in range(1, total + 1)]


def event(name: str, **data) -> SimpleNamespace:
    return SimpleNamespace(info=SimpleNamespace(name=name), data=SimpleNamespace(**data))


def test_counts_never_decrease(monkeypatch):
    said = []
    monkeypatch.setattr(progress, "show_line", said.append)
    monkeypatch.setattr(progress, "get_flags", lambda: SimpleNamespace(LOG_LEVEL="warn", WHICH="run"))
    counted = RunProgress(interval=0)
    for total in (500, 300):  # two commands in one process
        counted(event("ConcurrencyLine", node_count=total))
        names = [f"m{n // 2}" for n in range(2 * total)]  # each twice, like a model with two batches
        nodes = [SimpleNamespace(unique_id=name, resource_type="model", materialized="table") for name in names]
        with ThreadPoolExecutor(2) as pool:
            [*pool.map(lambda node: counted(event("NodeFinished", node_info=node)), nodes)]
        done = [int(re.fullmatch(rf"(\d+) of {total} steps done", line)[1]) for line in said]
        assert done == sorted(done) and done[-1] == total
        said.clear()


def test_parts_of_a_model_count_up():
    """Finished stages still count."""
    stages = {}
    tracker = SimpleNamespace(
        getJobIdsForGroup=lambda group: [1, 2],
        getJobInfo=lambda job: SimpleNamespace(stageIds=[job], status="RUNNING"),
        getStageInfo=stages.get,
    )
    assert progress.parts_line(tracker, "model.p.m", 1) is None

    def line(stage: int, active: int, completed: int, tasks: int) -> str | None:
        stages[stage] = SimpleNamespace(numActiveTasks=active, numCompletedTasks=completed, numTasks=tasks)
        return progress.parts_line(tracker, "model.p.m", 16.2)

    assert line(1, 2, 3, 8) == "3 of 8 parts done, 16 s"
    assert line(1, 0, 8, 8) is None
    assert line(2, 1, 0, 4) == "8 of 12 parts done, 16 s"


def test_a_package_reports_its_progress(monkeypatch):
    asked, said = [], threading.Event()
    lines: list[str] = []
    package = SimpleNamespace(progress_line=lambda since: asked.append(since) or (len(asked) > 1 and "3 of 9 packed"))
    monkeypatch.setitem(sys.modules, "packer", package)
    monkeypatch.setattr(progress, "show_line", lambda line: (lines.append(line), said.set()))
    monkeypatch.setattr(progress, "is_connect", lambda spark: True)
    session = SimpleNamespace(addTag=lambda tag: None, removeTag=lambda tag: None)
    began = time.time()
    with progress.node_progress(session, "model.p.m", ["packer", "json"], interval=0.01):
        assert said.wait(10)
    assert set(lines) == {"m: 3 of 9 packed"}
    assert len(asked) > 1 and set(asked) == {asked[0]} and began <= asked[0] <= time.time()
