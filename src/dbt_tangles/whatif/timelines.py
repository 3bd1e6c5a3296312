"""Replays timelines: the edit scripts of a replica, and its order at some moments."""

import numpy as np

from dbt_tangles.algorithms.graph.orders import positions
from dbt_tangles.algorithms.graph.topological_generations import children, generations
from dbt_tangles.algorithms.timeline.edits import Timelines, edit_stream
from dbt_tangles.columns.arrays import keep_entries, runs
from dbt_tangles.whatif.measures import Replay

#: The most commands of a replica; each takes 20 bytes.
COMMAND_LIMIT = 2**26


def rank_events(start: np.ndarray, cause_start: np.ndarray, cause: np.ndarray) -> np.ndarray:
    """Compute the rank of each event, int32[events]; the arrays are those of `edits.Timelines`."""
    return generations(start, cause_start, children(cause_start, cause))


def keep_events(cause_start: np.ndarray, cause: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct events `kept`, int[kept], anew in their order, and leave out all other causes.

    Returns:
        int64[kept + 1] and int32[...], the causes of the kept events.
    """
    number = np.full(len(cause_start) - 1, np.int32(-1))
    number[kept] = np.arange(len(kept))
    start, item = runs(cause_start, kept)
    named = number[cause[item]]
    return keep_entries(start, named, named >= 0)


def order_of(timelines: Timelines, present: np.ndarray) -> np.ndarray:
    """Order the events that are present, bool[events], by timeline, rank over these events, and number: int32[...]."""
    kept = np.flatnonzero(present).astype(np.int32)
    start = np.searchsorted(kept, timelines.start)
    rank = rank_events(start, *keep_events(timelines.cause_start, timelines.cause, kept))
    order = np.empty_like(kept)
    order[np.repeat(start[:-1], np.diff(start)) + positions(start, rank)] = kept
    return order


def replay(timelines: Timelines, arrived: np.ndarray, counts: np.ndarray, batch: int) -> Replay:
    """Follow a replica to which events, numbered by timeline and tie-break, come in the order `arrived`, int32[events].

    `counts`, int64[moments], has the numbers of arrivals after which the order is wanted; `batch` arrivals share a
    script.

    Raises:
        ValueError: The scripts take too many commands or steps.
    """
    events = len(arrived)
    timeline = np.repeat(np.arange(len(timelines.start) - 1), np.diff(timelines.start))
    place = np.argsort(timeline[arrived], kind="stable")
    commands = edit_stream(timelines, arrived[place], place // batch, COMMAND_LIMIT)
    is_insertion = commands.taken < 0
    inserted = commands.event[is_insertion]
    if len(inserted) < events:
        raise ValueError("the scripts take too many commands; raise --batch, or replay a part of the log")
    length = np.arange(events) - timelines.start[timeline[inserted]]
    step_end = np.append(np.arange(batch, events, batch), events)
    last, orders = np.zeros(events, np.int64), []
    np.maximum.at(last, commands.event, step_end[commands.batch])
    for count in counts:
        present = np.zeros(events, np.bool_)
        present[arrived[: step_end[step_end <= count].max(initial=0)]] = True
        orders.append(order_of(timelines, present))
    moved = np.unique(commands.event[~is_insertion])
    facts = {"inserted_inside": int((commands.put[is_insertion] < length).sum()), "moved": len(moved)}
    return Replay(step_end, np.bincount(commands.batch), last[arrived], orders, facts)
