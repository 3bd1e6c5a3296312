"""Large bases are ordered in good time."""

import time

import pytest

from base_arrays import answers, ordered
from base_tables import drawing
from dbt_tangles.algorithms.autobase.base_graphs import Graphs
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
