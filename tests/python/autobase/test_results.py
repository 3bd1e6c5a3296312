"""All results of bases, compared with the oracles on sets, in any order of rows and any chunks; limits."""

import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autobase_oracle as oracle
from autobase_oracle import Base
from base_results import NO_LIMIT, plain_results, results, views
from base_tables import bases, drawing, rows_of, simulate, table_of
from dbt_tangles.algorithms.autobase import design, quorums, unsettled, view_changes
from dbt_tangles.algorithms.autobase import results as kernel
from dbt_tangles.algorithms.autobase.results import results_of_bases
from dbt_tangles.kernel_runtime import output
from large_bases import in_rounds, in_turns, large_table

RULES = ("autobase", "design")


@given(st.lists(bases(), max_size=4), st.randoms(use_true_random=True), st.integers(1, 5), st.sampled_from(RULES))
def test_results_agree_with_the_oracles_in_any_order_of_rows(drawn, rng, degree, rule):
    named = {f"base {at}": base for at, base in enumerate(drawn) if base.nodes}
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
    table = pa.concat_tables([large_table(name, 3, in_turns(3, size)) for name, size in sizes.items()])
    found = results(table, rule="design")
    assert {row[0] for row in found["view"]} == {row[0] for row in found["unsettled"]} == {"small", "medium"}
    assert {row[0] for row in found["change"] if row[-1]} == {"medium", "large"}
    assert {row[0] for row in found["quorum"]} == {row[0] for row in found["head"]} == sizes.keys()
    monkeypatch.setattr(kernel, "ENTRY_LIMIT", 3 * 15)
    found = results(table)
    for kind in ("view", "quorum", "unsettled"):
        assert {row[0] for row in found[kind]} == {"small", "medium"}
    assert {row[0] for row in found["head"]} == sizes.keys()


def test_an_observer_beyond_the_step_limit_is_left_out(monkeypatch):
    table = large_table("b", 5, in_rounds(5, 30))
    whole = {row[2]: row for row in results(table)["change"]}
    monkeypatch.setattr(view_changes, "STEPS_PER_NODE", 0)
    monkeypatch.setattr(view_changes, "MORE_STEPS", 5 * 300)
    found = results(table)["change"]
    cut = {row[1]: row for row in found if row[-1]}
    assert len(cut) == 5
    first_cut = {observer: int(row[2].split(":")[1]) for observer, row in cut.items()}
    for observer, row in cut.items():
        assert row[3:] == (None, None, None, None, [], 30 - first_cut[observer] + 1)
        assert 1 < first_cut[observer] < 30
    before = {row[2]: row for row in found if not row[-1]}
    assert before == {at: row for at, row in whole.items() if int(at.split(":")[1]) < first_cut[row[1]]}


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
