"""Sums up replays: the changes of views, the time until items settle, and the disagreement of replicas meanwhile."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from dbt_tangles.whatif.deliveries import Delivery

#: The number of moments at which the views of replicas are compared.
MOMENTS = 20


class Replay(NamedTuple):
    """The replay of a delivery by a replica. Arrivals are counted from 1."""

    step_end: np.ndarray  # int64[steps]; the arrivals up to each update of the view
    changes: np.ndarray  # int64[steps]; the commands of the update, or the nodes that it undoes
    settled: np.ndarray  # int64[items]; for the item of each arrival, the arrival since which it stays; 0 for never
    orders: list[np.ndarray]  # int[...]; the items of the view at each moment, in order
    facts: dict[str, int]  # more numbers


def moments(deliveries: list[Delivery]) -> np.ndarray:
    """Choose the moments: int64[replicas, MOMENTS], the number of arrivals by then, which grows to all."""
    times = np.sort(np.concatenate([each.time for each in deliveries]))
    chosen = times[-(-np.arange(1, MOMENTS + 1) * len(times) // MOMENTS) - 1]
    return np.stack([np.searchsorted(each.time, chosen, side="right") for each in deliveries])


def disagreement(order: np.ndarray, other: np.ndarray) -> float:
    """Compute the share of neighbours that the other order has the other way round, among the items of both."""
    place = np.full(max(order.max(initial=-1), other.max(initial=-1)) + 1, -1)
    place[other] = np.arange(len(other))
    found = place[order]
    turns = np.diff(found[found >= 0]) < 0
    return float(turns.mean()) if len(turns) else 0.0


def percentiles(values: np.ndarray) -> dict[str, Any] | None:
    """Compute median, 95th percentile and maximum; None without values."""
    if not len(values):
        return None
    at = np.percentile(values, (50, 95, 100), method="inverted_cdf").tolist()
    return dict(zip(("median", "p95", "max"), at, strict=True))


def sum_up(delivery: Delivery, replay: Replay, is_seconds: bool) -> dict[str, Any]:
    """Sum up the replay of a replica; waiting times count from the arrival of an item."""
    place = np.flatnonzero(replay.settled)
    last = replay.settled[place] - 1
    total = int(replay.changes.sum())
    return {
        "changes": total,
        "changes_per_item": round(total / max(len(replay.settled), 1), 3),
        "changes_of_updates": percentiles(replay.changes),
        **replay.facts,
        "unsettled": len(replay.settled) - len(place),
        "settled_after": percentiles(last - place),
        "settled_after_s": percentiles((delivery.time[last] - delivery.time[place]).round(3)) if is_seconds else None,
    }


def compare(counts: np.ndarray, replays: list[Replay]) -> list[dict[str, Any]]:
    """Compare the replicas at each moment; counts are those of `moments`.

    Returns:
        By moment and replica: `received`; `changes_per_item` since the moment before; `settled`, the share of the
        received items. By moment: `disagreement`, the mean over pairs of replicas; None for one replica.
    """
    rows, before = [], np.zeros_like(counts[:, 0])
    for at, received in enumerate(counts.T):
        changes, settled = [], []
        for replay, begin, end in zip(replays, before, received, strict=True):
            inside = (replay.step_end > begin) & (replay.step_end <= end)
            changes.append(round(float(replay.changes[inside].sum() / max(end - begin, 1)), 3))
            stays = replay.settled[:end]
            settled.append(round(float(((stays > 0) & (stays <= end)).sum() / max(end, 1)), 4))
        found = [disagreement(one.orders[at], other.orders[at]) for one, other in combinations(replays, 2)]
        mean = round(float(np.mean(found)), 6) if found else None
        row = {"received": received.tolist(), "changes_per_item": changes, "settled": settled, "disagreement": mean}
        rows.append(row)
        before = received
    return rows
