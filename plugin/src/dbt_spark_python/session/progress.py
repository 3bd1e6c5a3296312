"""Logs every few seconds how far a long run is, if dbt itself is silent meanwhile."""

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


def show_line(line: str) -> None:
    """Show a progress line: through dbt's log if dbt shows its log, else on stdout, unless dbt is quiet."""
    flags = get_flags()
    if flags.LOG_LEVEL in ("debug", "info") and not flags.QUIET:
        logger.info(line)
    elif flags.PRINT and not flags.QUIET:
        print(line, flush=True)


class RunProgress:
    """A callback for dbt's events: counts finished nodes if dbt does not list them.

    The total is the number of nodes that dbt states when a command begins. dbt's own numbering of nodes is not used: it
    follows the order in which nodes are queued, and its total grows while models with unit tests start. Unit tests are
    therefore counted only if the command's total includes them, which is not so for `dbt build`.
    """

    def __init__(self, interval: float = INTERVAL) -> None:
        self.interval = interval
        self._lock = threading.Lock()
        self._begin(0)

    def _begin(self, total: int) -> None:
        self._total, self._ended, self._last = total, set(), time.monotonic()

    def __call__(self, event: EventMsg) -> None:
        """Take one event. dbt calls this in the thread of the event."""
        if event.info.name == "ConcurrencyLine":
            with self._lock:
                self._begin(event.data.node_count)
        elif event.info.name == "NodeFinished" and _is_counted(event):
            with self._lock:  # held until the line is printed, so that counts never decrease
                self._ended.add(event.data.node_info.unique_id)  # a node with several batches counts once
                now = time.monotonic()
                if now - self._last >= self.interval:
                    self._last = now
                    if get_flags().LOG_LEVEL not in ("debug", "info"):
                        show_line(f"{len(self._ended)} of {self._total} steps done")


def _is_counted(event: EventMsg) -> bool:
    node = event.data.node_info
    if node.resource_type == "unit_test":
        return get_flags().WHICH != "build"
    return node.materialized != "ephemeral"


class NodeProgress:
    """Context manager: a job group around a Python model, and a progress line while it runs.

    On Spark Connect, which lacks job groups, a session tag of the same name marks the node's operations, and progress
    lines come from packages only.

    Args:
        spark: The session.
        node: The node's unique id.
        packages: Importable packages of the model. If a package defines `progress_line`, that function is called with
            the model's start time (seconds since 1970), and returns a text or None.
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
        self._stages: dict[int, tuple[int, int]] = {}  # completed and total tasks of each stage seen so far
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
                show_line(line)

    def _package_lines(self) -> Iterator[str | None]:
        for package in self.packages:
            ask = getattr(importlib.import_module(package), "progress_line", None)
            line = ask(self._began) if ask else None
            yield f"{self._name}: {line}" if line else None

    def line(self) -> str | None:
        """Return the number of completed parts and the elapsed time, if any stage is active.

        Finished stages still count, so neither number decreases.
        """
        if self.context is None:
            return None
        tracker = self.context.statusTracker()
        is_active = False
        for job in tracker.getJobIdsForGroup(self.node):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info else []:
                progress = tracker.getStageInfo(stage)
                if progress is None:  # not started, or discarded by Spark
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
    """Whether this is a Spark Connect session, which lacks a Spark context."""
    return "connect" in type(spark).__module__
