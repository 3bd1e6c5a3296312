"""The state of a running Spark application, from the REST API of its page, and the processes of its executors."""

import contextlib
import json
import urllib.request
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tests.cluster.servers import HOST

EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


class Running(NamedTuple):
    """An executor that keeps the input of a running statement."""

    application: str
    executor: str


class Application:
    """The application whose page is on a port; before and after it, its lists are empty."""

    def __init__(self, port: int) -> None:
        self._root = f"http://{HOST}:{port}/api/v1/applications"

    def has_copies(self) -> bool:
        """Whether a copy of a slow task runs."""
        tasks = "stages/{stageId}/{attemptId}/taskList?status=running&length=1000"
        stages = self._ask("stages?status=active")
        return any(task["speculative"] for stage in stages for task in self._ask(tasks.format_map(stage)))

    def has_retried(self) -> bool:
        """Whether a stage was started again because its input was lost."""
        return any(stage["attemptId"] for stage in self._ask("stages"))

    def keepers(self) -> list[Running]:
        """Return the executors that keep checkpointed rows, first the one with most."""
        executors = sorted(self._ask("executors"), key=lambda executor: -executor["rddBlocks"])
        return [Running(self._id(), each["id"]) for each in executors if each["rddBlocks"]]

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
