"""Orders of bases in tables: each observer's order is that of its view alone, independent of the rest of the table."""

import random
import time

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autobase_oracle as oracle
from autobase_oracle import Base, Id
from base_tables import chain_table, named_bases, node_id, rows_of, table_of
from dbt_tangles.algorithms.autobase import bases as kernel
from dbt_tangles.algorithms.autobase import design
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA, ORDER_SCHEMA, order_bases
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition
from rule_search import answers, simulate

NO_LIMIT = 10**9
RULES = ("autobase", "design")

Orders = dict[tuple[str, str], tuple[list[str], int]]


def orders(table: pa.Table, row_limit: int = NO_LIMIT, rule: str = "autobase") -> Orders:
    """Return the order of each base and observer, and its confirmed length."""
    found: Orders = {}
    for batch in order_bases(table, row_limit, rule):
        assert batch.schema == ORDER_SCHEMA
        for row in batch.to_pylist():
            order, confirmed = found.get((row["base_id"], row["observer"]), ([], 0))
            assert row["position"] == len(order)
            assert not row["is_confirmed"] or confirmed == len(order)
            order.append(row["node_id"])
            found[row["base_id"], row["observer"]] = order, confirmed + row["is_confirmed"]
    return found


def views(base: Base) -> dict[str, Base]:
    """Return the view of each observer: a writer sees its last node and all ancestors."""
    last = {i.writer: i for i in sorted(base.nodes)}
    return {"all": base, **{key.hex(): base.cut(base.past[i]) for key, i in last.items()}}


def expected(named: dict[str, Base], rule: str) -> Orders:
    cuts = {(base_id, who): cut for base_id, base in named.items() for who, cut in views(base).items()}
    found = [oracle.order_of(cut) for cut in cuts.values()] if rule == "autobase" else answers([*cuts.values()], rule)
    by_view = zip(cuts, found, strict=True)
    return {key: (list(map(node_id, order)), confirmed) for key, (order, confirmed) in by_view if order}


@given(named_bases(), st.randoms(use_true_random=True), st.sampled_from(RULES))
def test_each_observer_has_the_order_of_its_known_nodes(named, rng, rule):
    rows = [row for base_id, base in named.items() for row in rows_of(base_id, base)]
    rng.shuffle(rows)
    table = table_of(rows)
    found = orders(table, rule=rule)
    assert found == expected(named, rule)
    # The result does not depend on batches or on the number of views ordered together.
    cut = rng.randint(0, len(rows))
    pieces = [*table.slice(0, cut).to_batches(), *table.slice(cut).to_batches()]
    assert pa.Table.from_batches(
        run_on_partition(order_bases, iter(pieces), NO_LIMIT, rule), ORDER_SCHEMA
    ).num_rows == sum(len(order) for order, _ in found.values())
    assert orders(pa.Table.from_batches(pieces, INPUT_SCHEMA), rule=rule) == found
    entries, batch = kernel.VIEW_ENTRIES, kernel.ROWS_PER_BATCH
    try:
        kernel.VIEW_ENTRIES, kernel.ROWS_PER_BATCH = rng.randint(1, 200), rng.randint(1, 20)
        assert orders(table, rule=rule) == found
    finally:
        kernel.VIEW_ENTRIES, kernel.ROWS_PER_BATCH = entries, batch


def test_nodes_settled_before_the_start_are_not_counted():
    rng = random.Random(5)
    seen = 0
    for _ in range(40):
        base = simulate(rng, 3, 1, 0, 30)
        order, confirmed = oracle.order_of(base)
        settled = set(order[:confirmed])
        start = {key: sum(i.writer == key for i in settled) for key in {i.writer for i in base.nodes}}
        rest = Base(base.indexers, {i: node for i, node in base.nodes.items() if i not in settled}, start)
        assert orders(table_of(rows_of("b", rest, start))) == expected({"b": rest}, "autobase")
        if any(i.writer in base.indexers and start[i.writer] for i in rest.nodes):
            seen += 1
            with pytest.raises(ValueError, match="not above its floor"):
                orders(table_of(rows_of("b", rest)))
    assert seen > 10


def test_a_relayed_writer_observes_but_unsettled_nodes_of_it_have_no_position():
    r, a = Id(b"r", 1), Id(b"a", 1)
    base = Base((b"a",), {r: oracle.Node(r, is_relayed=True), a: oracle.Node(a)})
    assert orders(table_of(rows_of("b", base))) == {
        ("b", "all"): ([node_id(a)], 1),
        ("b", b"a".hex()): ([node_id(a)], 1),
    }


def test_a_large_base_has_one_observer():
    base = simulate(random.Random(6), 3, steps=40)
    table = table_of([*rows_of("b", base), *rows_of("c", base)])
    entries = len({i.writer for i in base.nodes}) * len(base.nodes)
    whole = orders(table, entries)
    assert {who for _, who in whole} == {"all", *(key.hex() for key in base.indexers)}
    assert orders(table, entries - 1) == {key: order for key, order in whole.items() if key[1] == "all"}


def test_inconsistent_tables_are_refused():
    base = simulate(random.Random(7), 2, steps=20)
    rows = rows_of("b", base)
    for name in ("base_id", "node_id", "writer", "length", "batch", "is_relayed"):
        with pytest.raises(ValueError, match=f"a {name} of the nodes is null"):
            orders(table_of([{**rows[0], name: None}, *rows[1:]]))
    with pytest.raises(ValueError, match="is in base b twice"):
        orders(table_of([*rows, rows[3]]))
    with pytest.raises(ValueError, match="of base b follows what is not there"):
        orders(table_of([{**rows[0], "previous": ["nothing:1"]}, *rows[1:]]))
    with pytest.raises(ValueError, match="a writer in indexers or start is null"):
        orders(table_of([{**row, "indexers": [None]} for row in rows]))
    with pytest.raises(ValueError, match="no rule is called 'other'; there are autobase, design"):
        orders(table_of(rows), rule="other")
    loop = [{**row, "indexers": [], "previous": [other["node_id"]]} for row, other in ((rows[0], rows[1]), rows[1::-1])]
    with pytest.raises(ValueError, match="cycle"):
        orders(table_of(loop))


def test_too_many_nodes_for_the_design_documents_rule():
    table = pa.concat_tables([chain_table("small", 2, 10), chain_table("large", 3, design.DESIGN_LIMIT + 1)])
    assert {base for base, _ in orders(table, rule="design")} == {"small"}


def counted(batches) -> tuple[int, int, float]:
    """Return the number of rows, of confirmed rows, and the CPU seconds."""
    begin = time.process_time()
    rows = confirmed = 0
    for batch in batches:
        rows += batch.num_rows
        confirmed += batch["is_confirmed"].true_count
    return rows, confirmed, time.process_time() - begin


def test_a_chain_of_200_000():
    orders(table_of(rows_of("b", simulate(random.Random(8), 3))))
    table = chain_table("b", 9, 200_000)
    rows, confirmed, seconds = counted(order_bases(table, 100_000))
    assert (rows, confirmed) == (200_000, 200_000 - 8)
    assert seconds < 5
    rows, confirmed, seconds = counted(order_bases(table, NO_LIMIT))
    assert rows == 200_000 * 10 - sum(range(9))
    assert confirmed == rows - 10 * 8
    assert seconds < 30


@pytest.mark.long
def test_200_writers_in_a_random_chain():
    """Each of 201 observers sees nearly all nodes; each confirmation is a question about 200 indexers."""
    orders(table_of(rows_of("b", simulate(random.Random(8), 3))))
    rows, confirmed, seconds = counted(order_bases(chain_table("b", 200, 4_000, rng=random.Random(1)), NO_LIMIT))
    assert (rows, confirmed) == (762_956, 704_240)
    assert seconds < 8


def test_10_000_bases():
    rng = random.Random(9)
    orders(table_of(rows_of("b", simulate(rng, 3))))
    drawn = [rows_of("", simulate(rng, 3, 1, 0, 27)) for _ in range(100)]
    rows = [{**row, "base_id": f"base {at}"} for at in range(10_000) for row in drawn[at % 100]]
    table = table_of(rows)
    assert len(table) > 150_000
    rows, confirmed, seconds = counted(order_bases(table, 10_000))
    assert 0 < confirmed < rows
    assert seconds < 10
