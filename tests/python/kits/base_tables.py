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
