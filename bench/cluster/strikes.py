"""What can fail while a Python model runs on a cluster, and how it is made to."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from bench.cluster.build import Build
from bench.cluster.catching import Catching, Caught
from bench.cluster.processes import EXECUTOR, WORKER, above
from bench.cluster.servers import Cluster

#: A Python model of each kind: what its kernel is about.
KINDS = {
    "lines": "stg_ssb__lines",
    "graphs": "int_tangle_levels",
    "timelines": "int_timeline_order",
    "sets": "int_set_messages",
    "accounts": "int_pzp_key_authority",
    "bases": "int_autobase_views",
    "groups": "int_group_results",
}

#: A copy of a task is begun soon when it takes longer than the others, or very long.
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "500ms",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.minTaskRuntime": "2s",
    "spark.speculation.task.duration.threshold": "5s",
}

#: How long Spark may take to begin a copy.
COPYING = 120.0


class Missed(RuntimeError):
    """Something that was to fail did not."""


@dataclass(frozen=True)
class Scene:
    """A build on a cluster, and what is caught there."""

    cluster: Cluster
    build: Build
    catching: Catching


def nothing(scene: Scene, caught: Caught) -> None:
    """Look on: the task does it to itself."""


def kill_executor(scene: Scene, caught: Caught) -> None:
    """Kill -9 the executor, and the task's Python with it."""
    os.kill(above(caught.pid, EXECUTOR), signal.SIGKILL)
    kill_left(caught)


def kill_python(scene: Scene, caught: Caught) -> None:
    """Kill -9 the Python that runs the task."""
    os.kill(caught.pid, signal.SIGKILL)


def kill_worker(scene: Scene, caught: Caught) -> None:
    """Kill -9 the worker and all that it has started; the cluster goes on with what it has besides."""
    os.killpg(os.getpgid(above(caught.pid, WORKER)), signal.SIGKILL)
    kill_left(caught)


def kill_left(caught: Caught) -> None:
    """Kill -9 the Python of an executor that is gone, if it is still there: a process that stands cannot end itself."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(caught.pid, signal.SIGKILL)


def lose_shuffles(scene: Scene, caught: Caught) -> None:
    """Remove all shuffle files, and let the task go on."""
    files = list(scene.cluster.scratch.rglob("shuffle_*.data"))
    if not files:
        raise Missed("there were no shuffle files")
    for path in files:
        path.unlink()
    os.kill(caught.pid, signal.SIGCONT)


def stall(scene: Scene, caught: Caught) -> None:
    """Keep the task standing until a copy of it runs, and let it go on beside that."""
    until = time.monotonic() + COPYING
    while not scene.catching.application.has_copies():
        if time.monotonic() > until:
            raise Missed(f"no copy of a task was begun in {COPYING:.0f} s")
        time.sleep(0.1)
    os.kill(caught.pid, signal.SIGCONT)


def kill_driver(scene: Scene, caught: Caught) -> None:
    """Kill -9 dbt and its JVM."""
    scene.build.kill()


@dataclass(frozen=True)
class Fault:
    """Something that fails in the middle of models, and how builds are to end then.

    Args:
        name: What the command calls it.
        what: What fails, in a line.
        models: In the middle of which.
        act: What is done to a task of them that was caught.
        how: Which tasks are caught, as the daemon has it.
        settings: What spark-defaults.conf has to say for it.
        earlier: The vars of a build that nothing strikes, of which the struck one goes on; None for no such build.
        expects_retry: Whether Spark is to begin a stage again.
        kills_driver: Whether the build is to end just then; each model has a build of its own.
        leaves_files: Whether something may write yet when the build ended well, for the next one to clear up.
        error: What the error says, where the build is to fail (a regular expression); None where it is to end well.
    """

    name: str
    what: str
    models: Collection[str]
    act: Callable[[Scene, Caught], None] = nothing
    how: str = "once"
    settings: Mapping[str, str] = field(default_factory=dict)
    earlier: Mapping[str, object] | None = None
    expects_retry: bool = False
    kills_driver: bool = False
    leaves_files: bool = False
    error: str | None = None

    @property
    def ends_well(self) -> bool:
        """Whether a build that it strikes is to end with its tables."""
        return self.error is None and not self.kills_driver

    def builds(self) -> list[list[str]]:
        """The models that are struck in one build, and in the next."""
        return [[model] for model in self.models] if self.kills_driver else [[*self.models]]
