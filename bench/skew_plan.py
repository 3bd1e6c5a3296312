"""Skew on a cluster, simulated: half of a log in 78 feeds, as in a real peer's log, on many cores.

    python -m bench.skew_plan --microseconds 8

A step that groups messages by feed sends each feed to one partition by its hash. The tasks of the partitions start
longest first, each on the core that is free first (list scheduling). The cost of a row is measured on one large feed.
"""

import argparse
import heapq
from typing import NamedTuple

import numpy as np

HEAVY_FEEDS, HEAVY_SHARE = 78, 0.5
FEED_LENGTH = 500  # messages of each other feed


class Stage(NamedTuple):
    """A simulated stage: messages of its largest task, seconds of the stage, and its seconds without skew."""

    largest: int
    stage_s: float
    balanced_s: float


def partition_sizes(messages: int, partitions: int, rng: np.random.Generator) -> np.ndarray:
    """Return the messages of each partition.

    Returns:
        int64[partitions]; the feeds together have `messages`, up to one feed's length.
    """
    heavy = int(messages * HEAVY_SHARE) // HEAVY_FEEDS
    light = (messages - heavy * HEAVY_FEEDS) // FEED_LENGTH
    sizes = rng.multinomial(light, np.full(partitions, 1 / partitions)).astype(np.int64) * FEED_LENGTH
    np.add.at(sizes, rng.integers(partitions, size=HEAVY_FEEDS), heavy)
    return sizes


def finish(seconds: np.ndarray, cores: int) -> float:
    """Return the time at which the last task ends; tasks start longest first on the core that is free first."""
    free = [0.0] * cores
    for each in np.sort(seconds)[::-1].tolist():
        heapq.heapreplace(free, free[0] + each)
    return max(free)


def simulate(messages: int, microseconds: float, cores: int, partitions: int, seed: int = 1) -> Stage:
    """Simulate a stage in which each row costs the same."""
    sizes = partition_sizes(messages, partitions, np.random.default_rng(seed))
    seconds = sizes * microseconds / 1e6
    return Stage(int(sizes.max()), finish(seconds, cores), float(seconds.sum()) / cores)


def main(argv: list[str] | None = None) -> None:
    """Print a stage for several sizes of the log."""
    parser = argparse.ArgumentParser(description="Simulate a stage by feed, with half of all messages in 78 feeds.")
    parser.add_argument("--microseconds", type=float, required=True, help="the CPU time of a row")
    parser.add_argument("--cores", type=int, default=1_600)
    parser.add_argument("--partitions", type=int, default=10_000)
    options = parser.parse_args(argv)
    for messages in (10**7, 10**8, 10**9, 10**10):
        stage = simulate(messages, options.microseconds, options.cores, options.partitions)
        print(
            f"{messages:,} messages: largest task {stage.largest:,} messages, stage {stage.stage_s:,.1f} s, "
            f"without skew {stage.balanced_s:,.1f} s"
        )


if __name__ == "__main__":
    main()
