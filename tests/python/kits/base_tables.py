"""Prints bases of the oracle as tables; draws bases at random, or reads them from a line of text."""

import random

import pyarrow as pa
from hypothesis import strategies as st

from autobase_oracle import Base, Id, Node
from dbt_tangles.algorithms.autobase.results import results_of_bases


def drawing(indexers: str, words: str, relayed: str = "") -> Base:
    """Read a base, one node per word: writer, length, optionally *batch, and after a colon the heads."""
    nodes = {}
    for word in words.split():
        head, _, heads = word.partition(":")
        head, _, batch = head.partition("*")
        i, *above = (Id(n[0].encode(), int(n[1:])) for n in (head, *filter(None, heads.split(","))))
        nodes[i] = Node(i, tuple(above), int(batch or 1), head[0] in relayed)
    return Base(tuple(key.encode() for key in indexers), nodes)


def node_id(i: Id) -> str:
    return f"{i.writer.hex()}:{i.length}"


def rows_of(base_id: str, base: Base, start: dict[bytes, int] | None = None) -> list[dict]:
    indexers = sorted(key.hex() for key in base.indexers)
    return [
        {
            "base_id": base_id,
            "node_id": node_id(i),
            "writer": i.writer.hex(),
            "length": i.length,
            "previous": sorted(map(node_id, base.previous(i))),
            "batch": node.batch,
            "is_relayed": node.is_relayed,
            "indexers": indexers,
            "start": start and [{"writer": key.hex(), "length": length} for key, length in sorted(start.items())],
        }
        for i, node in base.nodes.items()
    ]


def table_of(rows: list[dict]) -> pa.Table:
    return pa.Table.from_pylist(rows, results_of_bases.reads)


def simulate(
    rng: random.Random,
    indexers: int,
    others: int = 0,
    relayed: int = 0,
    steps: int = 12,
    batches: float = 0.0,
) -> Base:
    """Let writers write on top of the nodes they know, and learn the nodes of another writer or the past of one."""
    keys = [letter.encode() for letter in "abcdefghijklm"[: indexers + others + relayed]]
    rng.shuffle(keys)
    base = Base(tuple(sorted(keys[:indexers])), {})
    past: dict[Id, frozenset[Id]] = {}
    knows: dict[bytes, frozenset[Id]] = {key: frozenset() for key in keys}
    for _ in range(steps if keys else 0):
        key, other = rng.choice(keys), rng.choice(keys)
        heard = sorted(i for i in knows[other] if base.nodes[i].batch == 1)
        if heard:
            knows[key] |= past[rng.choice(heard)] if rng.random() < 0.3 else knows[other]
        if rng.random() < 0.3:
            continue
        for left in range(rng.randint(2, 3) if rng.random() < batches else 1, 0, -1):
            heads = [i for i in sorted(knows[key]) if not any(i in past[j] for j in knows[key] if j != i)]
            i = Id(key, sum(j.writer == key for j in knows[key]) + 1)
            base.nodes[i] = Node(i, tuple(heads), left, key in keys[indexers + others :])
            past[i] = knows[key] | {i}
            knows[key] = past[i]
    return base


@st.composite
def bases(draw) -> Base:
    """Draw a base, from whose end the last nodes of a batch may be absent."""
    rng = random.Random(draw(st.integers(0, 2**64)))
    sizes = draw(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 1), st.integers(0, 40)))
    base = simulate(rng, *sizes, batches=draw(st.sampled_from([0.0, 0.3])))
    followed = {p for i in base.nodes for p in base.previous(i)}
    ends = {i for i in sorted(base.nodes.keys() - followed) if rng.random() < 0.3}
    return base.cut(base.nodes.keys() - ends)
