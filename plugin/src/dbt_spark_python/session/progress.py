"""Logs every few seconds how far a long run is, if dbt itself is silent meanwhile."""

import importlib
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

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

    The total is the number of nodes that dbt states when a command begins. The total of dbt's own numbering grows while
    models with unit tests start, so unit tests count only if the command states them; `dbt build` does not.
    """

    def __init__(self, interval: float = INTERVAL) -> None:
        self.interval = interval
        self._lock = threading.Lock()
        self._total, self._ended, self._last = 0, set(), time.monotonic()

    def __call__(self, event: EventMsg) -> None:
        """Take one event. dbt calls this in the thread of the event."""
        with self._lock:  # held until the line is printed, so that counts never decrease
            if event.info.name == "ConcurrencyLine":
                self._total, self._ended, self._last = event.data.node_count, set(), time.monotonic()
            elif event.info.name == "NodeFinished" and _is_counted(event.data.node_info):
                self._ended.add(event.data.node_info.unique_id)  # a node with several batches counts once
                if time.monotonic() - self._last >= self.interval and get_flags().LOG_LEVEL not in ("debug", "info"):
                    self._last = time.monotonic()
                    show_line(f"{len(self._ended)} of {self._total} steps done")


def _is_counted(node: Any) -> bool:
    if node.resource_type == "unit_test":
        return get_flags().WHICH != "build"
    return node.materialized != "ephemeral"


@contextmanager
def node_progress(
    spark: SparkSession, node: str, packages: Collection[str] = (), interval: float = INTERVAL
) -> Iterator[None]:
    """Put a job group around a Python model, and show progress lines while it runs.

    On Spark Connect, which lacks job groups, a session tag of the same name marks the node's operations, and progress
    lines come from packages only: if a package defines `progress_line`, that function is called with the model's start
    time (seconds since 1970), and returns a text or None.
    """
    context, began, name = None if is_connect(spark) else spark.sparkContext, time.time(), node.rsplit(".", 1)[-1]
    done = threading.Event()

    def report() -> None:
        while not done.wait(interval):
            said = [parts_line(context.statusTracker(), node, time.time() - began)] if context else []
            for package in map(importlib.import_module, packages):
                if hasattr(package, "progress_line"):
                    said.append(package.progress_line(began))
            for line in filter(None, said):
                show_line(f"{name}: {line}")

    reporter = threading.Thread(target=report, name=f"progress-{node}", daemon=True)
    if context:
        context.setJobGroup(node, node)
    else:
        spark.addTag(node)
    reporter.start()
    try:
        yield
    finally:
        done.set()
        if context:
            context.setLocalProperty("spark.jobGroup.id", None)
            context.setLocalProperty("spark.job.description", None)
        else:
            spark.removeTag(node)
        reporter.join()


def parts_line(tracker: Any, group: str, seconds: float) -> str | None:
    """Say how many tasks of a job group's stages are completed, if any stage is active."""
    jobs = filter(None, map(tracker.getJobInfo, tracker.getJobIdsForGroup(group)))
    stages = [*filter(None, (tracker.getStageInfo(stage) for stage in {id for job in jobs for id in job.stageIds}))]
    if not any(stage.numActiveTasks for stage in stages):
        return None
    done, parts = sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)
    return f"{done} of {parts} parts done, {seconds:.0f} s"


def is_connect(spark: SparkSession) -> bool:
    """Whether this is a Spark Connect session, which lacks a Spark context."""
    return "connect" in type(spark).__module__
