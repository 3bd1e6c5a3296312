"""Concurrent members: the worked example, and the kernel against a plain count over ancestor sets."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.graph.concurrency import concurrent_counts
from graph_oracle import answers_of, arrays_of, thread


def naive_counts(links: list[list[int]], sizes: list[int]) -> list[int]:
    ancestors: list[set[int]] = []
    for previous in links:
        ancestors.append(set(previous).union(*(ancestors[p] for p in previous)))
    counts = []
    first = 0
    for size in sizes:
        graph = range(first, first + size)
        counts += [sum(a != b and a not in ancestors[b] and b not in ancestors[a] for b in graph) for a in graph]
        first += size
    return counts


@st.composite
def histories(draw) -> tuple[list[list[int]], list[int]]:
    """Draw graphs of a few members, with any number of roots, in which members list recent or any members."""
    links, sizes = [], []
    for _ in range(draw(st.integers(1, 3))):
        first = len(links)
        sizes.append(draw(st.integers(0, 12)))
        span = draw(st.sampled_from([2, 4, 12]))
        for m in range(first, first + sizes[-1]):
            near = list(range(max(first, m - span), m))
            links.append(draw(st.lists(st.sampled_from(near), max_size=3, unique=True)) if near else [])
    return links, sizes


def history(seed: int, size: int, span: int, most: int) -> list[list[int]]:
    """Draw one large history, in which half of the members list one of the last `span` members."""
    rng = random.Random(seed)
    links: list[list[int]] = [[]]
    for m in range(1, size):
        near = range(max(0, m - span), m)
        links.append(rng.sample(near, min(len(near), rng.choice([1, rng.randint(1, most)]))))
    return links


def test_the_example_has_two_concurrent_messages():
    """Thread A to E, section 2: C and D were written without knowledge of each other; all other pairs are ordered."""
    answers = answers_of(thread({"A": None, "B": ["A"], "C": ["B"], "D": ["B"], "E": ["C", "D"]}))
    assert {id_: out["concurrent_count"] for id_, out in answers.items()} == {"A": 0, "B": 0, "C": 1, "D": 1, "E": 0}


@given(histories())
def test_counts_equal_the_naive_counts(drawn):
    assert concurrent_counts(*arrays_of(*drawn)).tolist() == naive_counts(*drawn)


@pytest.mark.parametrize(("span", "most"), [(3, 2), (20, 3), (700, 2)])
def test_counts_in_several_blocks(span, most):
    """Narrow and wide histories of more members than a block has bits."""
    links = history(span, 1_100, span, most)
    assert concurrent_counts(*arrays_of(links, [1_100])).tolist() == naive_counts(links, [1_100])


def test_a_chain_is_counted_within_any_limit():
    links = [[], *([m] for m in range(1_999))]
    assert concurrent_counts(*arrays_of(links, [2_000]), most_steps=0).tolist() == [0] * 2_000


def test_a_graph_above_the_limit_has_no_counts():
    """The limit leaves out the whole graph and no other graph; the same limit always leaves out the same graphs."""
    diamond = [[], [0], [0], [1, 2]]
    wide = [[4 + p for p in previous] for previous in history(3, 300, 300, 3)]
    links, sizes = diamond + wide, [4, 300]
    counts = concurrent_counts(*arrays_of(links, sizes), most_steps=100).tolist()
    assert counts == [0, 1, 1, 0] + [-1] * 300
    assert concurrent_counts(*arrays_of(links, sizes)).tolist() == naive_counts(links, sizes)


def test_a_wide_star():
    """Of 100,000 replies to one message, each is concurrent with all others, also if the next message merges them."""
    n = 100_000
    start = np.concatenate([[0, 0], np.arange(1, n + 1), [2 * n]]).astype(np.int64)
    previous = np.concatenate([np.zeros(n), np.arange(1, n + 1)]).astype(np.int32)
    counts = concurrent_counts(np.array([0, n + 2]), start, previous)
    assert counts[0] == counts[-1] == 0
    assert (counts[1:-1] == n - 1).all()
