"""The time for quorums of many writers; `test_results.py` compares quorums with an oracle."""

import time

import numpy as np
import pytest

from base_results import results
from base_tables import chain_table
from dbt_tangles.algorithms.autobase.base_graphs import first_followers, index_graphs, with_clocks
from dbt_tangles.algorithms.autobase.quorums import quorums
from large_bases import in_rounds, in_turns, large_base


def counted(graphs) -> tuple[int, float]:
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
