"""Says every few seconds how far a run is, in a run that is long and says nothing else."""

import threading
import time
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
    """A callback for dbt's events: counts nodes as they end, where dbt does not list them itself."""

    def __init__(self, interval: float = INTERVAL) -> None:
        self.interval = interval
        self._last = time.monotonic()

    def __call__(self, event: EventMsg) -> None:
        """Take one event; dbt calls this in whatever thread it happens."""
        if event.info.name != "LogStartLine" or time.monotonic() - self._last < self.interval or event.data.index == 1:
            return
        self._last = time.monotonic()
        if get_flags().LOG_LEVEL not in ("debug", "info"):
            say(f"{event.data.index - 1} of {event.data.total} steps done")


class NodeProgress:
    """Context manager: a job group around a Python model, and a line of progress while it runs.

    On Spark Connect there is no job group; there the session tag of the same name marks the node's operations, and
    no progress is shown.
    """

    def __init__(self, spark: SparkSession, node: str, interval: float = INTERVAL) -> None:
        self.spark, self.node, self.interval = spark, node, interval
        self.context = None if is_connect(spark) else spark.sparkContext
        self._started = time.monotonic()
        self._done = threading.Event()
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
            line = self.line()
            if line:
                say(line)

    def line(self) -> str | None:
        """Say how many parts of what is running are done, and for how long it has been; None where nothing runs."""
        tracker = self.context.statusTracker()
        done = parts = 0
        for job in tracker.getJobIdsForGroup(self.node):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info and info.status == "RUNNING" else []:
                progress = tracker.getStageInfo(stage)
                if progress and progress.numActiveTasks:
                    done += progress.numCompletedTasks
                    parts += progress.numTasks
        seconds = time.monotonic() - self._started
        return f"{self.node.rsplit('.', 1)[-1]}: {done} of {parts} parts done, {seconds:.0f} s" if parts else None


def is_connect(spark: SparkSession) -> bool:
    """Whether this is a Spark Connect session, which has no Spark context."""
    return "connect" in type(spark).__module__
