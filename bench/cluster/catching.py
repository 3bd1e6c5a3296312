"""Catch tasks of Python models while they run, so that a fault can be injected at this moment.

`catch/catching_daemon.py` stops them: a stopped task is certainly in the middle of its work, even with little data.
"""

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
    """The models to catch, and the tasks of them that were caught.

    Args:
        folder: The folder through which this process and the workers communicate.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._port = free_port()
        self.application = Application(self._port)

    def settings(self) -> dict[str, str]:
        """Return the settings for spark-defaults.conf."""
        return {
            "spark.python.daemon.module": DAEMON.stem,
            "spark.executorEnv.PYTHONPATH": str(DAEMON.parent),
            "spark.executorEnv.TANGLES_CAUGHT": str(self.folder),
            "spark.ui.enabled": "true",
            "spark.ui.port": str(self._port),
        }

    def wait_for(self, models: Iterable[str], how: str = "once") -> None:
        """Catch tasks of these models only; `how` is explained in the daemon."""
        for path in self.folder.iterdir():
            path.unlink()
        for model in models:
            (self.folder / model).write_text(how)

    def caught(self) -> list[Caught]:
        """Return the tasks that were caught since the last call; a task that is to stop has stopped."""
        found = []
        for path in sorted(self.folder.glob("*.*")):
            model, _, pid = path.name.rpartition(".")
            if path.read_text() == "fill" or is_stopped(int(pid)):
                path.unlink()
                found.append(Caught(model, int(pid)))
        return found
