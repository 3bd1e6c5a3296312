"""Stretches at which the two rules differ: the document's example, a comparison position by position, and the limit."""

from itertools import groupby, zip_longest

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import autobase_oracle as oracle
from base_tables import chain_table, drawing, named_bases, node_id, rows_of, table_of
from dbt_tangles.algorithms.autobase import bases as kernel
from dbt_tangles.algorithms.autobase import design
from dbt_tangles.algorithms.autobase.rule_differences import (
    DIFFERENCE_SCHEMA,
    differences_of_bases,
)
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition
from design_oracle import plain_order


def found(table: pa.Table) -> list[tuple]:
    rows = []
    for batch in differences_of_bases(table):
        assert batch.schema == DIFFERENCE_SCHEMA
        rows += [tuple(row.values()) for row in batch.to_pylist()]
    assert len({row[:2] for row in rows}) == len(rows)
    return sorted(rows)


def expected(named: dict[str, oracle.Base]) -> list[tuple]:
    rows = []
    for base_id, base in named.items():
        pairs = enumerate(zip_longest(oracle.order_of(base)[0], plain_order(base)[0]))
        for is_equal, run in groupby(pairs, lambda pair: pair[1][0] == pair[1][1]):
            if not is_equal:
                positions, both = zip(*run, strict=True)
                orders = ([node_id(i) for i in side if i] for side in zip(*both, strict=True))
                rows.append((base_id, positions[0], *orders))
    return sorted(rows)


def test_worst_case_of_the_document():
    """B and c may settle c1 with one unseen node, so the document puts it before a1."""
    base = drawing("abc", "a1 b1 c1:a1 a2:c1 c2:b1,c1 b2:c2")
    a1, c1 = b"a".hex() + ":2", b"c".hex() + ":2"
    assert found(table_of(rows_of("x", base))) == [("x", 3, [a1, c1], [c1, a1])]


def test_an_order_that_ends_earlier():
    """Autobase settles the relayed node f1 with one ack; the document needs one node more."""
    base = drawing("ab", "a1 f1:a1 b1:f1 a2:b1", relayed="f")
    a2, b1, f1 = (f"{letter.encode().hex()}:{length}" for letter, length in (("a", 2), ("b", 1), ("f", 1)))
    assert found(table_of(rows_of("x", base))) == [("x", 1, [f1, b1, a2], [b1, a2])]


@given(named_bases(), st.randoms(use_true_random=True))
def test_each_row_covers_positions_that_differ(named, rng):
    rows = [row for base_id, base in named.items() for row in rows_of(base_id, base)]
    rng.shuffle(rows)
    stated = expected(named)
    table = table_of(rows)
    assert found(table) == stated
    entries = kernel.VIEW_ENTRIES
    try:
        kernel.VIEW_ENTRIES = rng.randint(1, 200)
        assert found(table) == stated
    finally:
        kernel.VIEW_ENTRIES = entries
    parts = table.to_batches(max_chunksize=5)
    assert sum(batch.num_rows for batch in run_on_partition(differences_of_bases, iter(parts))) == len(stated)


def test_a_base_beyond_the_limit_of_the_design_is_left_out(monkeypatch):
    differing = drawing("ab", "a1 f1:a1 b1:f1 a2:b1", relayed="f")
    table = pa.concat_tables([table_of(rows_of("x", differing)), chain_table("y", 3, 10)])
    monkeypatch.setattr(design, "DESIGN_LIMIT", 9)
    assert [row[0] for row in found(table)] == ["x"]
    monkeypatch.setattr(design, "DESIGN_LIMIT", 3)
    assert found(table) == []
