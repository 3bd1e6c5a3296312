"""Large bases, given as the writer and the previous nodes of each turn."""

import random
from collections import Counter

import pyarrow as pa

from autobase_oracle import Base, Id, Node
from base_tables import rows_of, table_of

Turns = list[tuple[int, list[int]]]


def large_base(writers: int, turns: Turns, indexers: int | None = None) -> Base:
    """Number the nodes of a base, in which all writers index, or the first ones."""
    keys = [number.to_bytes(2, "big") for number in range(writers)]
    ids, nodes, lengths = [], {}, Counter()
    for writer, heads in turns:
        lengths[writer] += 1
        ids.append(Id(keys[writer], lengths[writer]))
        nodes[ids[-1]] = Node(ids[-1], tuple(ids[head] for head in heads))
    return Base(tuple(keys[:indexers]), nodes)


def large_table(base_id: str, writers: int, turns: Turns, indexers: int | None = None) -> pa.Table:
    """Make the table of a base."""
    return table_of(rows_of(base_id, large_base(writers, turns, indexers)))


def in_turns(writers: int, nodes: int, rng: random.Random | None = None) -> Turns:
    """Each writer writes on top of the last node, by turns or at random."""
    return [(rng.randrange(writers) if rng else turn % writers, [turn - 1] if turn else []) for turn in range(nodes)]


def in_rounds(writers: int, rounds: int, online: int | None = None) -> Turns:
    """All online writers write at once on top of the round before: endless forks."""
    online = online or writers
    return [
        (w, list(range(r * online - online, r * online)) if r else []) for r in range(rounds) for w in range(online)
    ]
