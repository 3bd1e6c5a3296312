"""The processes of workers (Linux only): the executor of a Python worker, and whether a process has stopped."""

from collections.abc import Iterator
from pathlib import Path

EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
WORKER = "org.apache.spark.deploy.worker.Worker"


def is_stopped(pid: int) -> bool:
    """Whether a process exists and has been stopped."""
    return bool(found := _fields(pid)) and found[0] == "T"


def above(pid: int, main_class: str) -> int:
    """Return the ancestor of a process that runs a class.

    Raises:
        ProcessLookupError: It has no such ancestor.
    """
    for parent in _ancestors(pid):
        if main_class in _command(parent):
            return parent
    raise ProcessLookupError(f"process {pid} has no ancestor that runs {main_class}")


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
