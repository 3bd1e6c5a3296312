"""Catch tasks of Python models and of merges while they run, so that a fault can be injected at this moment.

`catch/catching_daemon.py` stops tasks of Python models: a stopped task is certainly in the middle of its work, even
with little data. A merge of changed groups has no Python: there the executor is stopped, and a task of the merge must
run on it even then.
"""

import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.cluster.application import Application
from bench.cluster.processes import find_executor, is_stopped
from bench.cluster.servers import free_port

DAEMON = Path(__file__).parent / "catch" / "catching_daemon.py"
#: In place of a model: any merge of changed groups into a table of Iceberg.
MERGE = "merge"
#: After this many seconds, Spark's page shows the tasks that ended before their executor was stopped.
SHOWN = 0.5


@dataclass(frozen=True)
class Caught:
    """A task, by its model and its process; of a merge, by `MERGE`, its executor and its table."""

    model: str
    pid: int
    table: str = ""

    def __str__(self) -> str:
        return f"{self.model} of {self.table}" if self.table else self.model


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
            "spark.ui.liveUpdate.period": "1ms",
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
        return found + (self._catch_merge() if (self.folder / MERGE).exists() else [])

    def _catch_merge(self) -> list[Caught]:
        """Stop an executor that runs a task of a merge; it goes on if the task has just ended."""
        for merge in self.application.merges():
            if (pid := find_executor(merge.application, merge.executor)) is None:
                continue
            os.kill(pid, signal.SIGSTOP)
            time.sleep(SHOWN)
            if merge in self.application.merges():
                (self.folder / MERGE).unlink()
                return [Caught(MERGE, pid, merge.table)]
            os.kill(pid, signal.SIGCONT)
        return []
