"""All results of bases, compared with the oracles on sets, in any order of rows and any chunks; limits; large bases."""

import random
import time

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autobase_oracle as oracle
from autobase_oracle import Base
from base_results import NO_LIMIT, plain_results, results, views
from base_tables import chain_table, drawing, named_bases, rows_of, table_of
from dbt_tangles.algorithms.autobase import design, quorums, unsettled
from dbt_tangles.algorithms.autobase import results as kernel
from dbt_tangles.algorithms.autobase.results import results_of_bases
from dbt_tangles.kernel_runtime import output
from rule_search import simulate

RULES = ("autobase", "design")


@given(named_bases(), st.randoms(use_true_random=True), st.integers(1, 5), st.sampled_from(RULES))
def test_results_agree_with_the_oracles_in_any_order_of_rows(named, rng, degree, rule):
    rows = [row for base_id, base in named.items() for row in rows_of(base_id, base)]
    rng.shuffle(rows)
    table = table_of(rows)
    expected = plain_results(named, degree, rule)
    assert results(table, NO_LIMIT, degree, rule) == expected
    # The result does not depend on batches, or on how much is handled together.
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((kernel, "TOGETHER"), (unsettled, "TOGETHER"), (quorums, "VOTERS")):
            patch.setattr(module, name, rng.randint(1, 200))
        patch.setattr(output, "ROWS_PER_BATCH", rng.randint(1, 20))
        assert results(table, NO_LIMIT, degree, rule) == expected
    parts = pa.Table.from_batches(table.to_batches(max_chunksize=5), table.schema)
    found = pa.Table.from_batches(results_of_bases(parts, NO_LIMIT, degree, rule), results_of_bases.writes)
    assert found.num_rows == sum(map(len, expected.values()))


def test_nodes_settled_before_the_start_are_not_counted():
    rng = random.Random(5)
    named = {}
    for at in range(40):
        base = simulate(rng, 3, 1, 0, 30)
        order, confirmed = oracle.order_of(base)
        settled = set(order[:confirmed])
        start = {key: sum(i.writer == key for i in settled) for key in {i.writer for i in base.nodes}}
        rest = {i: node for i, node in base.nodes.items() if i not in settled}
        named[f"base {at}"] = Base(base.indexers, rest, start)
    table = table_of([row for name, base in named.items() for row in rows_of(name, base, base.floor)])
    assert results(table) == plain_results(named)
    cut = [
        base
        for base in named.values()
        if any(base.floor.get(i.writer) for i in base.nodes if i.writer in base.indexers)
    ]
    assert len(cut) > 10
    for base in cut:
        with pytest.raises(ValueError, match="not above its floor"):
            results(table_of(rows_of("b", base)))


def test_a_large_base_has_one_observer_and_no_changes():
    base = simulate(random.Random(6), 3, steps=40)
    table = table_of([*rows_of("b", base), *rows_of("c", base)])
    writers = {i.writer for i in base.nodes}
    entries = len(writers) * len(base.nodes)
    whole, limited = results(table, entries), results(table, entries - 1)
    assert {row[1] for row in whole["view"]} == views(base).keys()
    assert limited["view"] == [row for row in whole["view"] if row[1] == "all"]
    assert {kind: limited[kind] for kind in ("head", "quorum", "unsettled")} == {
        kind: whole[kind] for kind in ("head", "quorum", "unsettled")
    }
    assert {row[:2] for row in limited["change"]} == {(b, w.hex()) for b in "bc" for w in writers}
    assert sum(row[-1] for row in limited["change"]) == 2 * len(base.nodes)
    assert {(*row[3:7], *row[7]) for row in limited["change"]} == {(None,) * 4}
    assert {row[2].split(":")[1] for row in limited["change"]} == {"1"}


def test_limits_of_the_documents_rule_and_of_clocks(monkeypatch):
    monkeypatch.setattr(design, "DESIGN_LIMIT", 15)
    monkeypatch.setattr(kernel, "DESIGN_FOLLOW_LIMIT", 9)
    sizes = {"small": 9, "medium": 15, "large": 16}
    table = pa.concat_tables([chain_table(name, 3, size) for name, size in sizes.items()])
    found = results(table, rule="design")
    assert {row[0] for row in found["view"]} == {row[0] for row in found["unsettled"]} == {"small", "medium"}
    assert {row[0] for row in found["change"] if row[-1]} == {"medium", "large"}
    assert {row[0] for row in found["quorum"]} == {row[0] for row in found["head"]} == sizes.keys()
    monkeypatch.setattr(kernel, "ENTRY_LIMIT", 3 * 15)
    found = results(table)
    for kind in ("view", "quorum", "unsettled"):
        assert {row[0] for row in found[kind]} == {"small", "medium"}
    assert {row[0] for row in found["head"]} == sizes.keys()


def test_inconsistent_tables_are_refused():
    base = simulate(random.Random(7), 2, steps=20)
    rows = rows_of("b", base)
    for name in ("base_id", "node_id", "writer", "length", "batch", "is_relayed"):
        with pytest.raises(ValueError, match=f"a {name} is null or absent"):
            results(table_of([{**rows[0], name: None}, *rows[1:]]))
    with pytest.raises(ValueError, match="is in base b twice"):
        results(table_of([*rows, rows[3]]))
    with pytest.raises(ValueError, match="of base b follows what is not there"):
        results(table_of([{**rows[0], "previous": ["nothing:1"]}, *rows[1:]]))
    with pytest.raises(ValueError, match="a writer in indexers or start is null"):
        results(table_of([{**row, "indexers": [None]} for row in rows]))
    with pytest.raises(ValueError, match="has a hole"):
        results(table_of(rows_of("b", drawing("a", "a1 a3"))))
    with pytest.raises(ValueError, match="no rule is called 'other'; there are autobase, design"):
        results(table_of(rows), rule="other")
    with pytest.raises(ValueError, match="max_degree is 0"):
        results(table_of(rows), max_degree=0)
    loop = [{**row, "indexers": [], "previous": [other["node_id"]]} for row, other in ((rows[0], rows[1]), rows[1::-1])]
    with pytest.raises(ValueError, match="cycle"):
        results(table_of(loop))


def counted(table: pa.Table, row_limit: int = NO_LIMIT) -> tuple[dict[str, int], float]:
    """Return the number of rows of each kind, and the CPU seconds."""
    results(table_of(rows_of("b", simulate(random.Random(8), 3))))
    begin = time.process_time()
    found: dict[str, int] = {}
    for batch in results_of_bases(table, row_limit, 3):
        kind = batch["row_kind"][0].as_py()
        found[kind] = found.get(kind, 0) + batch.num_rows
        if kind == "view":
            found["confirmed"] = found.get("confirmed", 0) + batch["is_confirmed"].true_count
    return found, time.process_time() - begin


@pytest.mark.long
def test_a_chain_of_200_000():
    found, seconds = counted(chain_table("b", 9, 200_000), 100_000)
    assert (found["view"], found["confirmed"]) == (200_000, 200_000 - 8)
    assert found["quorum"] == sum(200_000 - 4 * degree for degree in (1, 2, 3))
    assert seconds < 20


@pytest.mark.long
def test_10_000_bases():
    rng = random.Random(9)
    drawn = [rows_of("", simulate(rng, 3, 1, 0, 27)) for _ in range(100)]
    table = table_of([{**row, "base_id": f"base {at}"} for at in range(10_000) for row in drawn[at % 100]])
    assert len(table) > 150_000
    found, seconds = counted(table, 10_000)
    assert 0 < found["confirmed"] < found["view"]
    assert seconds < 240


@pytest.mark.long
def test_200_writers_in_a_random_chain():
    """Each of 201 observers sees nearly all nodes; each confirmation is a question about 200 indexers."""
    found, seconds = counted(chain_table("b", 200, 4_000, rng=random.Random(1)))
    assert (found["view"], found["confirmed"]) == (762_956, 704_240)
    assert found["change"] > 3_000
    assert seconds < 240
