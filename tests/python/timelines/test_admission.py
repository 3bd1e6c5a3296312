"""Admission against the oracle: every small digraph in every order, random ones and hostile ones."""

import itertools
import random

import numpy as np
import pytest

import timeline_oracle as oracle
from dbt_tangles.algorithms.timeline.admission import Graph, break_cycles
from edit_streams import log_of


def admitted(timelines: list[list[oracle.Arrival]]) -> list[bool]:
    """Admit the arrivals of timelines, whose names are distinct."""
    (start, cause_start, cause, rank), arrived = log_of(timelines)
    no_node = np.zeros(len(arrived), np.bool_)
    graph = Graph(start, ~no_node, cause_start, cause)
    rank, is_cyclic = break_cycles(graph, rank, arrived, no_node, np.zeros(len(cause), np.bool_))
    assert not is_cyclic.any()
    return (rank[arrived] >= 0).tolist()


def expected(arrivals: list[oracle.Arrival]) -> list[bool]:
    return [verdict is None for verdict in oracle.admit(arrivals)[1]]


def follow(arrivals: list[oracle.Arrival]) -> list[bool]:
    """Judge the arrivals one by one with a search among the effects: slow, but fit for some thousand events."""
    effects, inside = {}, set()
    for name, causes in arrivals:
        reached, frontier = {name}, [name]
        while frontier:
            found = [effect for effect in effects.get(frontier.pop(), ()) if effect not in reached]
            reached.update(found)
            frontier += found
        if reached.isdisjoint(set(causes) - {name}):
            inside.add(name)
            for other in causes:
                effects.setdefault(other, []).append(name)
    return [name in inside for name, _ in arrivals]


@pytest.mark.parametrize("events", [1, 2, 3, pytest.param(4, marks=pytest.mark.long)])
def test_every_digraph_in_every_order(events):
    names = "abcd"[:events]
    pairs = list(itertools.permutations(names, 2))
    timelines = []
    for bits in range(1 << len(pairs)):
        causes = {name: [] for name in names}
        for place, (name, other) in enumerate(pairs):
            if bits >> place & 1:
                causes[name].append(other)
        timelines += [[(name, causes[name]) for name in order] for order in itertools.permutations(names)]
    assert admitted(timelines) == [is_in for arrivals in timelines for is_in in expected(arrivals)]


def random_arrivals(seed: int, events: int, causes: float, local: bool) -> list[oracle.Arrival]:
    """Deliver a digraph of some causes for each event in random order."""
    chance = random.Random(seed)
    arrivals = []
    for name in range(events):
        listed = []
        for _ in range(int(causes) + (chance.random() < causes % 1)):
            is_near = local and chance.random() > 0.002
            listed.append(max(0, name - chance.randint(1, 40)) if is_near else chance.randrange(events))
        arrivals.append((str(name), list(map(str, listed))))
    chance.shuffle(arrivals)
    return arrivals


@pytest.mark.parametrize(("causes", "local"), [(1, False), (1.4, False), (3, False), (2, True)])
def test_large_components(causes, local):
    timelines = [random_arrivals(seed, 1_500, causes, local) for seed in (1, 2)]
    found = admitted(timelines)
    assert found == [is_in for arrivals in timelines for is_in in follow(arrivals)]
    assert not all(found)


@pytest.mark.parametrize("order", ["oldest first", "newest first", "random"])
def test_only_the_last_arrival_of_a_ring_closes_it(order):
    events = 20_000
    arrivals = [(str(place), [str((place - 1) % events)]) for place in range(events)]
    if order == "newest first":
        arrivals.reverse()
    elif order == "random":
        random.Random(1).shuffle(arrivals)
    assert admitted([arrivals]) == [True] * (events - 1) + [False]


def test_many_events_that_each_close_a_cycle():
    closers = [f"closer {place}" for place in range(5_000)]
    chain = [("0", closers), *[(str(place), [str(place - 1)]) for place in range(1, 5_000)]]
    found = admitted([[*chain, *[(name, ["4999"]) for name in closers], ("innocent", ["0", "4999"])]])
    assert found == [True] * 5_000 + [False] * 5_000 + [True]
