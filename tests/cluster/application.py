"""The state of a running Spark application, from the REST API of its page."""

import contextlib
import json
import re
import urllib.request
from typing import Any, NamedTuple

from tests.cluster.servers import HOST

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
    """The application whose page is on a port; before and after it, its lists are empty.

    Args:
        port: The port.
    """

    def __init__(self, port: int) -> None:
        self._root = f"http://{HOST}:{port}/api/v1/applications"

    def has_copies(self) -> bool:
        """Whether a copy of a slow task runs."""
        return any(task["speculative"] for stage in self._ask("?status=active") for task in self._tasks(stage))

    def has_retried(self) -> bool:
        """Whether a stage was started again because its input was lost."""
        return any(stage["attemptId"] for stage in self._ask())

    def keepers(self) -> list[Running]:
        """Return the executors that keep checkpointed rows, first the one with most; their table is unknown."""
        executors = sorted(self._ask(subject="executors"), key=lambda executor: -executor["rddBlocks"])
        return [Running("", self._id(), each["id"]) for each in executors if each["rddBlocks"]]

    def merges(self) -> list[Running]:
        """Return the merges of changed groups of which a task runs."""
        found = []
        for statement in self._ask("?details=false&planDescription=false&length=10000", "sql"):
            if statement["status"] == "RUNNING" and statement["runningJobIds"]:
                found += self._merges_of(statement)
        return found

    def _merges_of(self, statement: dict[str, Any]) -> list[Running]:
        plan = self._ask(f"/{statement['id']}?details=false", "sql")
        table = plan and _MERGE.search(plan["planDescription"]) and _NEW_ROWS.search(plan["planDescription"])
        if not table:
            return []
        jobs = [self._ask(f"/{job}", "jobs") for job in statement["runningJobIds"]]
        stages = {stage for job in jobs if job for stage in job["stageIds"]}
        return [
            Running(table[1], self._id(), task["executorId"])
            for stage in self._ask("?status=active")
            if stage["stageId"] in stages
            for task in self._tasks(stage)
        ]

    def _tasks(self, stage: dict[str, Any]) -> list[dict[str, Any]]:
        """Read the running tasks of a stage."""
        return self._ask(f"/{stage['stageId']}/{stage['attemptId']}/taskList?status=running&length=1000")

    def _id(self) -> str:
        """Return the id of the first application, or an empty string."""
        try:
            return next((application["id"] for application in _read(self._root)), "")
        except (OSError, ValueError):
            return ""

    def _ask(self, path: str = "", subject: str = "stages") -> Any:
        """Read the stages, or data below them or below another subject; an empty list where there is no answer."""
        if application := self._id():
            with contextlib.suppress(OSError, ValueError):
                return _read(f"{self._root}/{application}/{subject}{path}")
        return []


def _read(address: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(address, timeout=5) as answer:
        return json.load(answer)
