"""The processes of workers (Linux only): which executor a Python worker is of, and whether it has stopped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
WORKER = "org.apache.spark.deploy.worker.Worker"


def is_stopped(pid: int) -> bool:
    """Whether a process is there and has been stopped."""
    return bool(found := _fields(pid)) and found[0] == "T"


def above(pid: int, main_class: str) -> int:
    """The process above another that runs a class.

    Raises:
        ProcessLookupError: There is none.
    """
    for parent in _ancestors(pid):
        if main_class in _command(parent):
            return parent
    raise ProcessLookupError(f"no process above {pid} runs {main_class}")


def _ancestors(pid: int) -> Iterator[int]:
    while found := _fields(pid):
        pid = int(found[1])
        yield pid


def _fields(pid: int) -> list[str]:
    """What the system says of a process behind its name: state, parent and so on; nothing where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _command(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return []
