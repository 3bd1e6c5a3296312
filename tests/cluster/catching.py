"""Catch tasks of Python models and of rounds while they run, so that a fault can be injected at this moment.

`catch/catching_daemon.py` stops tasks of Python models: a stopped task is certainly in the middle of its work, even
with little data. Rounds of a `fixpoint` model have no Python: there an executor with rows of earlier rounds is stopped.
"""

import os
import re
import signal
import time
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from tests.cluster.application import Application, find_executor, is_stopped
from tests.cluster.servers import free_port

DAEMON = Path(__file__).parent / "catch" / "catching_daemon.py"
#: How to catch a `fixpoint` model: an executor with rows of earlier rounds, after a line about a round.
ROWS = "rows"
#: After this many seconds, Spark's page shows the tasks that ended before their executor was stopped.
SHOWN = 0.5


class Caught(NamedTuple):
    """A task, by its model and its process; of rounds, by its executor."""

    model: str
    pid: int


class Catching:
    """The models to catch, and the tasks of them that were caught; workers communicate through a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._of_executors: set[str] = set()  # awaited, and caught by stopping an executor
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

    def wait_for(self, models: Collection[str], how: str = "once") -> None:
        """Catch tasks of these models only; `how` is `ROWS`, or explained in the daemon."""
        for path in self.folder.iterdir():
            path.unlink()
        self._of_executors = {*models} if how == ROWS else set()
        for model in {*models} - self._of_executors:
            (self.folder / model).write_text(how)

    def caught(self, said: str) -> list[Caught]:
        """Return the tasks that were caught since the last call; `said` is the output of the build so far."""
        found = []
        for path in sorted(self.folder.glob("*.*")):
            model, _, pid = path.name.rpartition(".")
            if path.read_text() == "fill" or is_stopped(int(pid)):
                path.unlink()
                found.append(Caught(model, int(pid)))
        return found + [caught for model in [*self._of_executors] for caught in self._catch_executor(model, said)]

    def _catch_executor(self, model: str, said: str) -> list[Caught]:
        """Stop an executor of rounds; it goes on if they no longer need it."""
        # Spark's page is also asked before the rounds, because it takes seconds for its first answer.
        found = self.application.keepers()
        if not re.search(rf"\b{model}: \w+ \d+: ", said):
            return []
        for each in found:
            if (pid := find_executor(each.application, each.executor)) is None:
                continue
            os.kill(pid, signal.SIGSTOP)
            time.sleep(SHOWN)
            if each in self.application.keepers():
                self._of_executors.remove(model)
                return [Caught(model, pid)]
            os.kill(pid, signal.SIGCONT)
        return []
