"""Large bases as kernel arguments, given as writers and previous nodes by turn."""

from collections import Counter

from autobase_oracle import Base, Id, Node
from base_arrays import arrays_of
from dbt_tangles.algorithms.autobase.base_graphs import Graphs


def large_base(writers: int, indexers: int, rows: list[tuple[int, list[int]]]) -> Graphs:
    """Number a base given as writers and previous nodes, by turn; the writer's previous node is added."""
    keys = [number.to_bytes(2, "big") for number in range(writers)]
    ids, nodes, lengths = [], {}, Counter()
    for writer, heads in rows:
        lengths[writer] += 1
        ids.append(Id(keys[writer], lengths[writer]))
        nodes[ids[-1]] = Node(ids[-1], tuple(ids[head] for head in heads))
    return arrays_of([Base(tuple(keys[:indexers]), nodes)])[0]


def in_turns(writers: int, nodes: int) -> list[tuple[int, list[int]]]:
    """Each writer writes on top of the last node, by turns."""
    return [(turn % writers, [turn - 1] if turn else []) for turn in range(nodes)]


def in_rounds(writers: int, rounds: int, online: int | None = None) -> list[tuple[int, list[int]]]:
    """All online writers write at once on top of the round before: endless forks."""
    online = online or writers
    return [
        (w, list(range(r * online - online, r * online)) if r else []) for r in range(rounds) for w in range(online)
    ]
