"""Deliveries: each by a worked example, and what all of them promise."""

from types import SimpleNamespace

import numpy as np
import pytest

from dbt_tangles.whatif.deliveries import (
    DELAYS,
    PARTITION,
    RECEIVED,
    SHUFFLED,
    WITHHELD,
    Items,
    Model,
    clock,
    delayed,
    deliver,
    in_time,
    partitioned,
    shuffled,
    withheld,
)

FEED = np.array([0, 1, 0, 2, 1, 0], np.int32)
TIME = np.arange(1.0, 7)


def test_each_round_takes_a_feed_that_still_has_an_item():
    """The feeds are (0 2 5), (1 4) and (3); the third is empty after the first round, then the second one."""
    chances = np.array([0.9, 0.5, 0.5, 0.9, 0.0, 0.0])
    found = shuffled(FEED, SimpleNamespace(random=lambda count: chances[:count]))
    assert found.arrived.tolist() == [3, 1, 4, 0, 2, 5] and found.time.tolist() == TIME.tolist()


def test_a_delayed_item_holds_back_the_later_ones_of_its_feed():
    found = delayed(FEED, TIME, np.array([4.5, 0, 0, 0, 0.5, 0]))
    assert found.arrived.tolist() == [1, 3, 0, 2, 4, 5] and found.time.tolist() == [2, 4, 5.5, 5.5, 5.5, 6]


def test_what_is_withheld_comes_last_at_the_end():
    found = withheld(FEED == 1, TIME)
    assert found.arrived.tolist() == [0, 2, 3, 5, 1, 4] and found.time.tolist() == [1, 3, 4, 6, 6, 6]


def test_the_other_half_comes_once_the_partition_heals():
    found = partitioned(FEED == 0, TIME, 4.0)
    assert found.arrived.tolist() == [0, 2, 1, 3, 4, 5] and found.time.tolist() == [1, 3, 4, 4, 5, 6]


def test_items_of_one_time_come_as_received():
    assert in_time(np.array([2.0, 1, 2, 1])).arrived.tolist() == [1, 3, 0, 2]


ITEMS = [
    Items(FEED, ["@a", "@b", "@c"]),
    Items(FEED, ["@a", "@b", None], TIME * 60, TIME[::-1] * 60),
    Items(np.zeros(1, np.int32), ["@a"]),
    Items(np.random.default_rng(0).integers(0, 9, 500).astype(np.int32), [f"@{feed}" for feed in range(9)]),
]


@pytest.mark.parametrize("items", ITEMS)
@pytest.mark.parametrize("delivery", [RECEIVED, SHUFFLED, DELAYS, WITHHELD, PARTITION])
@pytest.mark.parametrize("replica", [0, 1, 2])
def test_all_items_arrive_once_and_in_the_order_of_their_feed(items, delivery, replica):
    model = Model(delivery, seed=7, delay_s=100.0, withheld="@b", heals=0.3)
    found = deliver(items, model, replica)
    assert sorted(found.arrived) == list(range(len(items.feed))) and (np.diff(found.time) >= 0).all()
    for feed in range(len(items.authors)):
        assert (np.diff(found.arrived[items.feed[found.arrived] == feed]) > 0).all()
    again = deliver(items, model, replica)
    assert found.arrived.tolist() == again.arrived.tolist() and found.time.tolist() == again.time.tolist()


def test_the_seed_and_the_replica_decide():
    orders = {
        (seed, replica): tuple(deliver(ITEMS[3], Model(SHUFFLED, seed), replica).arrived)
        for seed in (1, 2)
        for replica in (0, 1)
    }
    assert len(set(orders.values())) == 4
    assert orders[1, 0][:5] == (2, 11, 8, 14, 3)  # on every machine


def test_replicas_of_a_partition_are_in_different_halves():
    early = [set(ITEMS[3].feed[deliver(ITEMS[3], Model(PARTITION), each).arrived[:100]]) for each in (0, 1, 2)]
    assert not early[0] & early[1] and early[0] == early[2] and len(early[0]) in (4, 5)


def test_clock():
    timed = ITEMS[1]
    assert clock(timed, RECEIVED)[0].tolist() == (TIME * 60).tolist() and clock(timed, RECEIVED)[1]
    assert clock(timed, DELAYS)[0].tolist() == (TIME[::-1] * 60).tolist()
    for items, delivery in ((timed, SHUFFLED), (ITEMS[0], DELAYS)):
        assert clock(items, delivery)[0].tolist() == TIME.tolist() and not clock(items, delivery)[1]
