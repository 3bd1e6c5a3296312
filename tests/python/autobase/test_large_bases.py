"""Large bases are ordered in good time."""

import time

import pytest

from base_arrays import answers, ordered
from base_tables import drawing
from dbt_tangles.algorithms.autobase.base_graphs import Graphs
from large_bases import in_rounds, in_turns, large_base


def timed(graphs: Graphs) -> tuple[int, float]:
    """Return the confirmed length and the CPU seconds."""
    answers([drawing("abc", "a1 b1:a1 a2:b1")])
    begin = time.process_time()
    confirmed = ordered(graphs)[3]
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
