"""Runs of one warehouse in several processes: they take turns, and a wait has a limit."""

import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from dbt_process import dbt, run
from dbt_spark_python.session import connection
from dbt_spark_python.table_store.errors import WarehouseError
from plugin_projects import make_project

NAMES = ("one", "two", "three")
SLOW = """
    import time

    def model(dbt, spark):
        time.sleep(0.7)
        return spark.range(3)
"""


@pytest.fixture
def slow(tmp_path) -> Path:
    """A project of three models that do not read each other, each of which takes a while."""
    return make_project(tmp_path / "project", {f"{name}.py": SLOW for name in NAMES})


def log_of(folder: Path) -> str:
    path = folder / "logs" / "dbt.log"
    return path.read_text() if path.exists() else ""


def span(log: str) -> tuple[datetime, datetime]:
    lines = log.splitlines()
    begin, end = ([line for line in lines if text in line] for text in ("1 of 1 START", "Finished running"))
    return tuple(datetime.strptime(found[0].split()[0], "%H:%M:%S.%f") for found in (begin, end))


@pytest.mark.long
def test_runs_of_one_model_take_turns(slow, folders, tmp_path):
    """As orchestrators run them: a process for each model, all at once. Each run waits for the one before."""
    places = [tmp_path / name for name in NAMES]
    environment = {"warehouse": folders.root, "wait": 300, "DBT_USE_COLORS_FILE": "false"}
    with ThreadPoolExecutor(len(NAMES)) as pool:
        runs = []
        for place in places:
            place.mkdir()
            runs.append(pool.submit(run, place, slow, ["run", "--select", place.name], environment))
        deadline = time.monotonic() + 120
        while not all("waiting for" in log_of(place) for place in places) and time.monotonic() < deadline:
            time.sleep(0.1)
        folders.close()
        done = [each.result() for each in runs]
    assert [each.returncode for each in done] == [0, 0, 0], "\n".join(each.stdout for each in done)
    logs = [log_of(place) for place in places]
    for log in logs:
        assert re.search(rf"waiting for process {os.getpid()} since 20\S+, which builds in .* \(\d+ of 300 s\)", log)
    spans = sorted(map(span, logs))
    assert all(end < begin for (_, end), (begin, _) in pairwise(spans)), spans
    for name in NAMES:
        table = ds.dataset(folders.root / "s.db" / name, format="parquet").to_table()
        assert sorted(table["id"].to_pylist()) == [0, 1, 2]


@pytest.mark.both
def test_a_wait_that_ends_is_reported(slow, folders):
    """The error names the folder and the process that builds there, and says what to do; no model has begun."""
    started = time.monotonic()
    said = dbt(slow, "run", code=2, warehouse=folders.root, wait=1)
    assert time.monotonic() - started < 120
    flat = " ".join(said.split())
    assert f"after 1 s, the warehouse {folders.root} is being built by process {os.getpid()} since 20" in flat
    assert "wait until that ends, let runs wait longer (spark.dbt.lock_wait in the profile), or use another" in flat
    assert "START" not in said and "Traceback" not in said


@pytest.mark.parametrize("wait", ["long", "-1", "inf", "nan", ""])
def test_a_wait_that_is_no_number_is_refused(wait):
    with pytest.raises(WarehouseError, match=f"spark.dbt.lock_wait is '{wait}'; set it to a number of seconds"):
        connection.read_lock_wait({connection.LOCK_WAIT: wait})
