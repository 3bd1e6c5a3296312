"""Quorums of every degree: the design document's examples, the definition with sets, and large bases."""

import time

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autobase_oracle import Base, Id
from base_tables import chain_table, drawing, named_bases, node_id, rows_of, table_of
from dbt_tangles.algorithms.autobase import quorums as kernel
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA
from dbt_tangles.algorithms.autobase.quorums import QUORUM_SCHEMA, quorums_of_bases
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition
from quorums_oracle import Found, plain_quorums
from rule_search import name


def shown(base: Base, x: str) -> list[str]:
    """Return the quorums over a node in the notation of the document."""
    found = table_quorums(table_of(rows_of("b", base)), 9)
    rows = [(degree, *rest) for (_, i, degree), rest in found.items() if i == node_id(Id(x[0].encode(), int(x[1:])))]
    key = {node_id(i): name(i) for i in base.nodes}
    letters = {k.hex(): k.decode() for k in base.indexers}
    return [f"{degree} at {key[at]}: {' '.join(map(letters.get, writers))}" for degree, at, writers in sorted(rows)]


def table_quorums(table: pa.Table, max_degree: int) -> dict[tuple[str, str, int], tuple[str, list[str]]]:
    found = {}
    for batch in quorums_of_bases(table, max_degree):
        assert batch.schema == QUORUM_SCHEMA
        for row in batch.to_pylist():
            key = row["base_id"], row["node_id"], row["degree"]
            assert key not in found
            found[key] = row["reached_by"], row["writers"]
    return found


def as_rows(base_id: str, found: Found) -> dict[tuple[str, str, int], tuple[str, list[str]]]:
    return {
        (base_id, node_id(x), degree): (node_id(y), [k.hex() for k in voters])
        for (x, degree), (y, voters) in found.items()
    }


# Nodes count from 0 in the document, and from 1 here.


def test_quorums_example():
    chain = drawing("abc", "a1 b1:a1 c1:b1 a2:c1")
    assert shown(chain, "a1") == ["1 at b1: a b", "2 at c1: b c", "3 at a2: a c"]
    assert shown(chain, "b1") == ["1 at c1: b c", "2 at a2: a c"]
    assert shown(chain, "c1") == ["1 at a2: a c"]
    assert shown(chain, "a2") == []


def test_condition_for_consistency_example():
    base = drawing("abc", "a1 c1 c2:a1 b1:c1")
    assert shown(base, "a1") == ["1 at c2: a c"]
    assert shown(base, "c1") == ["1 at b1: b c"]


def test_higher_quorums_example():
    base = drawing("abc", "c1 b1:c1 c2:b1")
    assert shown(base, "c1") == ["1 at b1: b c", "2 at c2: b c"]
    assert shown(base, "b1") == ["1 at c2: b c"]


def test_consistent_ordering_example():
    ours = drawing("abc", "a1 c1:a1 a2:c1")
    assert shown(ours, "a1") == ["1 at c1: a c", "2 at a2: a c"]
    base = drawing("abc", "a1 b1 c1:a1 a2:c1 c2:b1 b2:c2")
    assert shown(base, "a1")[0] == "1 at c1: a c"
    assert shown(base, "b1") == ["1 at c2: b c", "2 at b2: b c"]


@given(named_bases(), st.randoms(use_true_random=True), st.integers(1, 5))
def test_quorums_agree_with_an_oracle_on_sets_in_any_order_of_rows(named, rng, degree):
    rows = [row for base_id, base in named.items() for row in rows_of(base_id, base)]
    rng.shuffle(rows)
    expected = {}
    for base_id, base in named.items():
        expected |= as_rows(base_id, plain_quorums(base, degree))
    table = table_of(rows)
    assert table_quorums(table, degree) == expected
    voters, batch = kernel.VOTERS, kernel.ROWS_PER_BATCH
    try:
        kernel.VOTERS, kernel.ROWS_PER_BATCH = rng.randint(1, 100), rng.randint(1, 20)
        assert table_quorums(table, degree) == expected
    finally:
        kernel.VOTERS, kernel.ROWS_PER_BATCH = voters, batch
    parts = table.to_batches(max_chunksize=5)
    assert sum(batch.num_rows for batch in run_on_partition(quorums_of_bases, iter(parts), degree)) == len(expected)


def test_nodes_settled_before_the_start_are_not_counted():
    base = drawing("abc", "a5 b7:a5 c1:b7")
    base.floor = {b"a": 4, b"b": 6}
    found = table_quorums(table_of(rows_of("b", base, base.floor)), 2)
    assert found == as_rows("b", plain_quorums(base, 2))
    assert len(found) == 3


def test_an_empty_table_gives_no_rows_and_degrees_begin_with_one():
    assert list(quorums_of_bases(INPUT_SCHEMA.empty_table(), 3)) == []
    assert list(run_on_partition(quorums_of_bases, iter([]), 3)) == []
    with pytest.raises(ValueError, match="max_degree is 0"):
        table_quorums(table_of(rows_of("b", drawing("a", "a1"))), 0)


def counted(table: pa.Table, max_degree: int) -> tuple[int, float]:
    """Return the number of quorums and the CPU seconds."""
    table_quorums(table.slice(0, 1), 1)
    begin = time.process_time()
    rows = sum(batch.num_rows for batch in quorums_of_bases(table, max_degree))
    return rows, time.process_time() - begin


def test_a_chain_of_200_000():
    rows, seconds = counted(chain_table("b", 9, 200_000), 3)
    assert rows == sum(200_000 - 4 * degree for degree in (1, 2, 3))
    assert seconds < 10


def test_200_indexers_among_2_000_writers():
    rows, seconds = counted(chain_table("b", 2_000, 5_000, 200), 3)
    assert rows > 0
    assert seconds < 10
