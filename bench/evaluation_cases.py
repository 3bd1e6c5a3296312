"""One case of the evaluation: make its log, deliver it, and count the commands of its edit scripts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bench import events, exploration, peer
from dbt_tangles.algorithms.timeline import edits

PEER_LIMIT_S = 60.0
MAX_SUCCESSORS = 3  # the next event of the feed, and two that refer to it
STRATEGIES = ("forward", "backward")


@dataclass(frozen=True)
class Case:
    """A log, its delivery, and the batches of its edit scripts.

    Attributes:
        events: The number of events.
        feeds: The number of feeds that append all the time.
        seed: The seed; the same events and feeds under one seed append in the same sequence.
        references: The number of other feeds' tips that an event lists.
        chatty: Every `chatty`-th feed lists that many, the others list one; with 1, all feeds do.
        lurkers: The number of further feeds, which hardly append.
        delivery: `by_feed`, `in_order`, or `late` with the bound.
        bound: How many later events may overtake one that is late.
        max_previous: Events that list more are rejected; with 0 all are accepted.
        batch: The number of arrivals that share a script.
    """

    events: int
    feeds: int
    seed: int = 1
    references: int = 1
    chatty: int = 1
    lurkers: int = 0
    delivery: str = "by_feed"
    bound: int = 0
    max_previous: int = 0
    batch: int = 1


def make_log(case: Case) -> tuple[events.Log, np.ndarray, np.random.Generator]:
    """Make the log of a case and deliver it; return both, and the random generator for the next draws."""
    rng = np.random.default_rng([case.seed, case.events, case.feeds, case.lurkers])
    feeds = case.feeds + case.lurkers
    references = np.where(np.arange(feeds) % case.chatty == 0, case.references, 1)
    log = events.append(case.events, case.feeds, rng, references, case.lurkers)
    if (np.bincount(log.rank) != 2).any():
        raise RuntimeError(f"{case}: a rank does not have two events; check `events.append`")
    if case.delivery == "by_feed":
        arrived = events.deliver_by_feed(log, rng)
    elif case.delivery == "late":
        arrived = events.deliver_late(log, case.bound, rng)
    else:
        arrived = events.deliver_in_order(log)
    return log, arrived, rng


def make_timelines(case: Case) -> tuple[events.Timelines, dict[str, int]]:
    """Make the timeline of a case, and count rejected events and the causes that are missing because of them."""
    log, arrived, rng = make_log(case)
    listed = np.diff(log.start)
    refused = listed > case.max_previous if case.max_previous else np.zeros(len(listed), np.bool_)
    owner = np.repeat(np.arange(len(listed)), listed)
    missing = refused[log.cause] & ~refused[owner]
    facts = {
        "refused": int(refused.sum()),
        "accepted": int((~refused).sum()),
        "missing_causes": int(missing.sum()),
        "with_missing_causes": len(np.unique(owner[missing])),
    }
    return events.named(log, arrived[~refused[arrived]], rng), facts


def count_commands(timelines: events.Timelines, batch: int = 1) -> np.ndarray:
    """Count the commands of each batch; int64[batches]."""
    number = np.arange(len(timelines.arrived)) // batch
    event_start, cause_start, cause, _, arrived = timelines
    commands = edits.edit_stream(event_start, cause_start, cause, arrived, number, np.zeros(1, np.int64))
    return np.bincount(commands.batch, minlength=number[-1] + 1 if len(number) else 0)


def count_case(case: Case) -> dict[str, Any]:
    """Count the commands of a case."""
    timelines, facts = make_timelines(case)
    commands = count_commands(timelines, case.batch)
    at = np.percentile(commands, (50, 95, 99), method="inverted_cdf") if len(commands) else np.zeros(3)
    return {
        "commands": int(commands.sum()),
        "per_event": round(int(commands.sum()) / max(facts["accepted"], 1), 3),
        "p50": int(at[0]),
        "p95": int(at[1]),
        "p99": int(at[2]),
        "max": int(commands.max(initial=0)),
        **facts,
    }


def count_explorations(case: Case) -> dict[str, Any]:
    """Count the ranks that change with an arrival, by both strategies."""
    log, arrived, _ = make_log(case)
    found = {}
    for name in STRATEGIES:
        counts = exploration.ranks_that_change(log.start, log.cause, arrived, name == "backward")
        found |= {name: round(float(counts.mean()), 2), f"{name}_max": int(counts.max())}
    return found


def count_successors(case: Case) -> dict[str, Any]:
    """Count successors, and the events that two replicas with a limit reject: in order, and delivered by feed."""
    log, arrived, _ = make_log(case)
    counts = np.bincount(log.cause, minlength=len(log.feed))
    replicas = [
        exploration.within_limit(log.start, log.cause, order, MAX_SUCCESSORS)
        for order in (events.deliver_in_order(log), arrived)
    ]
    return {
        "p50": int(np.percentile(counts, 50, method="inverted_cdf")),
        "p99": int(np.percentile(counts, 99, method="inverted_cdf")),
        "max": int(counts.max()),
        "above": int((counts > MAX_SUCCESSORS).sum()),
        "refused_in_order": int((~replicas[0]).sum()),
        "refused_by_feed": int((~replicas[1]).sum()),
        "differ": int((replicas[0] != replicas[1]).sum()),
    }


def find_final_order(timelines: events.Timelines) -> np.ndarray:
    """Order one timeline by rank, then name."""
    rank = np.zeros(len(timelines.cause_start) - 1, np.int64)
    while True:  # at most as many rounds as ranks; the peer's sizes are small
        owner = np.repeat(np.arange(len(rank)), np.diff(timelines.cause_start))
        raised = np.zeros_like(rank)
        np.maximum.at(raised, owner, rank[timelines.cause] + 1)
        if (raised == rank).all():
            return np.lexsort((np.arange(len(rank)), rank))
        rank = raised


def run_peer(case: Case) -> dict[str, Any]:
    """Run the peer on a case, up to a limit of CPU seconds."""
    timelines, _ = make_timelines(case)
    found = peer.run(timelines, case.seed, PEER_LIMIT_S)
    if found is None:
        return {"per_event": None, "orders_differ": 0}
    is_other = not np.array_equal(found.order, find_final_order(timelines))
    return {"per_event": round(int(found.commands.sum()) / case.events, 3), "orders_differ": int(is_other)}
