"""Prints bases of the oracle as tables; draws bases at random, or reads them from a line of text."""

import random

import pyarrow as pa
from hypothesis import strategies as st

from autobase_oracle import Base, Id, Node
from dbt_tangles.algorithms.autobase.results import results_of_bases
from rule_search import simulate


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
    return [
        {
            "base_id": base_id,
            "node_id": node_id(i),
            "writer": i.writer.hex(),
            "length": i.length,
            "previous": sorted(map(node_id, base.previous(i))),
            "batch": node.batch,
            "is_relayed": node.is_relayed,
            "indexers": sorted(key.hex() for key in base.indexers),
            "start": start and [{"writer": key.hex(), "length": length} for key, length in sorted(start.items())],
        }
        for i, node in base.nodes.items()
    ]


def table_of(rows: list[dict]) -> pa.Table:
    return pa.Table.from_pylist(rows, results_of_bases.reads)


@st.composite
def named_bases(draw) -> dict[str, Base]:
    rng = random.Random(draw(st.integers(0, 2**64)))
    found = {}
    for at in range(draw(st.integers(0, 4))):
        sizes = draw(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 1), st.integers(0, 30)))
        base = simulate(rng, *sizes, batches=draw(st.sampled_from([0.0, 0.3])))
        if base.nodes:
            found[f"base {at}"] = base
    return found


def chain_table(
    base_id: str, writers: int, nodes: int, indexers: int | None = None, rng: random.Random | None = None
) -> pa.Table:
    """Build a chain that writers extend by turns or at random: each node follows the node before."""
    keys = [f"{at:064x}" for at in range(writers)]
    turns = [rng.randrange(writers) if rng else turn % writers for turn in range(nodes)]
    length, own = [0] * writers, [-1] * writers
    ids, lengths, previous = [], [], []
    for turn, writer in enumerate(turns):
        length[writer] += 1
        lengths.append(length[writer])
        previous.append(sorted({ids[p] for p in (turn - 1, own[writer]) if p >= 0}))
        own[writer] = turn
        ids.append(f"{keys[writer]}:{length[writer]}")
    return pa.table(
        {
            "base_id": pa.repeat(base_id, nodes),
            "node_id": ids,
            "writer": [keys[writer] for writer in turns],
            "length": pa.array(lengths, pa.int32()),
            "previous": pa.array(previous, pa.list_(pa.string())),
            "batch": pa.repeat(pa.scalar(1, pa.int32()), nodes),
            "is_relayed": pa.repeat(False, nodes),
            "indexers": pa.array([keys[:indexers]] * nodes, pa.list_(pa.string())),
            "start": pa.nulls(nodes, results_of_bases.reads.field("start").type),
        },
        schema=results_of_bases.reads,
    )
