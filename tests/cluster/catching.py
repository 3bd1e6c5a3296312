"""Catch tasks of Python models, of merges and of rounds while they run, so that a fault can be injected at this moment.

`catch/catching_daemon.py` stops tasks of Python models: a stopped task is certainly in the middle of its work, even
with little data. Merges of changed groups and rounds of a `fixpoint` model have no Python: there an executor is
stopped, and a task of the merge must run on it even then, or it must keep rows of earlier rounds.
"""

import os
import re
import signal
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.application import Application, find_executor, is_stopped
from tests.cluster.servers import free_port

DAEMON = Path(__file__).parent / "catch" / "catching_daemon.py"
#: In place of a model: any merge of changed groups into a table of Iceberg.
MERGE = "merge"
#: How to catch a `fixpoint` model: an executor with rows of earlier rounds, after a line about a round.
ROWS = "rows"
#: After this many seconds, Spark's page shows the tasks that ended before their executor was stopped.
SHOWN = 0.5


@dataclass(frozen=True)
class Caught:
    """A task, by its model and its process; of a merge (`MERGE`, with its table) and of rounds, by its executor."""

    model: str
    pid: int
    table: str = ""

    def __str__(self) -> str:
        return f"{self.model} of {self.table}" if self.table else self.model


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
        self._of_executors = {model for model in models if model == MERGE or how == ROWS}
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
        """Stop an executor of a merge or of rounds; it goes on if they no longer need it."""
        running = self.application.merges if model == MERGE else self.application.keepers
        # Spark's page is also asked before the rounds, because it takes seconds for its first answer.
        found = running()
        if model != MERGE and not re.search(rf"\b{model}: \w+ \d+: ", said):
            return []
        for each in found:
            if (pid := find_executor(each.application, each.executor)) is None:
                continue
            os.kill(pid, signal.SIGSTOP)
            time.sleep(SHOWN)
            if each in running():
                self._of_executors.remove(model)
                return [Caught(model, pid, each.table)]
            os.kill(pid, signal.SIGCONT)
        return []
