"""The processes of workers (Linux only): executors, and whether a process has stopped."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
WORKER = "org.apache.spark.deploy.worker.Worker"


def is_stopped(pid: int) -> bool:
    """Whether a process exists and has been stopped."""
    return bool(found := _fields(pid)) and found[0] == "T"


def above(pid: int, main_class: str) -> int:
    """Return the process that runs a class: this one, or an ancestor.

    Raises:
        ProcessLookupError: There is no such process.
    """
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
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _command(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return []
