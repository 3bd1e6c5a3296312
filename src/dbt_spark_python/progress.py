"""Names a node's Spark jobs after it, and says every few seconds how far they are."""

import threading
from types import TracebackType

from dbt.adapters.events.logging import AdapterLogger
from pyspark.sql import SparkSession

logger = AdapterLogger("Spark")

INTERVAL = 15.0  # seconds between two lines; a model that is done sooner says nothing


class Progress:
    """Context manager: a job group around a Python model, and a line of progress while it runs.

    On Spark Connect there is no job group; there the session tag of the same name marks the node's operations, and
    no progress is shown.
    """

    def __init__(self, spark: SparkSession, node: str, interval: float = INTERVAL) -> None:
        self.spark, self.node, self.interval = spark, node, interval
        self.context = None if is_connect(spark) else spark.sparkContext
        self._done = threading.Event()
        self._watch = threading.Thread(target=self._report, name=f"progress-{node}", daemon=True)

    def __enter__(self) -> "Progress":
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
                logger.info(line)

    def line(self) -> str | None:
        """Say which tasks of the node's running stages are done, or None where none is running."""
        tracker = self.context.statusTracker()
        stages = []
        for job in tracker.getJobIdsForGroup(self.node):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info and info.status == "RUNNING" else []:
                progress = tracker.getStageInfo(stage)
                if progress and progress.numActiveTasks:
                    stages.append(f"{progress.name.split(' ')[0]} {progress.numCompletedTasks}/{progress.numTasks}")
        return f"{self.node.rsplit('.', 1)[-1]}: tasks done: {', '.join(stages)}" if stages else None


def is_connect(spark: SparkSession) -> bool:
    """Whether this is a Spark Connect session, which has no Spark context."""
    return "connect" in type(spark).__module__
