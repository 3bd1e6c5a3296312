"""Sum up the bytes, shuffles and tasks of a build from the event log that Spark writes.

Only the sums matter here: a build has as many jobs as statements, one after another.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

#: Settings with which Spark writes its events into one uncompressed file.
SETTINGS = {
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
}
MIB = 2**20
#: The metrics of a task that hold bytes. Bytes read are left out, because Spark counts only a part on a local disk.
BYTES = {
    "shuffled_mib": ("Shuffle Write Metrics", "Shuffle Bytes Written"),
    "written_mib": ("Output Metrics", "Bytes Written"),
    "spilled_mib": ("Disk Bytes Spilled",),
}
#: The accumulators that query plans count.
COUNTED = {"to_python_mib": "data sent to Python workers", "from_python_mib": "data returned from Python workers"}


def configure(folder: Path) -> dict[str, str]:
    """Make Spark write its events below a folder; return the environment variables to start it with."""
    (folder / "events").mkdir(parents=True, exist_ok=True)
    settings = {**SETTINGS, "spark.eventLog.dir": (folder / "events").resolve().as_uri()}
    lines = [f"{name} {value}\n" for name, value in settings.items()]
    (folder / "spark-defaults.conf").write_text("".join(lines))
    return {"SPARK_CONF_DIR": str(folder.resolve())}


def sum_up(folder: Path) -> dict[str, Any]:
    """Sum up the events that Spark wrote below a folder.

    Raises:
        RuntimeError: The folder has no event file.
    """
    files = sorted((folder / "events").glob("*"))
    if not files:
        raise RuntimeError(
            f"Spark wrote no events into {folder / 'events'}: run the build on Spark with its SPARK_CONF_DIR"
        )
    sums: Counter[str] = Counter()
    shuffles, longest, most = set(), 0.0, 0
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                if not line.endswith("\n"):  # the JVM ended while writing this line
                    break
                event = json.loads(line)
                kind = event["Event"]
                sums["jobs"] += kind == "SparkListenerJobStart"
                sums["stages"] += kind == "SparkListenerStageCompleted"
                if kind != "SparkListenerTaskEnd":
                    continue
                sums["tasks"] += 1
                metrics = event.get("Task Metrics") or {}
                sums["cpu"] += _number(metrics, "Executor CPU Time")
                found = {name: _number(metrics, *place) for name, place in BYTES.items()}
                sums.update(found)
                longest = max(longest, _number(metrics, "Executor Run Time") / 1_000)
                most = max(most, found["shuffled_mib"])
                if found["shuffled_mib"]:
                    shuffles.add((file, event["Stage ID"]))
                for each in event["Task Info"].get("Accumulables", ()):
                    for name, title in COUNTED.items():
                        if each.get("Name") == title:
                            sums[name] += int(each.get("Update") or 0)
    sizes = {name: round(sums[name] / MIB, 1) for name in (*BYTES, *COUNTED)}
    return {
        **{name: sums[name] for name in ("jobs", "stages", "tasks")},
        "shuffles": len(shuffles),
        "tasks_cpu_s": round(sums["cpu"] / 1e9, 1),
        **sizes,
        "longest_task_s": round(longest, 1),
        "most_of_a_task_shuffled_mib": round(most / MIB, 1),
    }


def _number(row: Any, *keys: str) -> int:
    for key in keys:
        row = (row or {}).get(key)
    return row or 0
