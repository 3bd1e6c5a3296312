"""Large bases are ordered, and their quorums found, in good time; `test_results.py` compares results with oracles."""

import time

import numpy as np
import pytest

from base_arrays import answers, ordered
from base_results import results
from base_tables import chain_table, drawing
from dbt_tangles.algorithms.autobase.base_graphs import Graphs, first_followers, index_graphs, with_clocks
from dbt_tangles.algorithms.autobase.quorums import quorums
from large_bases import in_rounds, in_turns, large_base


def timed(graphs: Graphs, rule: str = "autobase") -> tuple[int, float]:
    """Return the confirmed length and the CPU seconds."""
    answers([drawing("abc", "a1 b1:a1 c1:b1")], rule)
    begin = time.process_time()
    _, view_start, _, confirmed = ordered(graphs, rule)
    assert rule == "autobase" or view_start[-1] == graphs.base_start[-1]
    return int(confirmed[0]), time.process_time() - begin


def acked_forks(rounds: int) -> list[tuple[int, list[int]]]:
    """The second writer follows the first, the third always writes beside both."""
    rows = []
    for at in range(0, 3 * rounds, 3):
        rows += [(0, [at - 2, at - 1] if at else []), (1, [at]), (2, [at - 3] if at else [])]
    return rows


def healed(writers: int, rows: list[tuple[int, list[int]]], turns: int = 4) -> list[tuple[int, list[int]]]:
    """Add turns in which all writers agree."""
    followed = {p for _, heads in rows for p in heads}
    loose = [turn for turn in range(len(rows)) if turn not in followed]
    top = [(0, loose)] + [(turn % writers, [len(rows) + turn - 1]) for turn in range(1, turns * writers)]
    return rows + top


@pytest.mark.parametrize(
    ("indexers", "rows"),
    [
        (3, in_rounds(3, 3_400)),
        (9, in_rounds(9, 1_200)),
        (9, in_rounds(9, 2_500, online=4)),
        (9, in_turns(4, 10_000)),
        (3, acked_forks(3_400)),
        (200, in_rounds(200, 50)),
    ],
    ids=["three", "nine", "a minority", "a minority in turns", "acked", "many"],
)
def test_forks_without_end_and_their_end(indexers, rows):
    confirmed, seconds = timed(large_base(indexers, indexers, rows))
    assert confirmed == 0
    assert seconds < 5
    more = healed(indexers, rows)
    confirmed, seconds = timed(large_base(indexers, indexers, more))
    assert len(rows) < confirmed < len(more)
    assert seconds < 5


@pytest.mark.parametrize("online", [9, 5])
def test_a_wide_base_by_the_documents_rule(online):
    confirmed, seconds = timed(large_base(9, 9, in_rounds(9, 1_500 // online, online)), "design")
    assert confirmed == 0
    assert seconds < 4


@pytest.mark.parametrize("writers", [1, 3, 9])
def test_a_chain_by_the_documents_rule(writers):
    confirmed, seconds = timed(large_base(writers, writers, in_turns(writers, 2_000)), "design")
    assert confirmed == 2_000 - 2 * (writers // 2)
    assert seconds < 5


def counted(graphs: Graphs) -> tuple[int, float]:
    """Return the number of quorums and the CPU seconds."""
    count = len(graphs.base_start) - 1
    bases = with_clocks(index_graphs(graphs), 0, count)
    begin = time.process_time()
    found = sum(len(each.node) for each in quorums(bases, first_followers(bases), 3))
    return found, time.process_time() - begin


@pytest.mark.parametrize(
    ("power", "rows"),
    # A node of a round follows the whole round before, so the edges alone grow with the square of the writers.
    [(2.2, lambda writers: in_turns(writers, 10 * writers)), (2.9, lambda writers: in_rounds(writers, 10))],
    ids=["turns", "rounds"],
)
def test_how_time_grows_with_the_writers(power, rows):
    counted(large_base(75, 75, rows(75)))
    sizes = (75, 300)
    found, seconds = zip(*(counted(large_base(n, n, rows(n))) for n in sizes), strict=True)
    assert min(found) > 0
    assert np.log(seconds[1] / seconds[0]) / np.log(sizes[1] / sizes[0]) < power
    assert seconds[1] < 10


def test_200_indexers_among_2_000_writers():
    begin = time.process_time()
    assert results(chain_table("b", 2_000, 5_000, 200), 1)["quorum"]
    assert time.process_time() - begin < 20
