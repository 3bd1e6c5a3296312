"""`fixed_slots` against the oracle, over any links and any order of arrival."""

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import timeline_oracle as oracle
from bench.evaluation.fixed_slots import keep_two_causes, order_stream

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
    start = np.array([0, *accumulate(map(len, lists))], np.int64)
    return start, np.array([cause for causes in lists for cause in causes], np.int32)


def name(event: int) -> str:
    return f"{event:02}"


def known(lists: list[list[int]], arrived: list[int]) -> dict[str, set[str]]:
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


@given(graphs(2) | graphs(6))
def test_two_causes_count(graph):
    """The order is that of the graph with the first listed cause and the least other one."""
    lists, arrived = graph
    check(lists, arrived, [[*causes[:1], *sorted(causes[1:])[:1]] for causes in lists])


def test_wrong_streams():
    none = np.full((2, 2), -1, np.int32)
    with pytest.raises(ValueError, match="arrives twice"):
        order_stream(none, np.array([0, 1, 0]))
    with pytest.raises(ValueError, match="its own cause"):
        order_stream(np.array([[1, -1], [0, -1]]), np.array([0, 1]))
    with pytest.raises(ValueError, match="its own cause"):
        order_stream(np.array([[0, -1]]), np.array([0]))
