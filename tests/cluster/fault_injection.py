"""The faults of a cluster that runs a Python model, and the functions that inject them."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from tests.cluster.application import EXECUTOR, above
from tests.cluster.build import Build
from tests.cluster.catching import ROWS, Catching, Caught
from tests.cluster.servers import WORKER, Cluster

#: A Python model of each kind, by the subject of its kernel.
KINDS = {
    "lines": "stg_ssb__lines",
    "feeds": "int_feed_chain",
    "graphs": "int_tangle_levels",
    "timelines": "int_timeline_order",
    "sets": "int_set_messages",
    "accounts": "int_pzp_key_authority",
    "bases": "int_autobase_results",
    "groups": "int_group_results",
}
LINES, GRAPHS, TIMELINES = (KINDS[name] for name in ("lines", "graphs", "timelines"))
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
#: Small partitions would be joined into one, on the killed executor or another, which has read its files before.
NOT_JOINED = {"spark.sql.adaptive.coalescePartitions.enabled": "false"}
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
    os.kill(caught.pid, signal.SIGKILL)


def kill_worker(scene: Scene, caught: Caught) -> None:
    """Kill -9 the worker and its children; the cluster continues with its other worker."""
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
    scene.build.kill()
    kill_remaining(caught)


@dataclass(frozen=True)
class Fault:
    """A fault in the middle of models, and the expected end of the builds."""

    name: str
    description: str
    models: Collection[str]
    act: Callable[[Scene, Caught], None] = leave_alone
    how: str = "once"  # the tasks to catch, as explained in `Catching`
    settings: Mapping[str, str] = field(default_factory=dict)  # for spark-defaults.conf
    expects_retry: bool = False  # Spark must start a stage again
    kills_driver: bool = False  # the build ends at this moment; each model has a build of its own then
    leaves_files: bool = False  # a writer may still be active after a successful build, so the next build cleans up
    error: str = ""  # a regular expression for the error; without one, the build must succeed
    says: str = ""  # a regular expression for a line that a successful build must write

    @property
    def ends_well(self) -> bool:
        """Whether a build with this fault must end with its tables."""
        return not self.error and not self.kills_driver

    def builds(self) -> list[list[str]]:
        """Return the models of each build with this fault."""
        return [[model] for model in self.models] if self.kills_driver else [[*self.models]]


FAULTS = {
    fault.name: fault
    for fault in (
        Fault("executor", "an executor is killed in each kind of Python model", KINDS.values(), kill_executor),
        Fault("python", "a Python worker is killed in each kind", KINDS.values(), kill_python),
        Fault(
            "checkpoint",
            "an executor is killed that keeps rows of earlier rounds of a model",
            [ROUNDS],
            kill_executor,
            how=ROWS,
            settings=NOT_JOINED,
            says=f"{ROUNDS}: an executor with checkpointed rows was lost; the model runs again",
        ),
        Fault("worker", "a machine is lost: a worker and its executor", [GRAPHS], kill_worker),
        Fault(
            "shuffle",
            "all shuffle files are lost between two tasks of a stage",
            [GRAPHS, TIMELINES],
            lose_shuffles,
            settings=NOT_JOINED,
            expects_retry=True,
        ),
        Fault(
            "straggler",
            "a task stands still until Spark has begun a copy, and then goes on beside it",
            [LINES, GRAPHS],
            stall,
            settings=SPECULATION,
            leaves_files=True,
        ),
        Fault(
            "memory",
            "each task of a model fills the memory that its Python may have",
            [GRAPHS],
            how="fill",
            settings={"spark.executor.pyspark.memory": "3g"},
            error=r"Python ran out of memory on a worker .*spark\.executor\.pyspark\.memory",
        ),
        Fault(
            "killed",
            "the executor is killed at each task of a model, as by a system that is out of memory",
            [GRAPHS],
            kill_executor,
            how="always",
            error=r"executors were lost .*spark\.executor\.memoryOverhead",
        ),
        Fault(
            "driver",
            "dbt and its driver are killed, once in each model, and the build is begun again",
            [LINES, GRAPHS],
            kill_driver,
            kills_driver=True,
        ),
    )
}
