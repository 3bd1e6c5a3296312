"""Measures the memory, and explains errors of short memory in one line with a remedy."""

import os
import re
from pathlib import Path

_LESS = "or let fewer tasks share it (spark.executor.cores)"
_ENDED = "as happens when a system or a cluster kills processes that exceed the memory"

# Patterns of memory errors and their explanations; the first match counts.
_SHORT = [
    (
        re.compile(r"(Failed to allocate additional .*? memory pool: \w+\(.*\))"),
        "Sail reached its memory limit ({}): raise it (`sail.runtime.memory_pool.greedy.max_size` in the profile, "
        "in bytes), or run one model at a time (--threads 1)",
    ),
    (
        re.compile(r"^\s*((?:\w+\.)*_?\w*MemoryError\b.*)$", re.M),
        "Python ran out of memory on a worker ({}): give it more (spark.executor.pyspark.memory, where that is set; "
        f"spark.executor.memoryOverhead on YARN and Kubernetes), {_LESS}",
    ),
    (
        re.compile(r"(java\.lang\.OutOfMemoryError\b.*)"),
        "Spark ran out of memory ({}): give it more (spark.executor.memory; spark.driver.memory, where the driver runs "
        f"the tasks), {_LESS}",
    ),
    (
        # A lost executor's shuffle files are lost too, so Spark may report the failed fetches first, and Spark 4.1 in a
        # line of their own.
        re.compile(
            r"(?:ExecutorLostFailure \(executor \S+ exited .*?\) Reason:|failed the maximum allowable number of times.*"
            r"\n?.*FetchFailedException:) (.*?)(?: SQLSTATE.*)?$",
            re.M,
        ),
        f"executors were lost repeatedly ({{}}), {_ENDED}: give them more (spark.executor.memoryOverhead for "
        f"Python, spark.executor.memory for Spark), {_LESS}",
    ),
    (
        re.compile(r"(Python worker exited unexpectedly \(crashed\))"),
        f"Python was killed on a worker repeatedly ({{}}), {_ENDED}: give it more (spark.executor.memoryOverhead "
        f"on YARN and Kubernetes), {_LESS}",
    ),
]


#: The file in which Linux states a container's memory limit: "max", or bytes.
_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def machine_memory() -> int:
    """Return the memory of this machine, or the limit of this container, in bytes."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(machine, int(_CONTAINER.read_text()))
    except (OSError, ValueError):
        return machine


def short_memory(message: str) -> str | None:
    """Explain an error message about short memory, with a remedy."""
    for pattern, said in _SHORT:
        if found := pattern.search(message):
            return said.format(found[1].strip().removesuffix("."))
    return None
