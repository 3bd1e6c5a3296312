"""Nodes that are not settled: reasons from sets, next nodes that are published, and every shorter sequence of them."""

import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autobase_oracle as oracle
from autobase_oracle import Base, Id
from base_arrays import answers
from base_results import COLUMNS, NO_LIMIT, results
from base_tables import drawing, named_bases, rows_of
from dbt_tangles.algorithms.autobase import fewest_nodes, unsettled
from dbt_tangles.algorithms.autobase.bases import INPUT_SCHEMA
from design_oracle import plain_order
from rule_search import name, simulate
from unsettled_oracle import every_next, heads_of, publish

RULES = ("autobase", "design")
PLAIN = {"autobase": oracle.order_of, "design": plain_order}


def table_of(named: dict[str, Base], stopped: list[str] | None = None) -> pa.Table:
    rows = [
        row | {"stopped": stopped}
        for base_id, base in named.items()
        for row in rows_of(base_id, base, base.floor or None)
    ]
    return pa.Table.from_pylist(rows, INPUT_SCHEMA)


def read(text: str) -> Id:
    writer, length = text.split(":")
    return Id(bytes.fromhex(writer), int(length))


NAMES = (*COLUMNS["unsettled"], "would_settle", "is_fewest")


def found(table: pa.Table, rule: str) -> dict[tuple[str, Id], dict]:
    rows = results(table, NO_LIMIT, 1, rule, {"unsettled": NAMES})["unsettled"]
    found = {(base_id, read(row[0])): dict(zip(NAMES, row, strict=True)) for base_id, *row in rows}
    assert len(found) == len(rows)
    return found


def settled_in(base: Base, rule: str) -> set[Id]:
    order, confirmed = PLAIN[rule](base)
    return set(order[:confirmed])


def shown(base: Base, rule: str = "autobase") -> list[str]:
    """Return the reason of each node in one line: others, missing writers, next nodes and their heads."""
    lines = []
    for (_, x), row in found(table_of({"x": base}), rule).items():
        steps = []
        for node in row["would_settle"] or []:
            steps.append(f"{bytes.fromhex(node['writer']).decode()}:{','.join(name(read(h)) for h in node['heads'])}")
        others = [name(read(row[column])) if row[column] else "-" for column in ("contender", "awaited_merge")]
        missing = "".join(bytes.fromhex(key).decode() for key in row["writers"])
        lines.append(" ".join([name(x), row["reason"], *others, missing or "-", *steps]))
    return sorted(lines)


def test_a_chain_needs_votes():
    """The document's first example: a2 has a quorum at b2; one more indexer has to know it."""
    assert shown(drawing("abc", "a1 b1:a1 c1:b1 a2:c1 b2:a2")) == [
        "a2 needs_votes - - ac c:b2",
        "b2 needs_votes - - ac c:b2 a:c2",
    ]


def test_without_a_majority_of_writers_who_can_write_no_next_nodes_are_found():
    base = drawing("abc", "a1 b1:a1")
    stopped = [b"a".hex(), b"b".hex()]
    assert found(table_of({"x": base}), "autobase")["x", Id(b"b", 1)]["would_settle"] is not None
    rows = found(table_of({"x": base}, stopped), "autobase")
    assert [node["writer"] for node in rows["x", Id(b"a", 1)]["would_settle"]] == [b"c".hex()]
    assert rows["x", Id(b"b", 1)]["would_settle"] is None
    assert rows["x", Id(b"b", 1)]["is_fewest"] is None


@given(named_bases(), st.sampled_from(RULES))
def test_published_next_nodes_settle_the_node(named, rule):
    for (base_id, x), row in found(table_of(named), rule).items():
        base = named[base_id]
        if row["would_settle"] is None:
            # Only nodes below the heads can be settled, and only if there are indexers.
            below = {i for head in heads_of(base) for i in base.past[head]}
            is_within_batch = any(node.batch > 1 for node in base.nodes.values())
            assert x not in below or not base.indexers or is_within_batch
            continue
        for node in row["would_settle"]:
            ids = tuple(map(read, node["heads"]))
            assert all(base.nodes[i].batch == 1 and not base.nodes[i].is_relayed for i in ids)
            assert not any(i in base.past[j] for i in ids for j in ids if i != j)
            assert x not in settled_in(base, rule)
            base = publish(base, bytes.fromhex(node["writer"]), ids)
        assert x in settled_in(base, rule)
        assert len(row["would_settle"]) < 2 * len(base.indexers) or any(
            n.batch > 1 for n in named[base_id].nodes.values()
        )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("histories", [25, pytest.param(1_000, marks=pytest.mark.long)])
def test_no_shorter_sequence_settles_the_node(rule, histories):
    """Every next node of every writer, with every choice of heads, is published."""
    rng = random.Random(7)
    checked = 0
    for _ in range(histories):
        base = simulate(rng, rng.choice([2, 3, 3, 4]), rng.choice([0, 0, 1]), 0, rng.randint(2, 9))
        if not 0 < len(base.nodes) <= 7:
            continue
        rows = found(table_of({"x": base}), rule)
        extended = [base]
        for length in range(1, 3):
            extended = [longer for each in extended for longer in every_next(each, [*base.indexers])]
            orders = answers(extended, rule)
            settled = set().union(*(order[:confirmed] for order, confirmed in orders))
            for (_, x), row in rows.items():
                if row["is_fewest"] and len(row["would_settle"]) > length:
                    assert x not in settled, (x, row, length)
                    checked += 1
    assert checked > histories


@given(named_bases(), st.randoms(use_true_random=True), st.sampled_from(RULES))
def test_rows_may_come_in_any_order_with_other_bases(named, rng, rule):
    expected: dict = {}
    for base_id, base in named.items():
        expected |= found(table_of({base_id: base}), rule)
    rows = table_of(named).to_pylist()
    rng.shuffle(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fewest_nodes, "_TOGETHER", rng.randint(1, 200))
        assert found(pa.Table.from_pylist(rows, INPUT_SCHEMA), rule) == expected


def test_bases_beyond_the_limits_keep_their_reasons(monkeypatch):
    base = drawing("abc", "a1 b1 c1:a1,b1 a2:c1")
    table = table_of({"x": base})
    full = found(table, "autobase")
    assert all(row["would_settle"] for row in full.values())
    for limit, value in (("SEARCH_INDEXERS", 2), ("SEARCH_NODES", 3), ("SEARCH_HEADS", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(unsettled, limit, value)
            rows = found(table, "autobase")
        assert rows == {key: row | {"would_settle": None, "is_fewest": None} for key, row in full.items()}
    monkeypatch.setattr(fewest_nodes, "SEQUENCES", 0)
    rows = found(table, "autobase")
    assert {name(x): row["is_fewest"] for (_, x), row in rows.items()} == {
        "a1": True,
        "b1": True,
        "c1": True,
        "a2": False,
    }
