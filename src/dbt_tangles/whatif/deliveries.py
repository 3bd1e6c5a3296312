"""Models of delivery: when each replica receives the items of a log. The same seed gives the same answer everywhere.

Items are numbered as they were received; every delivery keeps this order within a feed.
"""

from collections import deque
from typing import NamedTuple

import numpy as np

RECEIVED, SHUFFLED, DELAYS, WITHHELD, PARTITION = "received", "shuffled", "delays", "withheld", "partition"


class Items(NamedTuple):
    """The items of a log: events, messages or nodes."""

    feed: np.ndarray  # int32[items]; feeds are numbered without gaps
    authors: list[str | None]  # the author of each feed; an item without an author is a feed of its own
    received_s: np.ndarray | None = None  # float64[items], ascending; None if the log lacks the time of an item
    published_s: np.ndarray | None = None  # float64[items], as the authors state; None likewise


class Model(NamedTuple):
    """A model of delivery and its parameters."""

    delivery: str
    seed: int = 1
    delay_s: float = 3_600.0  # the mean of `DELAYS`
    withheld: str | None = None  # the author of `WITHHELD`
    heals: float = 0.5  # the share of the log that is received before the end of the `PARTITION`


class Delivery(NamedTuple):
    """What a replica receives."""

    arrived: np.ndarray  # int32[items]; the items in order of arrival
    time: np.ndarray  # float64[items]; when each of these arrives, ascending


def deliver(items: Items, model: Model, replica: int) -> Delivery:
    """Deliver the items of a log to a replica, numbered from 0.

    Replicas shuffle and delay independently. Of `WITHHELD`, the first replica receives all items as the log did; of
    `PARTITION`, replicas with even and odd numbers are in different halves.
    """
    time, rng = clock(items, model.delivery)[0], np.random.default_rng([model.seed, replica])
    if model.delivery == SHUFFLED:
        return shuffled(items.feed, rng)
    if model.delivery == DELAYS:
        return delayed(items.feed, time, model.delay_s * rng.standard_exponential(len(time)))
    if model.delivery == WITHHELD and replica > 0:
        return withheld(np.array([author == model.withheld for author in items.authors])[items.feed], time)
    if model.delivery == PARTITION:
        feeds = len(items.authors)
        is_even = np.random.default_rng(model.seed).permutation(feeds) < feeds / 2
        heals_at = time[min(int(model.heals * len(time)), len(time) - 1)]
        return partitioned((is_even == (replica % 2 == 0))[items.feed], time, heals_at)
    return in_time(time)


def clock(items: Items, delivery: str) -> tuple[np.ndarray, bool]:
    """Return the time of each item without a delay, float64[items], and whether it is in seconds.

    Delays count from the time that the author states, because a peer that catches up receives old items at once.
    Without times, one item comes in each unit of time, and delays regard this unit as a second.
    """
    stated = items.published_s if delivery == DELAYS and items.published_s is not None else items.received_s
    if stated is None or delivery == SHUFFLED:
        return np.arange(1.0, len(items.feed) + 1), False
    return stated, True


def in_time(due: np.ndarray) -> Delivery:
    """Deliver each item when it is due; of those due at one time, the first received comes first."""
    arrived = np.argsort(due, kind="stable").astype(np.int32)
    return Delivery(arrived, due[arrived])


def shuffled(feed: np.ndarray, rng: np.random.Generator) -> Delivery:
    """Deliver the next item of a random feed that still has one, each time (ScuttleSort 2022-05-09, section 4)."""
    waiting: list[deque[int]] = [deque() for _ in range(feed.max() + 1)]
    for item, number in enumerate(feed.tolist()):
        waiting[number].append(item)
    waiting, arrived = [each for each in waiting if each], []
    for chance in rng.random(len(feed)).tolist():
        at = int(chance * len(waiting))
        arrived.append(waiting[at].popleft())
        if not waiting[at]:
            waiting[at] = waiting[-1]
            waiting.pop()
    return Delivery(np.array(arrived, np.int32), np.arange(1.0, len(feed) + 1))


def delayed(feed: np.ndarray, time: np.ndarray, delay: np.ndarray) -> Delivery:
    """Deliver each item after a delay, float64[items], and not before the earlier items of its feed."""
    due, latest = (time + delay).tolist(), [-np.inf] * (feed.max() + 1)
    for item, number in enumerate(feed.tolist()):
        due[item] = latest[number] = max(latest[number], due[item])
    return in_time(np.array(due))


def withheld(is_withheld: np.ndarray, time: np.ndarray) -> Delivery:
    """Deliver the items of an author last, together; `is_withheld` is bool[items]."""
    arrived = in_time(np.where(is_withheld, np.inf, time)).arrived
    return Delivery(arrived, np.where(is_withheld, time.max(), time)[arrived])


def partitioned(is_near: np.ndarray, time: np.ndarray, heals_at: float) -> Delivery:
    """Deliver the items of the replica's own half, bool[items], in time, and the others when the partition heals."""
    return in_time(np.where(is_near, time, np.maximum(time, heals_at)))
