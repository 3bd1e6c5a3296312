"""Large bases are ordered in good time."""

import time

import numpy as np
import pytest

from base_tables import drawing
from dbt_tangles.algorithms.autobase.consensus import order_views
from dbt_tangles.algorithms.autobase.views import ViewArrays
from rule_search import answers


def large_base(writers: int, indexers: int, rows: list[tuple[int, list[int]]]) -> ViewArrays:
    """Number a base given as writers and previous nodes, by turn; the writer's previous node is added."""
    writer = np.array([w for w, _ in rows])
    by_place = np.argsort(writer, kind="stable")
    place = np.empty(len(rows), np.int64)
    place[by_place] = np.arange(len(rows))
    last, start, previous = {}, [0], [None] * len(rows)
    length = np.empty(len(rows), np.int64)
    for turn, (w, heads) in enumerate(rows):
        before = last.get(w)
        previous[place[turn]] = place[list({*heads, before} if before is not None else set(heads))]
        length[place[turn]] = 1 if before is None else length[place[before]] + 1
        last[w] = turn
    for at in previous:
        start.append(start[-1] + len(at))
    rank = writer[by_place].astype(np.int32)
    return ViewArrays(
        np.array([0, len(rows)], np.int64),
        np.array(start, np.int64),
        np.concatenate(previous).astype(np.int32),
        rank,
        length,
        np.ones(len(rows), np.int32),
        np.where(rank < indexers, rank, -1).astype(np.int32),
        np.zeros(len(rows), np.bool_),
        np.array([0, indexers], np.int64),
        np.zeros(indexers, np.int64),
    )


def timed(arrays: ViewArrays) -> tuple[int, float]:
    """Return the confirmed length and the CPU seconds."""
    answers([drawing("abc", "a1 b1:a1 a2:b1")])
    begin = time.process_time()
    confirmed = order_views(arrays)[2]
    return int(confirmed[0]), time.process_time() - begin


def in_turns(writers: int, nodes: int) -> list[tuple[int, list[int]]]:
    """Each writer writes on top of the last node, by turns."""
    return [(turn % writers, [turn - 1] if turn else []) for turn in range(nodes)]


def in_rounds(writers: int, rounds: int, online: int | None = None) -> list[tuple[int, list[int]]]:
    """All online writers write at once on top of the round before: endless forks."""
    online = online or writers
    return [
        (w, list(range(r * online - online, r * online)) if r else []) for r in range(rounds) for w in range(online)
    ]


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
