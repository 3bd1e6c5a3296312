"""`tangles why` of pzp messages, nodes, events and lines of a log."""

import pytest

from cli_kit import Warehouse


@pytest.fixture
def warehouse(tmp_path):
    return Warehouse(tmp_path / "wh")


def entry(id_: str, depth: int, reason: str | None = None, **columns) -> dict:
    row = {"set_id": "set", "message_id": id_, "depth": depth, "is_valid": reason is None, "reject_reason": reason}
    return row | dict.fromkeys(("is_held", "is_tip", "is_item_root"), False) | {"is_root": id_ == "set"} | columns


AWAITED = ("unknown_account_tips", ["tip"])


def write_awaiting_set(warehouse) -> None:
    """Set <- m1 <- m2 <- m3 (bad) and set <- m4: m1 and m4 await messages of their account, m2 is behind m1."""
    usable = {"account": "acc", "domain": "set_v1__x", "is_usable": True, "is_signature_valid": True}
    awaits = {"m1": ["tip"], "m4": ["dataless", "spoilt", "tip"]}
    own = {"account": "self", "domain": "account__account"}
    warehouse.write(
        "pzp_messages",
        {**usable, "message_id": "set", "is_moot": True},
        *({**usable, "message_id": id_, "awaited_ids": awaits.get(id_)} for id_ in ("m1", "m2", "m3", "m4")),
        {**usable, **own, "message_id": "dataless", "has_data": False},
        {**own, "message_id": "spoilt", "is_usable": False, "reject_reason": "bad_signature", "has_data": True},
    )
    lost = "unknown_account_tips"
    warehouse.write(
        "set_messages",
        entry("set", 0),
        entry("m1", 1, lost, awaited_ids=awaits["m1"]),
        entry("m2", 2, "undecided_prev"),
        entry("m3", 3, "bad_depth"),
        entry("m4", 1, lost, awaited_ids=awaits["m4"]),
    )
    prev = {"m1": ["set"], "m2": ["m1"], "m3": ["m2"], "m4": ["set"]}
    warehouse.write("int_set_entries", *({"set_id": "set", "message_id": id_, "prev": of} for id_, of in prev.items()))
    warehouse.write("set_next", {"set_id": "set", "depth": 1, "prev": ["set"], "should_supersede": []})
    for table in ("set_links", "set_writer_faults", "int_pzp_messages"):
        warehouse.write(table)


def test_a_message_that_awaits_its_account(warehouse):
    write_awaiting_set(warehouse)
    answer = warehouse.json("why", "m1")
    (row,) = answer["sets"]
    assert (row["reject_reason"], row["awaited_ids"]) == AWAITED and answer["message"]["awaited_ids"] == ["tip"]
    assert [(cause["id"], cause["trouble"], cause["path"]) for cause in row["causes"]] == [
        ("tip", "missing", ["m1", "tip"])
    ]
    (row,) = warehouse.json("why", "m4")["sets"]
    assert [(cause["id"], cause["trouble"]) for cause in row["causes"]] == [
        ("dataless", "erased"),
        ("spoilt", "bad_signature"),
        ("tip", "missing"),
    ]
    text = warehouse.ask("why", "m1").stdout
    assert "undecided: unknown_account_tips" in text and "its key did not belong to the account" not in text
    assert "not valid" not in text and "to publish it again, use" not in text


def test_a_message_behind_one_that_awaits_its_account(warehouse):
    write_awaiting_set(warehouse)
    (row,) = warehouse.json("why", "m2")["sets"]
    assert [(cause["id"], cause["path"]) for cause in row["causes"]] == [("tip", ["m2", "m1", "tip"])]
    assert "undecided: undecided_prev" in warehouse.ask("why", "m2").stdout


def test_a_message_that_is_awaited(warehouse):
    write_awaiting_set(warehouse)
    assert warehouse.json("why", "dataless")["awaited_by"] == ["m4"]
    answer = warehouse.json("why", "tip")
    assert [(row["id"], row["how"], row["place"]) for row in answer["referred_to_by"]] == [
        ("m1", "account", "acc"),
        ("m4", "account", "acc"),
    ]


def test_an_account_of_which_the_log_has_no_root(warehouse):
    usable = {"account": "acc", "domain": "set_v1__x", "is_usable": True}
    warehouse.write("pzp_messages", {**usable, "message_id": "m1"}, {**usable, "message_id": "m2", "account": "any"})
    warehouse.write("set_messages", entry("m1", 1), entry("m2", 1))
    assert "the account's root is not in the log" in warehouse.ask("why", "m1").stdout
    assert "the account's root is not in the log" not in warehouse.ask("why", "m2").stdout


@pytest.mark.parametrize(
    ("columns", "reason", "has_items"),
    [
        ({"domain": "settings", "account": "acc"}, "no_set_domain", True),
        ({"domain": "dict_v1__x", "account": "acc"}, "no_set_domain", False),
        ({"domain": "account__account", "account": "self"}, "account_message", False),
        ({"domain": "set_v1__x", "account": "acc"}, "no_tangle", True),
    ],
)
def test_a_message_that_is_in_no_set(warehouse, columns, reason, has_items):
    warehouse.write("pzp_messages", {"message_id": "m1", "is_usable": True, **columns})
    warehouse.write("int_pzp_messages", {"message_id": "m1", "add": ["a"] if has_items else None, "tangles": []})
    warehouse.write("set_messages")
    answer = warehouse.json("why", "m1")["in_no_set"]
    assert (answer["reason"], answer["has_items"]) == (reason, has_items)
    text = warehouse.ask("why", "m1").stdout
    assert answer["meaning"] in text and ("adds and deletes items as in a set" in text) is has_items


def test_an_unsettled_node(warehouse):
    """The reason and the missing writers."""
    a, b, c = (letter * 64 for letter in "abc")
    node = {"base_id": "x", "node_id": f"{a}:1", "writer": a, "length": 1, "role": "indexing"}
    warehouse.write("autobase_nodes", node)
    row = {"reason": "awaits_merge", "contender": f"{b}:1", "awaited_merge": f"{c}:1"}
    row |= {"missing_writers": [a, b]}
    warehouse.write("autobase_unsettled", {"base_id": "x", "node_id": f"{a}:1", **row})
    assert warehouse.json("why", f"{a}:1")["bases"][0]["unsettled"] == row
    words = " ".join(warehouse.ask("why", f"{a}:1").stdout.split())
    assert f"waits for the merge {c}:1 to be settled contends with {b}:1 lacks the next vote of {a} {b}" in words


def event(id_: str, timeline: str = "t", **columns) -> dict:
    row = {"timeline_id": timeline, "event_id": id_, "source_file": "/logs/e.jsonl", "line": 1, "arrival": 1}
    row |= dict.fromkeys(("rank", "latest_rank", "position"), 0) | {"missing_causes": [], "cyclic_causes": []}
    return row | {"is_tip": False, "is_tie_broken": False} | columns


def test_an_event_behind_an_event_that_it_does_not_follow(warehouse):
    warehouse.write("timeline_events", event("one"), event("two", position=1, is_tie_broken=True))
    warehouse.write("timeline_links")
    assert warehouse.json("why", "two")["timelines"][0]["is_tie_broken"]
    said = "by convention (rank, then id) and not by cause it stands behind position 0"
    assert said in warehouse.ask("why", "two").stdout
    assert "by convention" not in warehouse.ask("why", "one").stdout


def test_an_event_of_which_all_lines_are_rejected(warehouse):
    warehouse.write("timeline_events", event("two", missing_causes=["gone"], line=2), event("two", "u"))
    link = {"timeline_id": "t", "kind": "given", "is_known": False}
    warehouse.write("timeline_links", {**link, "event_id": "two", "cause_id": "gone"})
    reject = {"source_file": "/logs/e.jsonl", "line": 3, "timeline_id": "t", "event_id": "one", "reason": "cycle"}
    warehouse.write("timeline_rejects", reject)
    result = warehouse.ask("why", "on")
    assert result.exit_code == 0 and "line rejected: cycle" in result.stdout
    assert [row["timeline_id"] for row in warehouse.json("why", "tw", "--in", "u")["timelines"]] == ["u"]
    assert [row["id"] for row in warehouse.json("why", "gone")["referred_to_by"]] == ["two"]


def test_events_of_messages_are_no_events_of_their_own(warehouse):
    warehouse.write("timeline_events", event("m", message_id="m", source_file=None, line=None))
    assert warehouse.ask("why", "m").exit_code == 1


def test_the_same_name_of_several_kinds(warehouse):
    warehouse.write("timeline_events", event("abc"))
    warehouse.write("pzp_messages", {"message_id": "abd", "is_usable": True})
    assert warehouse.ask("why", "ab").exit_code == 2
    assert warehouse.json("why", "ab", "--kind", "event")["id"] == "abc"


def test_one_node_in_many_files(warehouse):
    nodes = [{"base_id": f"b{number}", "node_id": "ab" * 32 + ":1"} for number in range(20)]
    warehouse.write("autobase_nodes", *nodes, {"base_id": "b", "node_id": "ac" * 32 + ":1"}, files=21)
    assert warehouse.ask("why", "a:1").exit_code == 2
    assert len(warehouse.json("why", "ab:1")["bases"]) == 20
