"""`tangles diff`: the first place at which orders or settled prefixes differ, and the first cause of differences."""

import json

import pytest
from click.testing import CliRunner

import cli_story as story
from cli_kit import Warehouse
from cli_story import A1, A2, ALICE, B1, B2, BOB, GONE, ROOT
from dbt_tangles.cli.cli import main


def tables(a: Warehouse, b: Warehouse) -> dict[str, dict]:
    result = CliRunner().invoke(main, ["diff", str(a.root), str(b.root), "--json"])
    assert result.exit_code == 1, result.output
    return {row["table"]: row for row in json.loads(result.stdout)["tables"]}


def shown(a: Warehouse, b: Warehouse) -> str:
    return CliRunner().invoke(main, ["diff", str(a.root), str(b.root)]).stdout


@pytest.fixture
def pair(tmp_path):
    """B has the message that A waits for, but not the last message of alice."""
    a, b = story.write(tmp_path / "a"), story.write(tmp_path / "b")
    places = [(ROOT, ALICE, 1, 0), (A1, ALICE, 2, 1), (GONE, BOB, 1, 1), (B1, BOB, 2, 2), (B2, BOB, 3, 3)]
    b.write("ssb_messages", *(story.message(*place[:3]) for place in places))
    b.write(
        "tangle_messages",
        *(story.candidate(id_, author, depth, position=n) for n, (id_, author, _, depth) in enumerate(places)),
    )
    b.write("feeds", story.feed(ALICE, 2, A1), story.feed(BOB, 3, B2))
    return a, b


def test_first_causes(pair):
    found = tables(*pair)
    assert found["ssb_messages"]["only_a"]["first"] == [{"message_id": A2}, {"message_id": story.BAD}]
    alice, bob = found["feeds"]["differ"]["first"]
    assert alice["cause"] == {"id": A2, "side": "only in A"} and bob["cause"] == {"id": GONE, "side": "only in B"}
    rows = {row["message_id"]: row["cause"] for row in found["tangle_messages"]["differ"]["first"]}
    gone = {"id": GONE, "side": "only in B"}
    assert rows == {B1: gone, B2: gone}
    (own,) = found["tangle_messages"]["only_a"]["first"]
    assert own["cause"] == {"id": A2, "side": "only in A"}
    text = shown(*pair)
    assert f"first cause: {GONE}, only in B" in text


@pytest.mark.parametrize("lacks", ["tip", "acc"])
def test_a_message_of_an_account_that_one_lacks(tmp_path, lacks):
    """B lacks a tip of the account, so a message is undecided; or its root, so the key of a stranger is accepted."""
    a, b = Warehouse(tmp_path / "a"), Warehouse(tmp_path / "b")
    place = {"set_id": "set", "message_id": "m1", "depth": 1, "is_held": False}
    refused = {**place, "is_valid": False, "reject_reason": "unauthorised_key"}
    waits = {**place, "is_valid": False, "reject_reason": "unknown_account_tips", "awaited_ids": ["tip"]}
    there = {"tip": waits, "acc": {**place, "is_valid": True}}[lacks]
    messages = [{"message_id": id_, "is_usable": True, "account": "self"} for id_ in ("acc", "tip")]
    messages.append({"message_id": "m1", "is_usable": True, "account": "acc"})
    a.write("pzp_messages", *messages).write("set_messages", refused)
    b.write("pzp_messages", *(row for row in messages if row["message_id"] != lacks)).write("set_messages", there)
    for each in (a, b):
        each.write("sets", {"set_id": "set", "account": "acc", "items": [], "message_count": 1})
    (row,) = tables(a, b)["set_messages"]["differ"]["first"]
    assert row["cause"] == {"id": lacks, "side": "only in A"}


def test_a_message_that_one_replica_judges_differently(pair):
    a, _ = pair
    other = story.write(a.root.parent / "c")
    other.write("ssb_messages", story.message(A1, ALICE, 2, is_usable=False, check_error="bad_signature"))
    a.write("ssb_messages", story.message(A1, ALICE, 2))
    other.write("feeds", story.feed(ALICE, 1, ROOT), story.feed(BOB, 2, B2))
    (row,) = tables(a, other)["feeds"]["differ"]["first"]
    assert row["cause"] == {"id": A1, "side": "verified only in A"}


def test_no_cause(pair):
    """Both have the same messages, but compute different orders."""
    a, _ = pair
    other = story.write(a.root.parent / "c").write("feeds", story.feed(ALICE, 1, ROOT), story.feed(BOB, 2, B2))
    (row,) = tables(a, other)["feeds"]["differ"]["first"]
    assert row["cause"] is None and "both have the same messages of it" in shown(a, other)


def test_the_first_position_where_orders_differ(pair):
    a, b = pair
    order = tables(a, b)["tangle_messages.position"]["differ"]
    (row,) = order["first"]
    assert order["total"] == 1 and row["values"] == {"place 2": [A2, GONE]}
    assert row["cause"]["id"] == GONE
    assert "order of tangles differs" in shown(a, b)


def views(warehouse: Warehouse, order: str, settled: int) -> Warehouse:
    rows = [{"position": n, "node_id": node, "is_confirmed": n < settled} for n, node in enumerate(order)]
    nodes = [{"base_id": "base", "node_id": node, "depth": n} for n, node in enumerate(order)]
    warehouse.write("autobase_nodes", *nodes)
    return warehouse.write("autobase_views", *({"base_id": "base", "observer": "all", **row} for row in rows))


@pytest.mark.parametrize(
    ("one", "other", "prefix", "order"),
    [
        (("xyz", 2), ("xyw", 2), None, {"place 2": ["z", "w"]}),
        (("xyz", 3), ("xyzw", 1), {"settled": [3, 1]}, {"place 3": [None, "w"]}),
        (("xy", 0), ("xyz", 1), {"settled": [0, 1]}, {"place 2": [None, "z"]}),
        (("xyz", 2), ("xzy", 3), {"settled": [2, 3], "settled place 1": ["y", "z"]}, {"place 1": ["y", "z"]}),
        (("xyz", 2), ("xzy", 2), {"settled place 1": ["y", "z"]}, {"place 1": ["y", "z"]}),
    ],
)
def test_confirmed_prefixes(tmp_path, one, other, prefix, order):
    """A shorter prefix may still grow; different settled nodes at one place are a contradiction."""
    found = tables(views(Warehouse(tmp_path / "a"), *one), views(Warehouse(tmp_path / "b"), *other))
    rows = found["autobase_views.is_confirmed"]["differ"]["first"]
    assert [row["values"] for row in rows] == ([prefix] if prefix else [])
    assert [row["values"] for row in found["autobase_views.position"]["differ"]["first"]] == [order]


def test_messages_that_the_other_replica_refused(tmp_path):
    a, b = views(Warehouse(tmp_path / "a"), "xyz", 1), views(Warehouse(tmp_path / "b"), "x", 1)
    b.write("autobase_rejects", {"base_id": "base", "node_id": "y", "reason": "missing_head"})
    found = tables(a, b)
    y, z = found["autobase_nodes"]["only_a"]["first"]
    assert y["cause"] == {"id": "y", "side": "rejected in B: missing_head"} and z["cause"] is None
    (row,) = found["autobase_views.position"]["differ"]["first"]
    assert row["cause"] == {"id": "y", "side": "only in A"}
