"""The state of a running Spark application, from the REST API of its page, and the processes of its executors."""

import contextlib
import json
import re
import urllib.request
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tests.cluster.servers import HOST

EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
#: In Spark's plans: the operators that replace rows of Iceberg (`create or replace` has the first one, too), and the
#: scan of a table of new rows, named after the table that gets them.
_MERGE = re.compile("OverwriteByExpression|ReplaceData|WriteDelta")
_NEW_ROWS = re.compile(r"BatchScan \S*?(\w+)__next\b")


class Running(NamedTuple):
    """A running statement, by the table that it changes, and an executor that runs a task of it or keeps its input."""

    table: str
    application: str
    executor: str


class Application:
    """The application whose page is on a port; before and after it, its lists are empty."""

    def __init__(self, port: int) -> None:
        self._root = f"http://{HOST}:{port}/api/v1/applications"

    def has_copies(self) -> bool:
        """Whether a copy of a slow task runs."""
        return any(task["speculative"] for stage in self._ask("stages?status=active") for task in self._tasks(stage))

    def has_retried(self) -> bool:
        """Whether a stage was started again because its input was lost."""
        return any(stage["attemptId"] for stage in self._ask("stages"))

    def keepers(self) -> list[Running]:
        """Return the executors that keep checkpointed rows, first the one with most; their table is unknown."""
        executors = sorted(self._ask("executors"), key=lambda executor: -executor["rddBlocks"])
        return [Running("", self._id(), each["id"]) for each in executors if each["rddBlocks"]]

    def merges(self) -> list[Running]:
        """Return the merges of changed groups of which a task runs."""
        found = []
        for statement in self._ask("sql?details=false&planDescription=false&length=10000"):
            if statement["status"] == "RUNNING" and statement["runningJobIds"]:
                found += self._merges_of(statement)
        return found

    def _merges_of(self, statement: dict[str, Any]) -> list[Running]:
        plan = self._ask(f"sql/{statement['id']}?details=false")
        table = plan and _MERGE.search(plan["planDescription"]) and _NEW_ROWS.search(plan["planDescription"])
        if not table:
            return []
        jobs = [self._ask(f"jobs/{job}") for job in statement["runningJobIds"]]
        stages = {stage for job in jobs if job for stage in job["stageIds"]}
        return [
            Running(table[1], self._id(), task["executorId"])
            for stage in self._ask("stages?status=active")
            if stage["stageId"] in stages
            for task in self._tasks(stage)
        ]

    def _tasks(self, stage: dict[str, Any]) -> list[dict[str, Any]]:
        """Read the running tasks of a stage."""
        return self._ask(f"stages/{stage['stageId']}/{stage['attemptId']}/taskList?status=running&length=1000")

    def _id(self) -> str:
        """Return the id of the first application, or an empty string."""
        with contextlib.suppress(OSError, ValueError):
            return next((application["id"] for application in _read(self._root)), "")
        return ""

    def _ask(self, path: str) -> Any:
        """Read data of the application; an empty list where there is no answer."""
        if application := self._id():
            with contextlib.suppress(OSError, ValueError):
                return _read(f"{self._root}/{application}/{path}")
        return []


def _read(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=5) as answer:
        return json.load(answer)


def is_stopped(pid: int) -> bool:
    """Whether a process exists and has been stopped."""
    return _fields(pid)[:1] == ["T"]


def above(pid: int, main_class: str) -> int:
    for each in (pid, *_ancestors(pid)):
        if main_class in _command(each):
            return each
    raise ProcessLookupError(f"process {pid} has no ancestor that runs {main_class}")


def find_executor(application: str, number: str) -> int | None:
    """Return the process of an executor, by the id of its application and its number there; None if it has ended."""
    for path in Path("/proc").glob("[0-9]*"):
        command = _command(int(path.name))
        options = {*pairwise(command)}
        if EXECUTOR in command and {("--app-id", application), ("--executor-id", number)} <= options:
            return int(path.name)
    return None


def _ancestors(pid: int) -> Iterator[int]:
    while found := _fields(pid):
        pid = int(found[1])
        yield pid


def _fields(pid: int) -> list[str]:
    """Return the fields of /proc behind a process's name: state, parent and so on; empty for an ended process."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []


def _command(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    return []
