"""Simulated writers: each writes on top of all its known nodes and passes some of them on."""

import random
from typing import NamedTuple

from autobase_oracle import Base, Id, Node, pasts_of
from base_arrays import arrays_of
from dbt_tangles.algorithms.autobase.consensus import order_views

Answer = tuple[list[Id], int]


def answers(bases: list[Base]) -> list[Answer]:
    """Order all bases in one call."""
    arrays, ids = arrays_of(bases)
    order, placed, confirmed = order_views(arrays)
    view_start = arrays[0]
    found = []
    for v in range(len(bases)):
        begin, end = view_start[v], view_start[v + 1]
        assert (order[begin + placed[v] : end] == -1).all()
        found.append(([ids[x] for x in order[begin : begin + placed[v]]], int(confirmed[v])))
    return found


class Gossip:
    """Writers that write on top of all their known nodes and pass some of them on."""

    def __init__(self, rng: random.Random, indexers: int, others: int, relayed: int):
        self.rng = rng
        keys = [bytes([rng.randrange(256), at]) for at in range(indexers + others + relayed)]
        self.writers = keys
        self.indexers = tuple(keys[:indexers])
        self.relayed = set(keys[indexers + others :])
        self.nodes: dict[Id, Node] = {}
        self.clock: dict[Id, dict[bytes, int]] = {}
        self.knows: dict[bytes, dict[bytes, int]] = {key: {} for key in keys}

    def write(self, key: bytes, batch: int = 1):
        """Write a batch."""
        knows = self.knows[key]
        for left in range(batch, 0, -1):
            last = [Id(*item) for item in knows.items()]
            heads = [i for i in last if not any(self.clock[j].get(i.writer, 0) >= i.length for j in last if j != i)]
            i = Id(key, knows.get(key, 0) + 1)
            self.nodes[i] = Node(i, tuple(heads), left, key in self.relayed)
            knows[key] = i.length
            self.clock[i] = dict(knows)

    def tell(self, key: bytes, other: bytes, is_partial: bool):
        """Pass all or some known nodes of one writer to another, with their ancestors and with whole batches."""
        knows = self.knows[other]
        for writer, length in sorted(self.knows[key].items()):
            mine = knows.get(writer, 0)
            if length <= mine:
                continue
            if is_partial and self.rng.random() < 0.5:
                length = self.rng.randint(mine + 1, length)
            while self.nodes[Id(writer, length)].batch > 1:
                length += 1
            for k, known in self.clock[Id(writer, length)].items():
                knows[k] = max(knows.get(k, 0), known)

    def base(self) -> Base:
        """Return the base with all nodes."""
        return Base(self.indexers, self.nodes)

    def known_to(self, key: bytes) -> Base:
        """Return the nodes that a writer knows."""
        return self.base().cut(Id(k, at) for k, n in self.knows[key].items() for at in range(1, n + 1))


class Habits(NamedTuple):
    """The habits of writers and their network.

    Attributes:
        steps: The number of steps; at each a writer writes or passes nodes on.
        writing: The share of steps at which a writer writes.
        batches: The share of writes that are batches.
        partial: The share of messages that pass on only some nodes.
        splitting: The probability that a step begins or ends a network split.
    """

    steps: int = 60
    writing: float = 0.4
    batches: float = 0.0
    partial: float = 0.3
    splitting: float = 0.0


def simulated(rng: random.Random, indexers: int, others: int, relayed: int, habits: Habits) -> Gossip:
    """Let writers write nodes and pass them on; network splits separate two halves at times.

    Args:
        rng: The random generator.
        indexers: The number of indexing writers.
        others: The number of non-indexing writers.
        relayed: The number of relayed writers.
        habits: How they write and pass nodes on.
    """
    gossip = Gossip(rng, indexers, others, relayed)
    half = None
    for _ in range(habits.steps):
        if rng.random() < habits.splitting:
            half = {key: rng.random() < 0.5 for key in gossip.writers} if half is None else None
        key, other = rng.choice(gossip.writers), rng.choice(gossip.writers)
        if rng.random() < habits.writing:
            gossip.write(key, rng.randint(2, 3) if rng.random() < habits.batches else 1)
        elif key != other and (half is None or half[key] == half[other]):
            gossip.tell(key, other, rng.random() < habits.partial)
    return gossip


def random_cut(base: Base, rng: random.Random, most: int = 6) -> Base:
    """Pass a few nodes and their ancestors to an observer."""
    ids = sorted(base.nodes)
    return base.cut(pasts_of(base, rng.sample(ids, min(len(ids), rng.randint(1, most)))))
