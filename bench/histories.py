"""The work of ScuttleSort on real histories as event logs, beside a log of `events.py`.

`--histories KIND:NAME=PATH …` names them; `history_readers.py` has the kinds. Only figures are kept of a history.
For each order of arrival: the events that the forward wave visits, raises and moves with the kernel of fixed slots,
which keeps two causes of an event; and the commands of the shortest scripts over all causes.
"""

from argparse import Namespace
from pathlib import Path

import numpy as np

from bench import evaluation_cases, events, history
from bench.events import Timelines
from bench.history_readers import READERS
from bench.report import Goal, at_most, say
from bench.turns import seconds_of
from dbt_tangles.algorithms.timeline.fixed_slots import MOVED, RAISED, VISITED, keep_two_causes, order_stream

NAME = "histories"
MADE = (65_536, 16)  # events and feeds of the made log
LATE = 256
FIGURES = {"visited": VISITED, "raised": RAISED, "moved": MOVED}


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Measure; return the figures and the goals.

    Raises:
        ValueError: No history is named, or one of an unknown kind, or a history cannot be read.
    """
    if not options.histories:
        raise ValueError("no history is named; add --histories KIND:NAME=PATH, for example git:curl=path/to/clone")
    results = measure_made_log(options.scale)
    for text in options.histories:
        results += measure_history(text, options.scale)
    most = max(row["commands_per_event"] for row in results if row["arrival"] == "topological")
    return results, [at_most("commands per event where causes arrive first", 1, most)]


def measure_history(text: str, scale: float) -> list[dict]:
    """Measure a history `KIND:NAME=PATH`, or the first part of its events, for each order of arrival."""
    source, _, path = text.partition("=")
    kind, _, name = source.partition(":")
    if kind not in READERS or not name or not path:
        raise ValueError(f"{text} is no history; write KIND:NAME=PATH with one of the kinds {', '.join(READERS)}")
    read = READERS[kind](Path(path))
    read = read[: max(int(len(read) * scale), 1)]
    authors = len({event.author for event in read})
    return [
        measure(f"{kind}: {name}", arrival, history.timelines_of(read, history.arrive(read, arrival)), authors)
        for arrival in history.ARRIVALS
    ]


def measure_made_log(scale: float) -> list[dict]:
    """Measure a log in the shape of the document's evaluation."""
    count = max(int(MADE[0] * scale) // 2 * 2, 64)
    rng = np.random.default_rng(1)
    log = events.append(count, MADE[1], rng)
    deliveries = {
        "topological": events.deliver_in_order(log),
        f"up to {LATE} late": events.deliver_late(log, LATE, rng),
        "random feed": events.deliver_by_feed(log, rng),
        "shuffled": rng.permutation(count),
    }
    name = f"made, {MADE[1]} feeds"
    return [
        measure(name, arrival, events.named(log, arrived, np.random.default_rng(2)), MADE[1])
        for arrival, arrived in deliveries.items()
    ]


def measure(name: str, arrival: str, timelines: Timelines, authors: int) -> dict:
    """Measure one order of arrival."""
    cause, left_out = keep_two_causes(timelines.cause_start, timelines.cause)
    order_stream(cause[:0], timelines.arrived[:0])  # Compiles the kernel.
    found = []
    spent = seconds_of(lambda: found.append(order_stream(cause, timelines.arrived)))
    work = found[0].work
    commands = evaluation_cases.count_commands(timelines)
    forks, merges, wide, tips = history.count_shape(timelines.cause_start, timelines.cause)
    shape = {"forks": forks, "merges": merges, "wide": wide, "tips": tips, "left_out": left_out}
    row = {
        "history": name,
        "arrival": arrival,
        "events": len(work),
        "authors": authors,
        **{what: int(count) for what, count in shape.items()},
        "depth": int(found[0].rank.max()) + 1,
        **{what: round(float(work[:, column].mean()), 2) for what, column in FIGURES.items()},
        **{f"{what}_max": int(work[:, column].max()) for what, column in FIGURES.items()},
        "commands_per_event": round(float(commands.mean()), 3),
        "commands_p99": int(np.percentile(commands, 99, method="inverted_cdf")),
        "commands_max": int(commands.max()),
        "cpu_s": round(spent, 2),
    }
    say(f"histories: {row}")
    return row
