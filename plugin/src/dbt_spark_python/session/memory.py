"""How much memory there is, and what to say where it was short: Spark says it in many lines, and no remedy."""

import os
import re
from pathlib import Path

_LESS = "or let fewer tasks share it (spark.executor.cores)"
_ENDED = "as happens where a system or a cluster ends what takes more memory than there is"

# What an error says that is about memory, and what is said then; the first that fits counts.
_SHORT = [
    (
        re.compile(r"(Failed to allocate additional .*? memory pool: \w+\(.*\))"),
        "Sail ran out of the memory that it may take ({}): let it have more (in the profile "
        "`sail.runtime.memory_pool.greedy.max_size`, in bytes), or run one model at a time (--threads 1)",
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
        # With executors, what they had written for others is lost: Spark may be tired of that first.
        re.compile(
            r"(?:ExecutorLostFailure \(executor \S+ exited .*?\) Reason:|failed the maximum allowable number of times.*"
            r"FetchFailedException:) (.*?)(?: SQLSTATE.*)?$",
            re.M,
        ),
        f"executors were lost again and again ({{}}), {_ENDED}: give them more (spark.executor.memoryOverhead for "
        f"Python, spark.executor.memory for Spark), {_LESS}",
    ),
    (
        re.compile(r"(Python worker exited unexpectedly \(crashed\))"),
        f"Python was ended on a worker again and again ({{}}), {_ENDED}: give it more (spark.executor.memoryOverhead "
        f"on YARN and Kubernetes), {_LESS}",
    ),
]


#: Where Linux says what a container may take: "max", or bytes.
_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def machine_memory() -> int:
    """The memory of this machine, or of the container that this process is in, in bytes."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(machine, int(_CONTAINER.read_text()))
    except (OSError, ValueError):
        return machine


def short_memory(message: str) -> str | None:
    """Say that memory was short, and the remedy; None if that is not what an error's message is about."""
    for pattern, said in _SHORT:
        if found := pattern.search(message):
            return said.format(found[1].strip().removesuffix("."))
    return None
