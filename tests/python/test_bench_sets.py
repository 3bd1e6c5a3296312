"""Made-up sets and their measurement, in small. These tests neither time nor start Spark."""

import random
from itertools import count, groupby

import pyarrow as pa
import pytest

from bench import __main__ as command
from bench import pzp_peer, pzp_sets, sets
from cli_kit import declared
from dbt_tangles.algorithms.set.set_batches import OUTPUT_SCHEMA, reduce_set_batches
from set_cases import cases, rows_of
from set_oracle import NaiveSet
from set_tables import reduced

HAS_NODE = pytest.mark.skipif(pzp_peer.node() is None, reason="needs node")


def answer(table: pa.Table) -> list[dict]:
    """Judge and reduce the sets of a table."""
    batches = table.select(pzp_sets.INPUT_SCHEMA.names).to_batches()
    return pa.Table.from_batches(list(reduce_set_batches(iter(batches), 32, False)), OUTPUT_SCHEMA).to_pylist()


def reference(table: pa.Table) -> NaiveSet:
    """Return one set in the oracle's form."""
    return NaiveSet([row | {"depth": row["depth"] or 0} for row in table.to_pylist()])


@pytest.mark.parametrize(("number", "messages"), [(1, 2_000), (200, 10)])
def test_made_sets_are_valid_and_without_fault(number, messages):
    """Writers follow all rules."""
    rows = answer(sets.shuffled(pzp_sets.table(number, messages)))
    assert len(rows) == number * messages
    assert all(row["is_valid"] and row["are_writers_checked"] and not row["writer_faults"] for row in rows)
    assert len({row["set_id"] for row in rows if row["is_moot"]}) == number


def test_devices_write_concurrently_and_merge():
    table = pzp_sets.table(1, 1_000)
    depths = table["depth"].drop_null().to_pylist()
    assert len(set(depths)) < 900 and max(depths) > 300
    before, merges = {}, 0
    for row in table.to_pylist():
        listed = [before[each] for each in row["prev"] or []]
        assert row["is_moot"] or row["depth"] == max(listed) + 1
        merges += listed.count((row["depth"] or 0) - 1) > 1
        before[row["message_id"]] = row["depth"] or 0
    assert merges > 10


def test_writers_supersede_the_last_known_messages_of_an_item():
    """A message supersedes all known messages about the item that no other known one about it follows."""
    rows = pzp_sets.table(1, 300).to_pylist()
    known = {}
    touches = {}
    for row in rows:
        known[row["message_id"]] = {row["message_id"]}.union(*(known[each] for each in row["prev"] or []))
        for item in (row["add"] or []) + (row["del"] or []):
            earlier = [each for each in touches.get(item, []) if each in known[row["message_id"]]]
            last = {a for a in earlier if not any(a in known[b] for b in earlier if b != a)}
            assert last <= set(row["supersedes"])
            touches.setdefault(item, []).append(row["message_id"])
    assert sum(len(row["supersedes"]) > 1 for row in rows) > 30
    assert {len(row["add"] or []) + len(row["del"] or []) for row in rows[1:]} == {1}


def test_devices_disagree_about_items():
    """Two writers who did not know of each other touched the same item."""
    numbers = count()
    written = [
        draft
        for draft, _ in pzp_sets.grow(
            2_000, "root", lambda _: f"m{next(numbers):04}", (f"i{n}" for n in count()), random.Random(1)
        )
    ]
    touched = sorted((item, draft.depth) for draft in written for item in draft.add + draft.deleted)
    assert any(len(list(same)) > 1 for _, same in groupby(touched))


def test_made_sets_equal_the_oracle():
    table = pzp_sets.table(1, 400)
    assert sets.items_of(table, pa.Table.from_pylist(answer(table))) == list(reference(table).items())
    found = reduced([row | {"depth": row["depth"] or 0} for row in table.to_pylist()])
    [(summary, _, _)] = found.values()
    assert summary["item_roots"] == reference(table).item_roots()


def test_a_seed_is_a_table():
    assert pzp_sets.table(3, 20).equals(pzp_sets.table(3, 20))
    assert not pzp_sets.table(3, 20).equals(pzp_sets.table(3, 20, seed=2))


def test_ids_are_32_bytes_in_base58():
    ids = pzp_sets.names(200, 1)
    assert len(set(ids)) == 200 and {len(each) for each in ids} <= {42, 43, 44}
    assert all(each is not None for each in pzp_sets.base58.decode(ids, 32))


def test_lipmaa_links_are_those_of_the_peers():
    """A writer who knows the whole set lists these messages."""
    asked = 0
    for name in ("pzp_real", "pzp_synth"):
        for case in cases(name):
            expected = case["expected"]
            depth = {row["message_id"]: row["depth"] for row in rows_of(case)}
            if (listed := expected.get("lipmaaPrevOfNext")) and case["mootID"] in depth:
                level = pzp_sets.lipmaa(expected["maxDepth"] + 2) - 1
                wanted = {each for each in depth if depth[each] == level} | set(expected["tips"])
                assert sorted(wanted) == listed
                asked += 1
    assert asked > 100


def test_entries_have_the_columns_of_the_model():
    """`int_set_messages` gets the columns that dbt would give it."""
    for name in sets.SHAPES:
        assert sets.entries(name, 0.0002).schema == declared("int_set_entries")


@HAS_NODE
def test_the_peers_algorithm_comes_to_the_same_items():
    """The kernel reads rows in any order; the peer reads them in the order of writing."""
    table = pzp_sets.table(1, 500)
    found = pzp_peer.run(pzp_peer.question(table))
    assert found.items == list(reference(table).items())
    assert found.cpu_s > 0


def test_speed_is_measured_without_spark(monkeypatch):
    """All parts run in small; the part fails if the peer's algorithm finds other items."""
    results, goals = sets.run(command.parse(["sets", "--scale", "0.01", "--repeats", "2"]))
    assert [result["part"] for result in results] == ["kernel"] * 3 + ["growth", "peer"]
    assert [result["messages"] for result in results[:3]] == [100, 500, 5_000]
    assert all(goal.met is None for goal in goals)


def test_without_node_the_comparison_is_left_out(monkeypatch, capsys):
    monkeypatch.setattr(pzp_peer, "node", lambda: None)
    results, goals = sets.beside_the_peer(0.01, 1)
    assert results == [{"part": "peer", "left_out": "no node on the PATH"}] and not goals
    assert "left out" in capsys.readouterr().out
