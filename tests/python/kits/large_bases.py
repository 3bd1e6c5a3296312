"""Large bases as kernel arguments, given as writers and previous nodes by turn."""

import numpy as np

from dbt_tangles.algorithms.autobase.base_graphs import Graphs


def large_base(writers: int, indexers: int, rows: list[tuple[int, list[int]]]) -> Graphs:
    """Number a base given as writers and previous nodes, by turn; the writer's previous node is added."""
    writer = np.array([w for w, _ in rows])
    by_place = np.argsort(writer, kind="stable")
    place = np.empty(len(rows), np.int64)
    place[by_place] = np.arange(len(rows))
    last, start, previous = {}, [0], [None] * len(rows)
    for turn, (w, heads) in enumerate(rows):
        before = last.get(w)
        previous[place[turn]] = place[list({*heads, before} if before is not None else set(heads))]
        last[w] = turn
    for at in previous:
        start.append(start[-1] + len(at))
    rank = writer[by_place].astype(np.int32)
    return Graphs(
        np.array([0, len(rows)], np.int64),
        np.array(start, np.int64),
        np.concatenate(previous).astype(np.int32),
        rank,
        np.ones(len(rows), np.int32),
        np.where(rank < indexers, rank, -1).astype(np.int32),
        np.zeros(len(rows), np.bool_),
        np.array([0, indexers], np.int64),
    )


def in_turns(writers: int, nodes: int) -> list[tuple[int, list[int]]]:
    """Each writer writes on top of the last node, by turns."""
    return [(turn % writers, [turn - 1] if turn else []) for turn in range(nodes)]


def in_rounds(writers: int, rounds: int, online: int | None = None) -> list[tuple[int, list[int]]]:
    """All online writers write at once on top of the round before: endless forks."""
    online = online or writers
    return [
        (w, list(range(r * online - online, r * online)) if r else []) for r in range(rounds) for w in range(online)
    ]
