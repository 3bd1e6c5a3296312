"""Tasks of Python models that are caught in the middle, so that something can be done to them just then.

`catch/catching_daemon.py` has them stop: a task that stands still is in the middle for sure, of small data too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.cluster.application import Application
from bench.cluster.processes import is_stopped
from bench.cluster.servers import free_port

DAEMON = Path(__file__).parent / "catch" / "catching_daemon.py"


@dataclass(frozen=True)
class Caught:
    """A task, by its model and its process."""

    model: str
    pid: int


class Catching:
    """Which models are waited for, and the tasks of them that were caught.

    Args:
        folder: Where this process and the workers say that to each other.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._port = free_port()
        self.application = Application(self._port)

    def settings(self) -> dict[str, str]:
        """What spark-defaults.conf has to say."""
        return {
            "spark.python.daemon.module": DAEMON.stem,
            "spark.executorEnv.PYTHONPATH": str(DAEMON.parent),
            "spark.executorEnv.TANGLES_CAUGHT": str(self.folder),
            "spark.ui.enabled": "true",
            "spark.ui.port": str(self._port),
        }

    def wait_for(self, models: Iterable[str], how: str = "once") -> None:
        """Have tasks of these models caught, and of no others; `how` as the daemon has it."""
        for path in self.folder.iterdir():
            path.unlink()
        for model in models:
            (self.folder / model).write_text(how)

    def caught(self) -> list[Caught]:
        """The tasks that were caught since this was asked; one that is to stop has stopped."""
        found = []
        for path in sorted(self.folder.glob("*.*")):
            model, _, pid = path.name.rpartition(".")
            if path.read_text() == "fill" or is_stopped(int(pid)):
                path.unlink()
                found.append(Caught(model, int(pid)))
        return found
