"""ScuttleSort as its author published it: the package `scuttlesort`, driven for comparison."""

import time
from importlib.metadata import version
from typing import NamedTuple

import numpy as np

from bench.events import Timelines, cause_lists, draw_names

PACKAGE = "scuttlesort"


class Run(NamedTuple):
    """The result of a run of the peer."""

    commands: np.ndarray  # int64[arrivals], the number of commands for each
    order: np.ndarray  # int32[events], the final order
    cpu_s: float  # CPU seconds for all arrivals


def known_version() -> str:
    """Return the version of the package."""
    return version(PACKAGE)


def run(timelines: Timelines, seed: int = 0, limit_s: float | None = None) -> Run | None:
    """Order one timeline with the peer, one arrival at a time.

    Returns:
        The result; None if the run exceeded the limit.
    """
    from scuttlesort import Timeline

    names = draw_names(timelines, np.random.default_rng(seed))
    lists = cause_lists(timelines, names)
    text = names.astype(str).tolist()
    told = 0

    def count(*command: object) -> None:
        nonlocal told
        told += 1

    peer = Timeline(count)
    commands = np.empty(len(text), np.int64)
    began = time.process_time()
    for i, event in enumerate(timelines.arrived.tolist()):
        before = told
        peer.add(text[event], lists[event])
        commands[i] = told - before
        if limit_s is not None and i % 64 == 0 and time.process_time() - began > limit_s:
            return None
    spent = time.process_time() - began
    number = {name: event for event, name in enumerate(text)}
    return Run(commands, np.array([number[name] for name in peer], np.int32), spent)
