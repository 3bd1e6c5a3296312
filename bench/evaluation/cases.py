"""One case of the evaluation: make its log, deliver it, and count the commands of its edit scripts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bench import events, peer, timelines
from bench.evaluation import exploration
from bench.evaluation.fixed_slots import RAISED, keep_two_causes, order_stream
from dbt_tangles.whatif import deliveries

PEER_LIMIT_S = 60.0


@dataclass(frozen=True)
class Case:
    """A log, its delivery, and the batches of its edit scripts."""

    events: int  # The number of events
    feeds: int  # The number of feeds that append all the time
    seed: int = 1  # The seed; the same events and feeds under one seed append in the same sequence
    references: int = 1  # The number of other feeds' tips that an event lists
    chatty: int = 1  # Every `chatty`-th feed lists that many, the others list one; with 1, all feeds do
    lurkers: int = 0  # The number of further feeds, which hardly append
    delivery: str = "by_feed"  # `by_feed`, `in_order`, or `late` with the bound
    bound: int = 0  # How many later events may overtake one that is late
    max_previous: int = 0  # Events that list more are rejected; with 0 all are accepted
    batch: int = 1  # The number of arrivals that share a script


def make_log(case: Case) -> tuple[events.Log, np.ndarray, np.random.Generator]:
    """Make the log of a case and deliver it; return both, and the random generator for the next draws."""
    rng = np.random.default_rng([case.seed, case.events, case.feeds, case.lurkers])
    feeds = case.feeds + case.lurkers
    references = np.where(np.arange(feeds) % case.chatty == 0, case.references, 1)
    log = events.append(case.events, case.feeds, rng, references, case.lurkers)
    if (np.bincount(log.rank) != 2).any():
        raise RuntimeError(f"{case}: a rank does not have two events; check `events.append`")
    place = np.arange(len(log.feed), dtype=np.int32)
    if case.delivery == "by_feed":
        return log, deliveries.shuffled(log.feed, rng).arrived, rng
    if case.delivery == "late":
        delay = np.empty(len(place))
        delay[np.argsort(log.feed, kind="stable")] = rng.random(len(place)) * case.bound
        return log, deliveries.delayed(log.feed, place, delay).arrived, rng
    return log, place, rng


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


def count_commands(made: events.Timelines, batch: int = 1) -> np.ndarray:
    """Count the commands of each batch; int64[batches]."""
    batches = -(-len(made.arrived) // batch)
    return np.bincount(timelines.write_edits(made, batch).batch, minlength=batches)


def count_case(case: Case) -> dict[str, Any]:
    """Count the commands of a case."""
    made, facts = make_timelines(case)
    commands = count_commands(made, case.batch)
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
    """Count the ranks that change with an arrival, if they count from the first events and from the tips."""
    log, arrived, _ = make_log(case)
    cause, _ = keep_two_causes(log.start, log.cause)
    forward = order_stream(cause, arrived).work[:, RAISED] + 1  # the event itself gets a rank
    backward = exploration.ranks_that_change(log.start, log.cause, arrived)
    found = {}
    for name, counts in (("forward", forward), ("backward", backward)):
        found |= {name: round(float(counts.mean()), 2), f"{name}_max": int(counts.max())}
    return found


def run_peer(case: Case) -> dict[str, Any]:
    """Run the peer on a case, up to a limit of CPU seconds."""
    made, _ = make_timelines(case)
    found = peer.run(made, case.seed, PEER_LIMIT_S)
    if found is None:
        return {"per_event": None, "orders_differ": 0}
    is_other = not np.array_equal(found.order, np.argsort(timelines.order_events(made)))
    return {"per_event": round(int(found.commands.sum()) / case.events, 3), "orders_differ": int(is_other)}
