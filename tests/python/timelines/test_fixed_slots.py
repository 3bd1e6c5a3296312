"""`fixed_slots` against the oracle and against the full kernel, over any links and any order of arrival."""

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import timeline_oracle as oracle
from bench import events
from bench.evaluation.fixed_slots import MOVED, RAISED, VISITED, keep_two_causes, order_stream
from dbt_tangles.algorithms.timeline.edits import edit_stream

MOST = 12


@st.composite
def graphs(draw, most_causes: int):
    """Draw the cause lists of events whose numbers do not follow the links, and an order of arrival."""
    count = draw(st.integers(1, MOST))
    number = draw(st.permutations(range(count)))
    lists = [[] for _ in range(count)]
    for place in range(1, count):
        earlier = st.lists(st.integers(0, place - 1), max_size=most_causes, unique=True)
        lists[number[place]] = [number[cause] for cause in draw(earlier)]
    return lists, draw(st.permutations(range(count)))


def rows_of(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return compressed rows."""
    start = np.array([0, *accumulate(map(len, lists))], np.int64)
    return start, np.array([cause for causes in lists for cause in causes], np.int32)


def name(event: int) -> str:
    """Name an event so that names sort as numbers do."""
    return f"{event:02}"


def known(lists: list[list[int]], arrived: list[int]) -> dict[str, set[str]]:
    """Return the causes by name of the events that arrived."""
    return {name(event): {name(cause) for cause in lists[event]} for event in arrived}


def check(lists: list[list[int]], arrived: list[int], limited: list[list[int]]) -> None:
    """Compare order, ranks and the work after each arrival with the oracle over the limited lists."""
    cause, left_out = keep_two_causes(*rows_of(lists))
    assert [[c for c in pair if c >= 0] for pair in cause.tolist()] == limited
    assert left_out == sum(map(len, lists)) - sum(map(len, limited))
    before: list[str] = []
    ranks: dict[str, int] = {}
    whole = order_stream(cause, np.array(arrived))
    for count in range(1, len(arrived) + 1):
        graph = known(limited, arrived[:count])
        found = order_stream(cause, np.array(arrived[:count]))
        order, rank = oracle.converged(graph), oracle.ranks(graph)
        assert [name(event) for event in found.order.tolist()] == order
        assert {name(x): r for x, r in enumerate(found.rank.tolist()) if r >= 0} == rank
        visited, raised, moved = whole.work[count - 1].tolist()
        assert found.work[-1].tolist() == [visited, raised, moved]
        assert raised == sum(rank[event] != ranks[event] for event in ranks)
        assert visited > raised >= moved >= oracle.fewest_commands(before, order) - 1
        assert (moved == 0) == ([event for event in order if event in ranks] == before)
        before, ranks = order, rank


@given(graphs(most_causes=2))
def test_graphs_within_the_limit(graph):
    """All links count; the full kernel has the same order after the last arrival."""
    lists, arrived = graph
    check(lists, arrived, [[*causes[:1], *sorted(causes[1:])] for causes in lists])
    number = np.arange(len(arrived))
    full = edit_stream(np.array([0, len(arrived)]), *rows_of(lists), np.array(arrived), number, np.zeros(1))
    scripts = [
        ("ins" if taken < 0 else "mov", event, None if taken < 0 else taken, put)
        for event, taken, put in zip(full.event.tolist(), full.taken.tolist(), full.put.tolist(), strict=True)
    ]
    cause, _ = keep_two_causes(*rows_of(lists))
    found = order_stream(cause, np.array(arrived))
    assert found.order.tolist() == oracle.replay([], scripts)
    assert len(scripts) <= len(arrived) + found.work[:, MOVED].sum()


@given(graphs(most_causes=6))
def test_graphs_beyond_the_limit(graph):
    """The order is that of the graph with the first listed cause and the least other one."""
    lists, arrived = graph
    check(lists, arrived, [[*causes[:1], *sorted(causes[1:])[:1]] for causes in lists])


@pytest.mark.parametrize("bound", [0, 40, 10_000])
def test_a_stream(bound):
    """A larger log: the order of the full kernel, and the ranks that change by definition."""
    rng = np.random.default_rng(bound)
    log = events.append(1_500, 8, rng)
    arrived = events.deliver_late(log, bound, rng)
    timelines = events.named(log, arrived, rng)
    cause, left_out = keep_two_causes(timelines.cause_start, timelines.cause)
    found = order_stream(cause, timelines.arrived)
    assert left_out == 0 and np.array_equal(found.rank[timelines.arrived], log.rank[arrived])
    assert np.array_equal(found.order, np.lexsort((np.arange(len(found.rank)), found.rank)))
    assert (found.work.max(axis=0).tolist() == [1, 0, 0]) == (bound == 0)


def test_wrong_streams():
    """An event arrives once, and links have no cycle."""
    none = np.full((2, 2), -1, np.int32)
    with pytest.raises(ValueError, match="arrives twice"):
        order_stream(none, np.array([0, 1, 0]))
    with pytest.raises(ValueError, match="its own cause"):
        order_stream(np.array([[1, -1], [0, -1]]), np.array([0, 1]))
    with pytest.raises(ValueError, match="its own cause"):
        order_stream(np.array([[0, -1]]), np.array([0]))


def test_a_wide_fork():
    """Many events with the same backlink, whose cause comes last: each visits its own list only."""
    count = 1_000
    cause = np.full((count, 2), -1, np.int32)
    cause[1:, 0] = 0
    found = order_stream(cause, np.arange(count)[::-1])
    assert found.work[-1].tolist() == [count, count - 1, 0]
    assert found.work[:-1, VISITED].max() == 1 and found.work[:-1, RAISED].max() == 0
    assert found.order.tolist() == list(range(count)) and found.rank.tolist() == [0] + [1] * (count - 1)
