"""Admission against the oracle: every small digraph in every order, random ones and hostile ones."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import timeline_oracle as oracle
from dbt_tangles.algorithms.timeline.admission import ACCEPTED, BLOCK, CYCLE, DUPLICATE, REFUSED, admit

CODES = {None: ACCEPTED, "duplicate": DUPLICATE, "cycle": CYCLE, "refused": REFUSED}


def pack(timelines: list[list[oracle.Arrival]], refused: list[bool] | None = None) -> tuple:
    timeline_start, event, cause_start, cause, first = [0], [], [0], [], 0
    for arrivals in timelines:
        number = {}
        for name, _ in arrivals:
            number.setdefault(name, first + len(number))
        for name, listed in arrivals:
            event.append(number[name])
            cause += sorted({number[other] for other in listed if other in number and other != name})
            cause_start.append(len(cause))
        timeline_start.append(len(event))
        first += len(number)
    return (
        np.array(timeline_start, np.int64),
        np.array(event, np.int32),
        np.array(cause_start, np.int64),
        np.array(cause, np.int32),
        np.zeros(len(event), np.bool_) if refused is None else np.array(refused, np.bool_),
    )


def expected(arrivals: list[oracle.Arrival], refused: list[bool] | None = None) -> list[int]:
    reasons = ["refused" if out else None for out in refused or [False] * len(arrivals)]
    return [CODES[verdict] for verdict in oracle.admit(arrivals, reasons)[1]]


def follow(packed: tuple) -> list[int]:
    """Judge the arrivals one by one with a search among the effects: slow, but fit for some thousand events."""
    _, event, cause_start, cause, refused = packed
    effects, inside, verdicts = {}, set(), []
    for row, name in enumerate(event.tolist()):
        causes = cause[cause_start[row] : cause_start[row + 1]].tolist()
        if refused[row]:
            verdicts.append(REFUSED)
            continue
        if name in inside:
            verdicts.append(DUPLICATE)
            continue
        reached, frontier = {name}, [name]
        while frontier:
            found = [effect for effect in effects.get(frontier.pop(), ()) if effect not in reached]
            reached.update(found)
            frontier += found
        if reached.isdisjoint(causes):
            inside.add(name)
            for other in causes:
                effects.setdefault(other, []).append(name)
            verdicts.append(ACCEPTED)
        else:
            verdicts.append(CYCLE)
    return verdicts


@pytest.mark.parametrize("events", [0, 1, 2, 3, pytest.param(4, marks=pytest.mark.long)])
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
    packed = pack(timelines)
    want = np.array([code for arrivals in timelines for code in expected(arrivals)], np.int8)
    assert (admit(*packed) == want).all()
    assert (admit(*packed, block=2) == want).all()


@st.composite
def arrivals_of_a_timeline(draw):
    """Arrivals of few events, most with few causes; some are repeated, some list missing causes."""
    names = [f"e{place}" for place in range(draw(st.integers(1, 8)))]
    listed = st.lists(st.sampled_from([*names, "absent"]), max_size=draw(st.integers(0, 4)))
    return draw(st.lists(st.tuples(st.sampled_from(names), listed), max_size=20))


@given(
    st.lists(arrivals_of_a_timeline(), max_size=6), st.randoms(use_true_random=False), st.sampled_from([1, 2, 3, BLOCK])
)
def test_agrees_with_the_oracle(timelines, chance, block):
    refused = [[chance.random() < 0.2 for _ in arrivals] for arrivals in timelines]
    packed = pack(timelines, [flag for flags in refused for flag in flags])
    want = [code for arrivals, flags in zip(timelines, refused, strict=True) for code in expected(arrivals, flags)]
    verdicts = admit(*packed, block=block)
    assert verdicts.dtype == np.int8 and verdicts.tolist() == want


def random_arrivals(seed: int, events: int, causes: float, local: bool) -> list[oracle.Arrival]:
    """Deliver a digraph of some causes for each event in random order, some of it twice and with other causes."""
    chance = random.Random(seed)
    arrivals = []
    for name in [*range(events), *chance.choices(range(events), k=events // 4)]:
        count = int(causes) + (chance.random() < causes % 1)
        near = [
            max(0, name - chance.randint(1, 40)) if local and chance.random() > 0.002 else None for _ in range(count)
        ]
        arrivals.append((str(name), [str(chance.randrange(events) if other is None else other) for other in near]))
    chance.shuffle(arrivals)
    return arrivals


@pytest.mark.parametrize("block", [1, 3, 64, 65, 200, BLOCK])
@pytest.mark.parametrize(("causes", "local"), [(1, False), (1.4, False), (3, False), (2, True)])
def test_large_components_take_many_blocks(causes, local, block):
    packed = pack([random_arrivals(seed, 600, causes, local) for seed in (1, 2)])
    halves = [pack([random_arrivals(seed, 600, causes, local)]) for seed in (1, 2)]
    verdicts = admit(*packed, block=block)
    assert verdicts.tolist() == follow(halves[0]) + follow(halves[1])
    assert (verdicts == CYCLE).any()


def test_blocks_of_the_usual_size():
    packed = pack([random_arrivals(3, 6 * BLOCK, 2, False)])
    verdicts = admit(*packed)
    assert verdicts.tolist() == follow(packed)
    assert (verdicts == CYCLE).sum() > BLOCK // 2


def ring(events: int) -> list[oracle.Arrival]:
    return [(str(place), [str((place - 1) % events)]) for place in range(events)]


@pytest.mark.parametrize("order", ["oldest first", "newest first", "random"])
def test_only_the_last_arrival_of_a_ring_closes_it(order):
    arrivals = ring(20_000)
    if order == "newest first":
        arrivals.reverse()
    elif order == "random":
        random.Random(1).shuffle(arrivals)
    verdicts = admit(*pack([arrivals]))
    assert (verdicts[:-1] == ACCEPTED).all() and verdicts[-1] == CYCLE


def test_many_events_that_each_close_a_cycle():
    closers = [f"closer {place}" for place in range(5_000)]
    chain = [("0", closers), *[(str(place), [str(place - 1)]) for place in range(1, 5_000)]]
    verdicts = admit(*pack([[*chain, *[(name, ["4999"]) for name in closers], ("innocent", ["0", "4999"])]]))
    assert (verdicts[:5_000] == ACCEPTED).all() and (verdicts[5_000:-1] == CYCLE).all() and verdicts[-1] == ACCEPTED


def test_inconsistent_arrays_are_refused():
    timeline_start, event, cause_start, cause, refused = pack([[("a", []), ("b", ["a"])], [("a", [])]])
    for stranger in (2, -1, 99):
        with pytest.raises(ValueError, match="not an event of its timeline"):
            admit(timeline_start, event, cause_start, np.full_like(cause, stranger), refused)
    for wrong in (
        (timeline_start[:-1], event, cause_start, cause, refused),
        (timeline_start, event, cause_start[:-1], cause, refused),
        (timeline_start, event, cause_start, cause, refused[:-1]),
        (timeline_start, event, cause_start, cause[:0], refused),
        (timeline_start, event, cause_start, cause, refused, 0),
    ):
        with pytest.raises(ValueError):
            admit(*wrong)
    with pytest.raises(ValueError, match="has no number"):
        admit(timeline_start, event - 1, cause_start, cause, refused)
