"""Says every few seconds how far a run is, in a run that is long and says nothing else."""

import importlib
import threading
import time
from collections.abc import Collection, Iterator
from types import TracebackType

from dbt.adapters.events.logging import AdapterLogger
from dbt.flags import get_flags
from dbt_common.events.base_types import EventMsg
from pyspark.sql import SparkSession

logger = AdapterLogger("Spark")

INTERVAL = 15.0  # seconds between two lines


def say(line: str) -> None:
    """Show a line of progress: as dbt's own where dbt shows its lines, else by itself, unless dbt is to be silent."""
    flags = get_flags()
    if flags.LOG_LEVEL in ("debug", "info") and not flags.QUIET:
        logger.info(line)
    elif flags.PRINT and not flags.QUIET:
        print(line, flush=True)


class RunProgress:
    """A callback for dbt's events: counts the nodes that have ended, where dbt does not list them itself.

    The number of nodes is the one that dbt states as a command begins. dbt's own numbering of nodes is not used: it
    follows the order in which nodes are queued, and its total grows while models with unit tests start. Unit tests are
    therefore counted only where a command states them too, which `dbt build` does not.
    """

    def __init__(self, interval: float = INTERVAL) -> None:
        self.interval = interval
        self._lock = threading.Lock()
        self._begin(0)

    def _begin(self, total: int) -> None:
        self._total, self._ended, self._last = total, set(), time.monotonic()

    def __call__(self, event: EventMsg) -> None:
        """Take one event; dbt calls this in whatever thread it happens."""
        if event.info.name == "ConcurrencyLine":
            with self._lock:
                self._begin(event.data.node_count)
        elif event.info.name == "NodeFinished" and _is_counted(event):
            with self._lock:  # until the line is out, so that no thread says less behind one that says more
                self._ended.add(event.data.node_info.unique_id)  # once, however many batches it has
                now = time.monotonic()
                if now - self._last >= self.interval:
                    self._last = now
                    if get_flags().LOG_LEVEL not in ("debug", "info"):
                        say(f"{len(self._ended)} of {self._total} steps done")


def _is_counted(event: EventMsg) -> bool:
    node = event.data.node_info
    if node.resource_type == "unit_test":
        return get_flags().WHICH != "build"
    return node.materialized != "ephemeral"


class NodeProgress:
    """Context manager: a job group around a Python model, and a line of progress while it runs.

    On Spark Connect there is no job group; there the session tag of the same name marks the node's operations, and
    only packages say how far they are.

    Args:
        spark: The session.
        node: The node's unique id.
        packages: Importable packages of the model. One that has a function `progress_line` is asked for a line: it is
            called with the time at which the model began, in seconds since 1970, and returns a text or None.
        interval: Seconds between two lines.
    """

    def __init__(
        self, spark: SparkSession, node: str, packages: Collection[str] = (), interval: float = INTERVAL
    ) -> None:
        self.spark, self.node, self.packages, self.interval = spark, node, packages, interval
        self._name = node.rsplit(".", 1)[-1]
        self.context = None if is_connect(spark) else spark.sparkContext
        self._started, self._began = time.monotonic(), time.time()
        self._done = threading.Event()
        self._stages: dict[int, tuple[int, int]] = {}  # of each stage that was seen: parts done, and all
        self._watch = threading.Thread(target=self._report, name=f"progress-{node}", daemon=True)

    def __enter__(self) -> "NodeProgress":
        if self.context is None:
            self.spark.addTag(self.node)
        else:
            self.context.setJobGroup(self.node, self.node)
        self._watch.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._done.set()
        if self.context is None:
            self.spark.removeTag(self.node)
        else:
            self.context.setLocalProperty("spark.jobGroup.id", None)
            self.context.setLocalProperty("spark.job.description", None)
        self._watch.join()

    def _report(self) -> None:
        while not self._done.wait(self.interval):
            for line in filter(None, [self.line(), *self._package_lines()]):
                say(line)

    def _package_lines(self) -> Iterator[str | None]:
        for package in self.packages:
            ask = getattr(importlib.import_module(package), "progress_line", None)
            line = ask(self._began) if ask else None
            yield f"{self._name}: {line}" if line else None

    def line(self) -> str | None:
        """Say how many parts are done of all that have begun, and for how long it has been; None where none runs.

        Stages that have ended still count, so neither number becomes smaller.
        """
        if self.context is None:
            return None
        tracker = self.context.statusTracker()
        is_active = False
        for job in tracker.getJobIdsForGroup(self.node):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info else []:
                progress = tracker.getStageInfo(stage)
                if progress is None:  # not begun, or forgotten
                    continue
                is_active |= bool(progress.numActiveTasks)
                done, _ = self._stages.get(stage, (0, 0))
                self._stages[stage] = (max(done, progress.numCompletedTasks), progress.numTasks)
        if not is_active:
            return None
        done, parts = (sum(numbers) for numbers in zip(*self._stages.values(), strict=True))
        seconds = time.monotonic() - self._started
        return f"{self._name}: {done} of {parts} parts done, {seconds:.0f} s"


def is_connect(spark: SparkSession) -> bool:
    """Whether this is a Spark Connect session, which has no Spark context."""
    return "connect" in type(spark).__module__
