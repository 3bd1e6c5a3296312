"""Faults of writers: a worked example, and the kernel against the plain definition by sets of ancestors."""

import itertools
import random

import numpy as np
import pytest

from dbt_tangles.algorithms.graph.orders import Dag
from dbt_tangles.algorithms.graph.writer_faults import WriterFaults, writer_faults
from graph_oracle import answers_of, arrays_of, thread


def dag_of(links: list[list[int]], sizes: list[int], seed: int = 0) -> Dag:
    """Number the members as given; their ids have a random order."""
    graph_start, start, previous = arrays_of(links, sizes)
    ends = itertools.pairwise(graph_start)
    nodes = [random.Random(seed).sample(range(first, end), end - first) for first, end in ends]
    return Dag(graph_start, np.array([node for graph in nodes for node in graph], np.int32), start, previous)


def listed(faults: WriterFaults) -> list[list[int]]:
    """List the messages that each member leaves out."""
    start = faults.left_start
    return [sorted(faults.left_out[start[m] : start[m + 1]].tolist()) for m in range(len(start) - 1)]


def naive_faults(dag: Dag, links: list[list[int]], author: np.ndarray, sequence: np.ndarray) -> tuple[list, list]:
    ancestors: list[set[int]] = []
    for previous in links:
        ancestors.append(set(previous).union(*(ancestors[p] for p in previous)))
    left_out, stale = [], []
    for first, end in itertools.pairwise(dag.graph_start):
        for m in range(first, end):
            own = [e for e in range(first, end) if author[e] == author[m] >= 0 and sequence[e] < sequence[m]]
            left_out.append([e for e in own if e not in ancestors[m]])
            latest = max(own, key=lambda e: (sequence[e], dag.node[e]), default=None)
            stale += [latest is not None and p in ancestors[latest] for p in links[m]]
    return left_out, stale


def history(rng: random.Random, sizes: list[int]) -> list[list[int]]:
    """Draw members that list near members or any; most graphs have one source."""
    links: list[list[int]] = []
    for size in sizes:
        first, sources, span = len(links), rng.choice([1, 1, 2]), rng.choice([2, 5, 500])
        for m in range(size):
            near = range(first + max(0, m - span), first + m)
            links.append([] if m < sources else sorted({rng.choice(near) for _ in range(rng.randint(1, 3))}))
    return links


def test_writers_are_held_to_what_they_knew():
    links = {"r": None, "b": ["r"], "again": ["r"], "both": ["b", "again", "r"], "fine": ["b"]}
    authors = {"r": "ann", "b": "bob", "again": "bob", "both": "bob", "fine": "ann"}
    answers = answers_of(thread(links, author=authors, sequence={"r": 1, "b": 7, "again": 8, "both": 9, "fine": 2}))
    names = ("own_left_out", "not_tips", "redundant_previous")
    assert {id_: tuple(out[name] for name in names) for id_, out in answers.items()} == {
        "r": ([], [], []),
        "b": ([], [], []),
        "again": (["b"], ["r"], []),
        "both": ([], ["r"], ["r"]),
        "fine": ([], [], []),
    }


@pytest.mark.parametrize("seed", range(30))
def test_faults_equal_the_naive_faults(seed):
    """In several blocks of several graphs, with forks and with sequences that contradict the links."""
    rng = random.Random(seed)
    sizes = [rng.choice([0, 1, 3, 10, 70, 200]) for _ in range(rng.randint(1, 3))]
    links = history(rng, sizes)
    author = np.array([rng.randrange(-1, rng.choice([1, 3, 30])) for _ in links], np.int32)
    ordered = np.arange(len(links), dtype=np.int32)
    sequence = ordered if rng.random() < 0.5 else np.array([rng.randrange(-3, 10) for _ in links], np.int32)
    dag = dag_of(links, sizes, seed)
    faults = writer_faults(dag, author, sequence, most_left_out=1_000)
    assert (listed(faults), faults.is_stale.tolist()) == naive_faults(dag, links, author, sequence)
    assert faults.is_checked.all()
    few = writer_faults(dag, author, sequence, most_left_out=2)
    for some, every in zip(listed(few), listed(faults), strict=True):
        assert len(some) == min(len(every), 2) and set(some) <= set(every)


def test_a_graph_above_the_limit_has_no_faults():
    """The limit leaves out the whole graph and no other graph."""
    star = [[], *([0] for _ in range(4))]
    links, sizes = star + [[5 + p for p in previous] for previous in history(random.Random(3), [300])], [5, 300]
    author, sequence = np.zeros(305, np.int32), np.arange(305, dtype=np.int32)
    dag = dag_of(links, sizes)
    faults = writer_faults(dag, author, sequence, most_steps=100)
    left_out, stale = naive_faults(dag, links, author, sequence)
    assert listed(faults) == left_out[:5] + [[]] * 300
    edges = dag.start[5]
    assert faults.is_stale.tolist() == stale[:edges] + [False] * (len(stale) - edges)
    assert faults.is_checked.tolist() == [True] * 5 + [False] * 300
