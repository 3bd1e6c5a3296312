"""What fails while a build runs on a cluster, and how that is brought about.

Strikes in Python functions fall on the worker that runs them: `inject/sitecustomize.py`, which workers import as they
start. A strike between SQL statements is this process's, when dbt's output says that it is time.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.cluster.build import Build
from bench.cluster.servers import Cluster

INJECT = Path(__file__).parent / "inject"

#: What a line of dbt's says when SQL rounds are in the middle.
ROUND = "int_tangle_depths: depth 1:"


@dataclass(frozen=True)
class Strike:
    """A function of a worker, and what is to happen in the middle of it; the names are those of the injected file."""

    module: str
    function: str
    what: str

    def mark(self, folder: Path) -> Path:
        """The file that is there once it has fallen."""
        return folder / f"{self.what}-{self.function}"


#: A Python model of each kind: lines are checked, a graph is walked, what that leaves is explained, timelines go on.
LINES = ("dbt_tangles.ssb.check", "check_batches")
LEVELS = ("dbt_tangles.graph.partition", "levels_of_partition")
CAUSES = ("dbt_tangles.graph.partition", "causes_of_partition")
ORDER = ("dbt_tangles.timelines.partition", "order_of_partition")


def settings(cluster: Cluster, folder: Path, strikes: Sequence[Strike]) -> dict[str, str]:
    """What spark-defaults.conf has to say so that strikes fall, and what Spark does about them is kept."""
    events = folder / "events"
    events.mkdir(parents=True, exist_ok=True)
    listed = [asdict(strike) | {"mark": str(strike.mark(folder))} for strike in strikes]
    return {
        "spark.executorEnv.PYTHONPATH": str(INJECT),
        "spark.executorEnv.TANGLES_SCRATCH": str(cluster.scratch),
        "spark.executorEnv.TANGLES_STRIKES": json.dumps(listed, separators=(",", ":")),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": events.as_uri(),
    }


def tend(cluster: Cluster, build: Build, kill_in_rounds: bool = False) -> int:
    """Put a worker in the place of each that dies, until a build ends; how many died.

    Args:
        cluster: The cluster.
        build: The build.
        kill_in_rounds: Whether a worker is to be killed between two SQL rounds.
    """
    died = 0
    while build.is_running:
        if kill_in_rounds and ROUND in build.said():
            cluster.kill_worker()
            kill_in_rounds = False
        died += cluster.replace_dead()
        time.sleep(0.1)
    return died


def task_ends(folder: Path) -> Counter[str]:
    """How tasks ended that did not end well, and how many were copies of slow ones, by Spark's log of events."""
    counted: Counter[str] = Counter()
    for path in (folder / "events").iterdir():
        for line in path.open():
            event = json.loads(line) if '"SparkListenerTaskEnd"' in line else None
            if event:
                reason = event["Task End Reason"]["Reason"]
                counted.update([reason] * (reason != "Success"))
                counted.update(["Speculative"] * event["Task Info"]["Speculative"])
    return counted
