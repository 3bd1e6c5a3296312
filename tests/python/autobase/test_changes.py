"""Changes of views: undone and settled nodes at each node of each writer."""

import random
import time

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import changes_oracle as oracle
from autobase_oracle import Base
from base_tables import chain_table, drawing, named_bases, node_id, rows_of, table_of
from dbt_tangles.algorithms.autobase import bases as tables
from dbt_tangles.algorithms.autobase import following
from dbt_tangles.algorithms.autobase import view_changes as kernel
from dbt_tangles.algorithms.autobase.view_changes import CHANGE_SCHEMA, changes_of_bases
from dbt_tangles.kernel_runtime.arrow_batches import run_on_partition
from rule_search import name, simulate

NO_LIMIT = 10**9
RULES = ("autobase", "design")


def rows(table: pa.Table, row_limit: int = NO_LIMIT, rule: str = "autobase") -> list[dict]:
    found = []
    for batch in changes_of_bases(table, row_limit, rule):
        assert batch.schema == CHANGE_SCHEMA
        found += batch.to_pylist()
    return found


def changes(table: pa.Table, rule: str = "autobase") -> dict[tuple[str, str], tuple]:
    """Return the changes by base and node."""
    found = {}
    for row in rows(table, rule=rule):
        assert row["left_out"] == 0
        assert row["at_node"].startswith(f"{row['observer']}:")
        settled = [(s["node_id"], s["contender"]) for s in row["settled"]]
        key = row["base_id"], row["at_node"]
        assert key not in found
        found[key] = row["old_length"], row["kept"], row["undone"], row["appended"], settled
    return found


def expected(named: dict[str, Base], rule: str = "autobase") -> dict[tuple[str, str], tuple]:
    found = {}
    for base_id, base in named.items():
        for at, change in oracle.changes(base, rule).items():
            settled = [(node_id(x), c and node_id(c)) for x, c in change.settled]
            found[base_id, node_id(at)] = *change[:4], settled
    return found


def shown(base: Base, rule: str = "autobase") -> dict[str, str]:
    """Return the changes of one base; the oracle must agree."""
    assert changes(table_of(rows_of("b", base)), rule) == expected({"b": base}, rule)
    found = {}
    for at, change in oracle.changes(base, rule).items():
        settled = [name(x) + (f"/{name(c)}" if c else "") for x, c in change.settled]
        found[name(at)] = " ".join([f"{change.kept}-{change.undone}+{change.appended}", *settled])
    return found


@given(named_bases(), st.randoms(use_true_random=True), st.sampled_from(RULES))
def test_changes_agree_with_views_ordered_from_scratch(named, rng, rule):
    of_bases = [row for base_id, base in named.items() for row in rows_of(base_id, base)]
    rng.shuffle(of_bases)
    table = table_of(of_bases)
    found = changes(table, rule)
    assert found == expected(named, rule)
    parts = table.to_batches(max_chunksize=5)
    assert sum(batch.num_rows for batch in run_on_partition(changes_of_bases, iter(parts), NO_LIMIT, rule)) == len(
        found
    )
    entries, batch = tables.VIEW_ENTRIES, kernel.ROWS_PER_BATCH
    try:
        tables.VIEW_ENTRIES, kernel.ROWS_PER_BATCH = rng.randint(1, 200), rng.randint(1, 20)
        assert changes(table, rule) == found
    finally:
        tables.VIEW_ENTRIES, kernel.ROWS_PER_BATCH = entries, batch


# Nodes count from 0 in the document, and from 1 here.


def test_a_view_that_only_grows_is_not_rebased():
    assert shown(drawing("abc", "a1 b1:a1 c1:b1 a2:c1")) == {"c1": "0-0+3 a1", "a2": "1-0+3 a1 b1"}


def test_conflict_example_is_rebased_once_b_has_synced_a():
    base = drawing("abc", "a1 c1 c2:a1 b1:c1 b2:c2")
    assert shown(base) == {"c2": "0-1+3", "b2": "0-2+5"}


@pytest.mark.parametrize(("keys", "rebases"), [("abc", "1-1+3"), ("bac", "0-2+4")])
def test_consistent_ordering_example(keys, rebases):
    a, b, c = keys
    base = drawing("abc", f"{a}1 {b}1 {c}1:{a}1 {a}2:{c}1 {c}2:{b}1 {b}2:{c}2")
    assert shown(base)[f"{c}2"] == rebases
    assert shown(base)[f"{a}2"] == f"1-0+2 {a}1"
    # By the document, c keeps the node of a in front.
    assert shown(base, "design")[f"{c}2"] == "1-1+3"
    assert shown(base, "design")[f"{a}2"] == f"1-0+2 {a}1"


def test_caveat_example_has_a_contender():
    assert shown(drawing("abc", "a1 c1 c2:a1 a2:c2 b1:c2 a3:b1")) == {"c2": "0-1+3", "a3": "4-0+2 a1/c1 c1 c2"}


def test_relayed_nodes_enter_the_view_when_they_are_settled():
    assert shown(drawing("ab", "a1 f1:a1 b1:f1 a2:b1 f2", relayed="f")) == {"b1": "0-0+2 a1", "a2": "1-0+3 a1 f1 b1"}
    assert shown(drawing("ab", "c1 f1:c1 a1:f1 c2 b1:a1,c2 a2:b1", relayed="f"))["a2"] == "1-1+5 c1 f1 a1 c2 b1"


def test_earlier_settled_nodes_and_bases_without_indexers():
    base = drawing("abc", "a5 b7:a5 c1:b7")
    base.floor = {b"a": 4, b"b": 6}
    assert changes(table_of(rows_of("b", base, base.floor))) == expected({"b": base})
    assert shown(drawing("", "b1 a1 b2:a1")) == {"b2": "0-1+3"}
    assert not changes(table_of(rows_of("b", drawing("x", "b1"))))


def test_a_base_beyond_the_limit_is_marked():
    base = simulate(random.Random(6), 3, steps=40)
    table = table_of([*rows_of("b", base), *rows_of("c", base)])
    writers = {i.writer for i in base.nodes}
    found = rows(table, len(writers) * len(base.nodes) - 1)
    assert {(r["base_id"], r["observer"]) for r in found} == {(b, w.hex()) for b in "bc" for w in writers}
    assert sum(r["left_out"] for r in found) == 2 * len(base.nodes)
    assert {(*(r[c] for c in ("old_length", "kept", "undone", "appended")), *r["settled"]) for r in found} == {
        (None,) * 4
    }
    assert {r["at_node"].split(":")[1] for r in found} == {"1"}
    large = chain_table("large", 3, kernel.DESIGN_FOLLOW_LIMIT + 1)
    assert sum(r["left_out"] for r in rows(large, rule="design")) == kernel.DESIGN_FOLLOW_LIMIT + 1
    with pytest.raises(ValueError, match="no rule is called 'other'"):
        rows(large, rule="other")


def timed(table: pa.Table) -> tuple[list[pa.RecordBatch], float]:
    rows(table.slice(0, 1))
    begin = time.process_time()
    return list(changes_of_bases(table, NO_LIMIT)), time.process_time() - begin


def test_a_chain_of_50_000():
    found, seconds = timed(chain_table("b", 5, 50_000))
    assert all(not any(batch["undone"].to_pylist()) for batch in found)
    assert sum(batch.num_rows for batch in found) > 49_000
    assert seconds < 10


@pytest.mark.long
def test_200_writers_in_a_random_chain_are_followed():
    found, seconds = timed(chain_table("b", 200, 4_000, rng=random.Random(1)))
    assert all(not any(batch["undone"].to_pylist()) for batch in found)
    assert sum(batch.num_rows for batch in found) > 3_000
    assert seconds < 10


def forked(rounds: int, writers: int = 5) -> pa.Table:
    """Write in rounds, each writer on top of the whole round before: the views are rebased and never settle."""
    keys = [bytes([97 + at]) for at in range(writers)]
    words = [
        f"{k.decode()}{at + 1}" + (":" + ",".join(f"{o.decode()}{at}" for o in keys if o != k) if at else "")
        for at in range(rounds)
        for k in keys
    ]
    return table_of(rows_of("b", drawing("".join(k.decode() for k in keys), " ".join(words))))


def test_endless_forks_take_less_than_quadratic_time():
    rows(forked(3))
    seconds = []
    for rounds in (500, 2_000):
        found, spent = timed(forked(rounds))
        undone = sum(sum(batch["undone"].to_pylist()) for batch in found)
        # Each round goes behind the one before; only nodes of lesser keys come before the writer's own node.
        assert undone > 0
        assert not any(sum(batch["left_out"].to_pylist()) for batch in found)
        seconds.append(spent)
    assert seconds[1] < 8 * seconds[0] + 1


def test_an_observer_beyond_the_step_limit_is_left_out(monkeypatch):
    table = forked(30)
    whole = {row["at_node"]: row for row in rows(table)}
    monkeypatch.setattr(following, "STEPS_PER_NODE", 0)
    monkeypatch.setattr(following, "MORE_STEPS", 50)
    found = rows(table)
    cut = {row["observer"]: row for row in found if row["left_out"]}
    assert len(cut) == 5
    for row in cut.values():
        assert (row["old_length"], row["settled"]) == (None, [])
        assert row["left_out"] == 30 - int(row["at_node"].split(":")[1]) + 1
    before = {row["at_node"]: row for row in found if not row["left_out"]}
    first_cut = {observer: int(row["at_node"].split(":")[1]) for observer, row in cut.items()}
    assert before == {at: row for at, row in whole.items() if int(at.split(":")[1]) < first_cut[row["observer"]]}
