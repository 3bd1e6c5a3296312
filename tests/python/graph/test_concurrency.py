"""Concurrent members and faults of writers: the kernel against plain sets of ancestors."""

import itertools
import random

import numpy as np
import pytest

from dbt_tangles.algorithms.graph.concurrency import Concurrency, concurrency
from dbt_tangles.algorithms.graph.orders import Dag


def dag_of(links: list[list[int]], sizes: list[int], seed: int = 0) -> Dag:
    """Number the members as given; their ids have a random order."""
    graph_start, start = np.cumsum([0, *sizes]), np.cumsum([0, *map(len, links)])
    ends = itertools.pairwise(graph_start)
    nodes = [node for first, end in ends for node in random.Random(seed).sample(range(first, end), end - first)]
    previous = [p for listed in links for p in listed]
    return Dag(graph_start, np.array(nodes, np.int32), start, np.array(previous, np.int32))


def listed(found: Concurrency) -> list[list[int]]:
    """List the messages that each member leaves out."""
    start = found.left_start
    return [sorted(found.left_out[start[m] : start[m + 1]].tolist()) for m in range(len(start) - 1)]


def naive(dag: Dag, links: list[list[int]], author: np.ndarray, sequence: np.ndarray) -> tuple[list, list, list]:
    """Count the concurrent members, and find the messages left out and the stale edges."""
    ancestors: list[set[int]] = []
    for previous in links:
        ancestors.append(set(previous).union(*(ancestors[p] for p in previous)))
    counts, left_out, stale = [], [], []
    for first, end in itertools.pairwise(dag.graph_start):
        graph = range(first, end)
        for m in graph:
            counts.append(sum(m not in ancestors[e] and e not in ancestors[m] for e in graph) - 1)
            own = [e for e in graph if author[e] == author[m] >= 0 and sequence[e] < sequence[m]]
            left_out.append([e for e in own if e not in ancestors[m]])
            latest = max(own, key=lambda e: (sequence[e], dag.node[e]), default=None)
            stale += [latest is not None and p in ancestors[latest] for p in links[m]]
    return counts, left_out, stale


def redundant(links: list[list[int]]) -> np.ndarray:
    """Mark some of the edges that a longer path implies: those that the member's last previous lists."""
    return np.array([p in links[max(previous)] for previous in links for p in previous], np.bool_)


def history(rng: random.Random, sizes: list[int]) -> list[list[int]]:
    """Draw members that list near members or any; most graphs have one source, and some are chains."""
    links: list[list[int]] = []
    for size in sizes:
        first, sources, span = len(links), rng.choice([1, 1, 2]), rng.choice([1, 2, 5, 500])
        for m in range(size):
            near = range(first + max(0, m - span), first + m)
            links.append([] if m < sources else sorted({rng.choice(near) for _ in range(rng.randint(1, 3))}))
    return links


@pytest.mark.parametrize("seed", range(30))
def test_all_results_equal_the_naive_ones(seed):
    """In several blocks of several graphs, with forks and with sequences that contradict the links."""
    rng = random.Random(seed)
    sizes = [rng.choice([0, 1, 3, 10, 70, 200]) for _ in range(rng.randint(1, 3))] + [700] * (seed % 10 == 9)
    links = history(rng, sizes)
    author = np.array([rng.randrange(-1, rng.choice([1, 3, 30])) for _ in links], np.int32)
    ordered = np.arange(len(links), dtype=np.int32)
    sequence = ordered if rng.random() < 0.5 else np.array([rng.randrange(-3, 10) for _ in links], np.int32)
    dag = dag_of(links, sizes, seed)
    found = concurrency(dag, redundant(links), author, sequence, most_left_out=1_000)
    assert (found.count.tolist(), listed(found), found.is_stale.tolist()) == naive(dag, links, author, sequence)
    few = concurrency(dag, redundant(links), author, sequence, most_left_out=2)
    for some, every in zip(listed(few), listed(found), strict=True):
        assert len(some) == min(len(every), 2) and set(some) <= set(every)


def test_a_graph_above_the_limit_has_no_results():
    """The limit leaves out the whole graph, no other graph, and no chain."""
    star, chain = [[], *([0] for _ in range(4))], [[], *([304 + m] for m in range(1, 600))]
    large = [[5 + p for p in previous] for previous in history(random.Random(3), [300])]
    links, sizes = star + large + chain, [5, 300, 600]
    author, sequence = np.zeros(905, np.int32), np.arange(905, dtype=np.int32)
    dag = dag_of(links, sizes)
    found = concurrency(dag, redundant(links), author, sequence, most_steps=100)
    counts, left_out, stale = naive(dag, links, author, sequence)
    assert found.count.tolist() == counts[:5] + [-1] * 300 + [0] * 600
    assert listed(found) == left_out[:5] + [[]] * 900
    first, last = dag.start[5], dag.start[305]
    assert found.is_stale.tolist() == stale[:first] + [False] * int(last - first) + stale[last:]


def test_a_wide_star():
    """Of 100,000 replies to one message, each is concurrent with all others, also if the next message merges them."""
    n = 100_000
    start = np.concatenate([[0, 0], np.arange(1, n + 1), [2 * n]]).astype(np.int64)
    previous = np.concatenate([np.zeros(n), np.arange(1, n + 1)]).astype(np.int32)
    dag = Dag(np.array([0, n + 2]), np.arange(n + 2, dtype=np.int32), start, previous)
    nobody = np.full(n + 2, -1, np.int32)
    counts = concurrency(dag, np.zeros(2 * n, np.bool_), nobody, nobody).count
    assert counts[0] == counts[-1] == 0
    assert (counts[1:-1] == n - 1).all()
