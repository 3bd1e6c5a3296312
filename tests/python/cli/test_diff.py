"""`tangles diff`: rows of one replica only, different values, the first place of a difference, and its cause."""

import json
import shutil

import pytest

import cli_story as story
from answer_schemas import validate
from cli_kit import Warehouse, tangles
from cli_story import A1, A2, ALICE, B1, B2, BOB, GONE, ROOT, run
from dbt_tangles.cli.compare import COMPARED


def ask(a: Warehouse, b: Warehouse, *words: str):
    return tangles("diff", str(a.root), str(b.root), *words)


def tables(a: Warehouse, b: Warehouse, *words: str) -> dict[str, dict]:
    result = ask(a, b, "--json", *words)
    assert result.exit_code == 1, result.output
    return {row["table"]: row for row in json.loads(result.stdout)["tables"]}


@pytest.fixture
def pair(tmp_path):
    return story.write(tmp_path / "a"), story.write(tmp_path / "b")


def differences(a: Warehouse, b: Warehouse) -> dict[str, tuple]:
    """Return the numbers of differences by table: only in A, only in B, different values."""
    result = ask(a, b, "--json")
    answer = validate(json.loads(result.stdout))
    sides = ("only_a", "only_b", "differ")
    counts = {row["table"]: tuple(row[side]["total"] for side in sides) for row in answer["tables"]}
    assert answer["is_same"] == (not any(map(any, counts.values()))) == (result.exit_code == 0)
    return {table: each for table, each in counts.items() if any(each)}


def test_the_same(pair):
    assert differences(*pair) == {}
    assert "no difference in the tables of both: ssb_messages, feeds, tangles" in ask(*pair).stdout
    assert "sets of A, sets of B" in ask(*pair).stdout


def test_equal_messages_with_different_verdicts(pair):
    a, b = pair
    b.write("feeds", story.feed(story.ALICE, 2, story.A1), story.feed(story.BOB, 2, story.B2))
    assert differences(a, b) == {"feeds": (0, 0, 1)}
    (first,) = tables(a, b)["feeds"]["differ"]["first"]
    assert first["author"] == story.ALICE
    assert first["values"]["verified_length"] == [3, 2] and "status" not in first["values"]
    assert "but compute different tables" in ask(a, b).stdout
    a.write("runs", run("one", 1, tables=["tangles.feeds"], vars=[("clock_limit", "1"), ("x", "2")]))
    b.write("runs", run("two", 1, tables=["tangles.feeds"], vars=[("clock_limit", "3"), ("x", "2")]))
    text = ask(a, b).stdout
    assert "built with clock_limit 1 in A, 3 in B" in text and "different vars may explain the differences" in text
    assert "but compute different tables" not in text


def test_roots_that_are_null(pair):
    a, b = pair
    row = story.candidate(story.A1, story.ALICE, None, root_id=None, set_aside_reason="malformed_tangle")
    for each in pair:
        each.write("tangle_messages", row)
    assert differences(a, b) == {}
    b.write("tangle_messages", row | {"set_aside_reason": "wrong_type"})
    assert differences(a, b) == {"tangle_messages": (0, 0, 1)}


def test_every_table_is_compared(tmp_path):
    a, b = Warehouse(tmp_path / "a"), Warehouse(tmp_path / "b")
    compared = [each for each in COMPARED if not each.place]
    for each in compared:
        both, one = ({key: f"{key} {number}" for key in each.keys} for number in range(2))
        a.write(each.table, both, one)
        b.write(each.table, both)
    assert differences(a, b) == {each.table: (1, 0, 0) for each in compared}
    assert differences(b, a) == {each.table: (0, 1, 0) for each in compared}


def test_the_limit(pair):
    a, b = pair
    b.write("ssb_messages")
    text = ask(a, b, "--limit", "2").stdout
    assert "6 messages of SSB only in A" in text and "… and 4 more" in text
    assert "…" not in ask(a, b, "--limit", "0").stdout
    side = tables(a, b, "--limit", "2")["ssb_messages"]["only_a"]
    assert side["total"] == 6 and len(side["first"]) == 2


def test_warehouses_that_cannot_be_compared(pair, tmp_path):
    a, b = pair
    nothing = ask(a, Warehouse(tmp_path / "c"))
    assert nothing.exit_code == 2 and "no table in common" in nothing.stderr
    shutil.rmtree(b.folder)
    assert ask(a, b).exit_code == 2 and "the folder has no tables" in ask(a, b).stderr


def test_tables_without_rows_fail(tmp_path):
    empty = [Warehouse(tmp_path / name).write("feeds").write("ssb_messages") for name in "ab"]
    result = ask(*empty)
    assert result.exit_code == 2 and "have no row to compare" in result.stderr
    empty[1].write("feeds", story.feed(story.ALICE, 1, story.A1))
    assert ask(*empty).exit_code == 1


@pytest.fixture
def apart(tmp_path):
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


def test_first_causes(apart):
    found = tables(*apart)
    assert found["ssb_messages"]["only_a"]["first"] == [{"message_id": A2}, {"message_id": story.BAD}]
    assert found["ssb_messages"]["only_b"]["first"] == [{"message_id": GONE}]
    alice, bob = found["feeds"]["differ"]["first"]
    assert alice["cause"] == {"id": A2, "side": "only in A"} and bob["cause"] == {"id": GONE, "side": "only in B"}
    rows = {row["message_id"]: row["cause"] for row in found["tangle_messages"]["differ"]["first"]}
    gone = {"id": GONE, "side": "only in B"}
    assert rows == {B1: gone, B2: gone}
    (own,) = found["tangle_messages"]["only_a"]["first"]
    assert own["cause"] == {"id": A2, "side": "only in A"}
    text = ask(*apart).stdout
    assert "1 message of SSB only in B" in text and "the logs differ" in text
    assert f"first cause: {GONE}, only in B" in text and "order of tangles differs" in text
    order = found["tangle_messages.position"]["differ"]
    (row,) = order["first"]
    assert order["total"] == 1 and row["values"] == {"place 2": [A2, GONE]} and row["cause"] == gone


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
    """Without such a message, a difference has no cause."""
    a, b = pair
    b.write("feeds", story.feed(ALICE, 1, ROOT), story.feed(BOB, 2, B2))
    (row,) = tables(a, b)["feeds"]["differ"]["first"]
    assert row["cause"] is None and "both have the same messages of it" in ask(a, b).stdout
    b.write("ssb_messages", story.message(A1, ALICE, 2, is_usable=False, check_error="bad_signature"))
    a.write("ssb_messages", story.message(A1, ALICE, 2))
    (row,) = tables(a, b)["feeds"]["differ"]["first"]
    assert row["cause"] == {"id": A1, "side": "verified only in A"}


def views(warehouse: Warehouse, order: str, settled: int) -> Warehouse:
    warehouse.fill("autobase_nodes", "depth node_id", *enumerate(order), base_id="base")
    rows = [(n, node, n < settled) for n, node in enumerate(order)]
    return warehouse.fill("autobase_views", "position node_id is_confirmed", *rows, base_id="base", observer="all")


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
