"""Measure pieces of work in turns (A B A B …), so that all of them see the same state of the machine."""

import time
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

import numpy as np


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
