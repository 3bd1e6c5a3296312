"""Measure pieces of work in turns (A B A B …), so that all of them see the same state of the machine."""

import time
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

import numpy as np

from bench import limit as limits
from bench.cpu import Watch
from bench.limit import Limit
from bench.report import say, summary


def seconds_of(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of this process for a piece of work."""
    before = time.process_time()
    work()
    return time.process_time() - before


def in_turns(repeats: int, *works: Callable[[], Any]) -> list[float]:
    """Run pieces of work one after another in each round; return the median CPU seconds of each."""
    rounds = [[seconds_of(work) for work in works] for _ in range(repeats)]
    return [median(runs) for runs in zip(*rounds, strict=True)]


def power(sizes: Iterable[int], seconds: Iterable[float]) -> float:
    """Fit the power of the size with which the seconds grow."""
    return round(float(np.polyfit(np.log(list(sizes)), np.log(np.maximum(list(seconds), 1e-6)), 1)[0]), 2)


def ratio(ours: float, limit: float) -> float:
    """Return a ratio of CPU seconds; a divisor below the resolution counts as the resolution."""
    return round(ours / max(limit, 0.01), 2)


def beside_limit(watch: Watch, repeats: int, who: str, what: str, work: Callable[[], None], limit: Limit) -> dict:
    """Measure work of an engine and its LIMIT in turns.

    Args:
        watch: Counts CPU seconds.
        repeats: The number of rounds.
        who: The beginning of the lines of progress.
        what: The name of the work.
        work: The project's work.
        limit: The LIMIT of that work.

    Returns:
        The figures of both, and the ratios of their CPU seconds.
    """
    ours_of_runs, limit_of_runs = [], []
    for number in range(1, repeats + 1):
        with watch.measure() as spent:
            work()
        ours_of_runs.append(spent)
        limit_of_runs.append(limit.measure(watch))
        told = f"{what} {spent.total:.1f}, limit {limit_of_runs[-1].spent.total:.1f}"
        say(f"{who}: round {number} of {repeats}: CPU seconds: {told}")
    ours, theirs = summary(ours_of_runs), limits.summary(limit_of_runs)
    return {
        "ratio": ratio(ours["cpu_s"], theirs["cpu_s"]),
        "ratio_of_least": ratio(min(ours["cpu_s_of_runs"]), min(theirs["cpu_s_of_runs"])),
        what: ours,
        "limit": theirs,
    }
