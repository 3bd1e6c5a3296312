"""Heads: the previous nodes of a writer's next node, compared with sets and written to the base."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import autobase_oracle as oracle
from autobase_oracle import Base, Id, Node
from base_tables import drawing, named_bases, node_id, rows_of, table_of
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA
from dbt_tangles.algorithms.autobase.heads import HEAD_SCHEMA, heads_of_bases
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition


def heads(named: dict[str, Base], rng=None) -> dict[str, set[str]]:
    rows = [row for base_id, base in named.items() for row in rows_of(base_id, base)]
    if rng:
        rng.shuffle(rows)
    found: dict[str, set[str]] = {base_id: set() for base_id in named}
    for batch in heads_of_bases(table_of(rows)):
        assert batch.schema == HEAD_SCHEMA
        for row in batch.to_pylist():
            assert row["node_id"] not in found[row["base_id"]]
            found[row["base_id"]].add(row["node_id"])
    return found


def plain_heads(base: Base) -> set[Id]:
    """Return the nodes that can be followed and have no follower that can be followed."""
    able = {i for i, node in base.nodes.items() if node.batch == 1 and not node.is_relayed}
    return {i for i in able if not any(i in base.past[j] for j in able - {i})}


@given(named_bases(), st.randoms(use_true_random=True))
def test_heads_are_the_nodes_that_no_usable_node_follows(named, rng):
    expected = {base_id: {node_id(i) for i in plain_heads(base)} for base_id, base in named.items()}
    assert heads(named, rng) == expected
    for base in named.values():
        # A node on top of the heads knows all nodes that can be followed, and its ancestors are in the order.
        writer = base.indexers[0] if base.indexers else b"z"
        last = max([i for i in base.nodes if i.writer == writer], default=None)
        if last and base.nodes[last].batch > 1:
            continue
        new = Id(writer, last.length + 1 if last else 1)
        more = Base(base.indexers, {**base.nodes, new: Node(new, tuple(sorted(plain_heads(base))))})
        assert {i for i, n in base.nodes.items() if n.batch == 1 and not n.is_relayed} <= more.past[new]
        assert new in oracle.order_of(more)[0]


def test_an_empty_table_gives_no_rows():
    assert list(heads_of_bases(INPUT_SCHEMA.empty_table())) == []
    assert list(run_on_partition(heads_of_bases, iter([]))) == []
    parts = table_of(rows_of("b", drawing("a", "a1 a2 a3"))).to_batches(max_chunksize=1)
    assert pa.Table.from_batches(run_on_partition(heads_of_bases, iter(parts))).num_rows == 1
