"""The faults of a cluster that runs a Python model, and the functions that inject them."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from tests.cluster.build import Build
from tests.cluster.catching import Catching, Caught
from tests.cluster.processes import EXECUTOR, WORKER, above
from tests.cluster.servers import Cluster

#: A Python model of each kind, by the subject of its kernel.
KINDS = {
    "lines": "stg_ssb__lines",
    "feeds": "int_feed_chain",
    "graphs": "int_tangle_levels",
    "timelines": "int_timeline_order",
    "sets": "int_set_messages",
    "accounts": "int_pzp_key_authority",
    "bases": "int_autobase_views",
    "groups": "int_group_results",
}

#: A `fixpoint` model: each of its rounds reads the stored rows of the round before.
ROUNDS = "int_tangle_depths"

#: Spark soon starts a copy of a task that takes longer than the others, or very long.
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "500ms",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.minTaskRuntime": "2s",
    "spark.speculation.task.duration.threshold": "5s",
}

#: The limit for Spark to start a copy, in seconds.
COPYING = 120.0


class Missed(RuntimeError):
    """A fault did not happen."""


@dataclass(frozen=True)
class Scene:
    """A build on a cluster, and its caught tasks."""

    cluster: Cluster
    build: Build
    catching: Catching


def leave_alone(scene: Scene, caught: Caught) -> None:
    """Leave the task alone: it injects the fault itself."""


def kill_executor(scene: Scene, caught: Caught) -> None:
    """Kill -9 the executor, and the task's Python with it."""
    os.kill(above(caught.pid, EXECUTOR), signal.SIGKILL)
    kill_remaining(caught)


def kill_python(scene: Scene, caught: Caught) -> None:
    """Kill -9 the Python that runs the task."""
    os.kill(caught.pid, signal.SIGKILL)


def kill_worker(scene: Scene, caught: Caught) -> None:
    """Kill -9 the worker and its children; the cluster continues with its other workers."""
    os.killpg(os.getpgid(above(caught.pid, WORKER)), signal.SIGKILL)
    kill_remaining(caught)


def kill_remaining(caught: Caught) -> None:
    """Kill -9 the process of a caught task if it still exists: a stopped process cannot end itself."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(caught.pid, signal.SIGKILL)


def lose_shuffles(scene: Scene, caught: Caught) -> None:
    """Delete all shuffle files, and let the task continue."""
    files = list(scene.cluster.scratch.rglob("shuffle_*.data"))
    if not files:
        raise Missed("the cluster has no shuffle files to delete")
    for path in files:
        path.unlink()
    os.kill(caught.pid, signal.SIGCONT)


def stall(scene: Scene, caught: Caught) -> None:
    """Keep the task stopped until a copy of it runs, and let it continue beside the copy."""
    until = time.monotonic() + COPYING
    while not scene.catching.application.has_copies():
        if time.monotonic() > until:
            raise Missed(f"Spark did not start a copy of the stopped task within {COPYING:.0f} s")
        time.sleep(0.1)
    os.kill(caught.pid, signal.SIGCONT)


def kill_driver(scene: Scene, caught: Caught) -> None:
    """Kill -9 dbt and its JVM, and the task, which cannot end itself."""
    scene.build.kill()
    kill_remaining(caught)


@dataclass(frozen=True)
class Fault:
    """A fault in the middle of models, and the expected end of the builds.

    Args:
        name: The name on the command line.
        description: One line for the output.
        models: The models in the middle of which it happens.
        act: The function that injects it into a caught task.
        how: The tasks to catch, as explained in `Catching`.
        settings: Settings for spark-defaults.conf.
        expects_retry: Whether Spark must start a stage again.
        kills_driver: Whether the build ends at this moment; each model has a build of its own then.
        leaves_files: Whether a writer may still be active after a successful build, so that the next build cleans up.
        error: A regular expression for the error; without one, the build must succeed.
        says: A regular expression for a line that a successful build must write, if any.
    """

    name: str
    description: str
    models: Collection[str]
    act: Callable[[Scene, Caught], None] = leave_alone
    how: str = "once"
    settings: Mapping[str, str] = field(default_factory=dict)
    expects_retry: bool = False
    kills_driver: bool = False
    leaves_files: bool = False
    error: str | None = None
    says: str = ""

    @property
    def ends_well(self) -> bool:
        """Whether a build with this fault must end with its tables."""
        return self.error is None and not self.kills_driver

    def builds(self) -> list[list[str]]:
        """Return the models of each build with this fault."""
        return [[model] for model in self.models] if self.kills_driver else [[*self.models]]
