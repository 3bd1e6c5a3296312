"""The order of timelines and their edit scripts: CPU seconds of the kernels, next to the peer's.

Measured in turns, without an engine:

order   the converged order alone, of events whose names are already numbers.
edits   the shortest scripts, arrival by arrival or in batches, of the logs of `events.py`; at a size that the package
        `scuttlesort` can finish, beside that package, on the same arrivals.
shapes  the same for inputs that are hard for algorithms which maintain an order.
online  events added one by one to `dbt_tangles.timeline.Timeline`, in memory and in an SQLite file.
"""

import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from bench import events, peer
from bench.events import Timelines
from bench.report import Part, at_least, at_most, run_parts, say
from bench.turns import in_turns, power, seconds_of
from dbt_tangles.algorithms.graph.orders import positions
from dbt_tangles.algorithms.timeline import edits
from dbt_tangles.timeline import Timeline
from dbt_tangles.whatif.deliveries import shuffled
from dbt_tangles.whatif.timelines import rank_events

NAME = "timelines"
K = 1024
ORDER_GOAL_S = 1.0
PEER_GOAL = 100.0  # times the kernel's CPU seconds
PEER_CASES = ((16 * K, 16), (16 * K, 64))
GROWTH_SIZES = tuple(K * 2**n for n in range(5, 10))
GROWTH_FEEDS = 16
#: Arrivals in a batch, and the aim for the power of the size with which the CPU seconds grow.
GROWTH_AIMS = {1: 1.5, 10: 1.5, 1_000: 1.1}
WIDE = (128 * K, 64)
SMALL_TIMELINES = 100_000
ONLINE_EVENTS = 100_000
ONLINE_GOAL_US = 1_000.0  # the median of an event that arrives after its causes
ONLINE_PEER_GOAL = 20.0
ONLINE_PEER_EVENTS = 32 * K  # the least of the document's evaluation


def run(options: Namespace) -> Part:
    """Measure; return the figures and the goals."""
    warm_up()
    return run_parts(options, order_alone, beside_the_peer, growth, hard_shapes, online)


def warm_up() -> None:
    """Compile the kernels."""
    timelines = make_log(64, 4)
    order_events(timelines)
    for batch in (1, 10):
        count_edits(timelines, batch)
    add_all(make_log(2 * K, 4), Timeline())


def even(count: float) -> int:
    """Round a number of events down to an even one that is not too small."""
    return max(int(count) // 2 * 2, 64)


def make_log(count: int, feeds: int, seed: int = 1) -> Timelines:
    """Make a log as in the document's evaluation, delivered by random feeds."""
    rng = np.random.default_rng([seed, count, feeds])
    made = events.append(count, feeds, rng)
    return events.named(made, shuffled(made.feed, rng).arrived, rng)


def order_events(timelines: Timelines) -> np.ndarray:
    """Return the position of each event, as the project computes it."""
    return positions(timelines.event_start, rank_events(*timelines[:3]))


def write_edits(timelines: Timelines, batch: int = 1) -> edits.Commands:
    """Write the scripts of one timeline."""
    event_start, cause_start, cause, _, arrived = timelines
    ranked = edits.Timelines(event_start, cause_start, cause, rank_events(event_start, cause_start, cause))
    return edits.edit_stream(ranked, arrived, np.arange(len(arrived)) // batch)


def count_edits(timelines: Timelines, batch: int = 1) -> int:
    """Count the commands of the scripts of one timeline."""
    return len(write_edits(timelines, batch).event)


def order_alone(scale: float, repeats: int) -> Part:
    """Measure the converged order of one timeline."""
    timelines = make_log(even(512 * K * scale), 64)
    runs = [seconds_of(lambda: order_events(timelines)) for _ in range(repeats)]
    count, spent = len(timelines.arrived), round(median(runs), 3)
    say(f"timelines: order of {count:,} events: {spent} CPU seconds")
    goal = at_most(f"order of {count:,} events in one timeline, CPU seconds", ORDER_GOAL_S, spent, scale == 1)
    return [{"part": "order", "events": count, "feeds": 64, "cpu_s": spent, "cpu_s_of_runs": runs}], [goal]


def beside_the_peer(scale: float, repeats: int) -> Part:
    """Measure scripts arrival by arrival in turns with the peer."""
    results, goals = [], []
    for full, feeds in PEER_CASES:
        timelines = make_log(even(full * scale), feeds)
        result = {"part": "peer", "peer": f"{peer.PACKAGE} {peer.known_version()}", "feeds": feeds}
        result |= {"events": len(timelines.arrived), **compare_with_peer(timelines, repeats)}
        results.append(result)
        what = f"{feeds} feeds, {result['events']:,} events one by one: the peer's CPU seconds / ours"
        goals.append(at_least(what, PEER_GOAL, result["ratio"], scale == 1))
    return results, goals


def compare_with_peer(timelines: Timelines, repeats: int) -> dict[str, Any]:
    """Measure a timeline in turns with the peer."""
    found: list[peer.Run] = []

    def theirs() -> None:
        found.append(peer.run(timelines))

    ours_s, _ = in_turns(repeats, lambda: count_edits(timelines), theirs)
    if not np.array_equal(np.argsort(order_events(timelines)), found[0].order):
        raise RuntimeError(f"{len(timelines.arrived):,} events: the peer ends in another order than the kernel")
    peer_s = median(each.cpu_s for each in found)  # without making the names
    count = len(timelines.arrived)
    told = {
        "cpu_s": round(ours_s, 4),
        "peer_cpu_s": round(peer_s, 3),
        "ratio": round(peer_s / ours_s, 1),
        "per_event": round(count_edits(timelines) / count, 3),
        "peer_per_event": round(int(found[0].commands.sum()) / count, 3),
    }
    say(f"timelines: {count:,} events next to the peer: {told}")
    return told


def growth(scale: float, repeats: int) -> Part:
    """Measure how the time for all scripts grows with the number of events."""
    results, goals = [], []
    sizes = [even(full * scale) for full in GROWTH_SIZES]
    logs = [make_log(size, GROWTH_FEEDS) for size in sizes]
    wide = make_log(even(WIDE[0] * scale), WIDE[1])
    for batch, aim in GROWTH_AIMS.items():
        works = [lambda made=made, batch=batch: count_edits(made, batch) for made in (*logs, wide)]
        *seconds, wide_s = in_turns(repeats, *works)
        found = power(sizes, seconds)
        rows = [
            *zip(sizes, [GROWTH_FEEDS] * len(sizes), seconds, strict=True),
            (even(WIDE[0] * scale), WIDE[1], wide_s),
        ]
        for size, feeds, spent in rows:
            say(f"timelines: {size:,} events, {feeds} feeds, batches of {batch:,}: {spent:.3f} CPU seconds")
            row = {"part": "growth", "batch": batch, "events": size, "feeds": feeds, "cpu_s": round(spent, 4)}
            results.append({**row, "events_per_cpu_s": round(size / max(spent, 1e-6))})
        results.append({"part": "growth", "batch": batch, "feeds": GROWTH_FEEDS, "power": found})
        what = f"batches of {batch:,}: power of the size with which CPU seconds grow, aim"
        goals.append(at_most(what, aim, found, scale == 1))
    return results, goals


# Inputs that are hard for algorithms which maintain an order. Lists hold places in the order of appending.


def _of_lists(lists: list[np.ndarray] | tuple[np.ndarray, np.ndarray], arrived: np.ndarray) -> Timelines:
    """Name events at random; `lists` has the causes of each event, or their starts and the causes."""
    if isinstance(lists, list):
        start = np.concatenate([[0], np.cumsum([len(each) for each in lists])])
        lists = start, np.concatenate(lists)
    start, cause = lists
    unused = np.zeros(len(start) - 1, np.int32)
    made = events.Log(unused, start.astype(np.int64), cause.astype(np.int32), unused)
    return events.named(made, arrived.astype(np.int32), np.random.default_rng(1))


def lifted(count: int) -> Timelines:
    """Two chains; the second's events also list its root, and the link that lifts it above the first comes last."""
    place, link = np.arange(count), count // 2
    lists = [place[max(each - 1, 0) : each] for each in range(link + 3)]
    lists += [np.array([each - 1, link + 1]) for each in range(link + 3, count)]
    return _of_lists(lists, np.append(np.delete(place, link), link))


def dense(count: int) -> Timelines:
    """Each event lists all earlier ones; delivered at random."""
    place = np.arange(count)
    return _of_lists([place[:each] for each in range(count)], np.random.default_rng(2).permutation(count))


def newest_first(count: int) -> Timelines:
    """A chain, delivered from its end."""
    place = np.arange(count)
    return _of_lists((np.maximum(np.arange(count + 1) - 1, 0), place[:-1]), place[::-1])


def ascending_roots(count: int) -> Timelines:
    """Events without causes, delivered in the order of their names."""
    made = _of_lists((np.zeros(count + 1, np.int64), np.empty(0, np.int32)), np.arange(count))
    return made._replace(arrived=np.sort(made.arrived))


def pending(count: int) -> Timelines:
    """All events list one event, which comes last."""
    place = np.arange(count)
    return _of_lists((np.maximum(np.arange(count + 1) - 1, 0), np.zeros(count - 1)), np.roll(place, -1))


#: By shape: the number of events that the peer can process in seconds, and the number for this project.
HARD_SHAPES: dict[str, tuple[Callable[[int], Timelines], int, int]] = {
    "lifted": (lifted, 1_000, 100_000),
    "dense": (dense, 300, 2_000),
    "newest_first": (newest_first, 1_000, 100_000),
    "ascending_roots": (ascending_roots, 4_000, 512 * K),
    "pending": (pending, 4_000, 100_000),
}


def hard_shapes(scale: float, repeats: int) -> Part:
    """Measure hard shapes: small ones in turns with the peer, full ones alone."""
    results, goals = [], []
    for name, (make, small, full) in HARD_SHAPES.items():
        timelines = make(even(small * scale))
        result = {
            "part": "shapes",
            "shape": name,
            "events": len(timelines.arrived),
            **compare_with_peer(timelines, repeats),
        }
        alone = make(even(full * scale))
        count = len(alone.arrived)
        spent, batched = in_turns(1, lambda made=alone: count_edits(made), lambda made=alone: count_edits(made, 1_000))
        say(f"timelines {name}: {count:,} events: {spent:.3f} CPU seconds one by one, {batched:.3f} by thousands")
        result |= {"full_events": count, "full_cpu_s": round(spent, 3), "full_cpu_s_by_thousands": round(batched, 3)}
        results.append(result)
        goals.append(at_least(f"{name}: the peer's CPU seconds / ours", 1, result["ratio"], scale == 1))
    return results, goals


def add_all(timelines: Timelines, timeline: Timeline) -> tuple[float, float]:
    """Add the events of a log one by one; return the CPU seconds of all, and the median microseconds of one."""
    names = events.draw_names(timelines, np.random.default_rng(0))
    lists, text = events.cause_lists(timelines, names), names.astype(str).tolist()
    spent = []
    began = time.process_time()
    for event in timelines.arrived.tolist():
        before = time.perf_counter()
        timeline.add(text[event], lists[event])
        spent.append(time.perf_counter() - before)
    return time.process_time() - began, round(median(spent) * 1e6, 1)


def online(scale: float, repeats: int) -> Part:
    """Measure events one by one: in order of appending in both stores, and by random feeds beside the peer."""
    count = even(ONLINE_EVENTS * scale)
    made = events.append(count, GROWTH_FEEDS, np.random.default_rng(1))
    in_order = events.named(made, np.arange(count, dtype=np.int32), np.random.default_rng(2))
    results, goals = [], []
    with TemporaryDirectory() as folder, Timeline.open(Path(folder) / "log.db") as file:
        for store, timeline in (("memory", Timeline()), ("SQLite", file)):
            spent, median_us = add_all(in_order, timeline)
            say(f"timelines online: {count:,} events in order, {store}: median {median_us} µs, {spent:.2f} CPU seconds")
            row = {"part": "online", "store": store, "delivery": "in order", "events": count}
            results.append({**row, "median_us": median_us, "cpu_s": round(spent, 3)})
            what = f"{count:,} events added in order, {store}: median µs of one"
            goals.append(at_most(what, ONLINE_GOAL_US, median_us, scale == 1))
    by_feeds = make_log(even(ONLINE_PEER_EVENTS * scale), GROWTH_FEEDS)
    rounds = [(add_all(by_feeds, Timeline()), peer.run(by_feeds).cpu_s) for _ in range(repeats)]
    ours_s, peer_s = median(ours for (ours, _), _ in rounds), median(theirs for _, theirs in rounds)
    row = {"part": "online", "store": "memory", "delivery": "by random feeds", "events": len(by_feeds.arrived)}
    row |= {"median_us": median(each for (_, each), _ in rounds), "cpu_s": round(ours_s, 3)}
    results.append({**row, "peer_cpu_s": round(peer_s, 3), "ratio": round(peer_s / ours_s, 1)})
    say(f"timelines online: {results[-1]}")
    what = f"{row['events']:,} events added by random feeds, memory: the peer's CPU seconds / ours"
    goals.append(at_least(what, ONLINE_PEER_GOAL, results[-1]["ratio"], scale == 1))
    return results, goals


def arrivals(name: str, scale: float) -> pa.Table:
    """Make the rows of `int_timeline_arrivals`: `one` timeline, or `many` small ones."""
    rng = np.random.default_rng(3)
    if name == "one":
        return events.arrivals_table(make_log(even(512 * K * scale), GROWTH_FEEDS), rng)
    return events.arrivals_table(events.small_timelines(max(int(SMALL_TIMELINES * scale), 1), rng), rng)
