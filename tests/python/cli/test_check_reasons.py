"""`tangles check` explains each difference from the tables."""

import json

import pytest

import cli_story as story
from cli_story import A1, A2, ALICE, B2, BAD, BOB, GONE, ROOT
from dbt_tangles.cli.messages import pzp

FEED = {"feed": ALICE}
TANGLE = {"tangle": "thread", "root": ROOT}
#: Statements of a peer, and the explanations of their differences.
DIFFERENCES = [
    ({"message": BAD, "valid": True}, ["bad_signature: The author did not sign this text (with this network key)."]),
    ({"message": A1, "valid": False}, ["it is well-formed and signed by its author"]),
    ({**FEED, "sequence": 9}, ["the feed is complete: 3 messages", "this log ends at 3"]),
    ({**FEED, "sequence": 2}, ["the feed is complete: 3 messages", f"the peer lacks {A2} or rejects it"]),
    ({**FEED, "id": GONE}, ["the feed is complete: 3 messages", f"{GONE} is not in the log"]),
    ({**FEED, "id": B2}, ["the feed is complete: 3 messages", f"{B2} belongs to another author, {BOB}"]),
    ({**FEED, "id": A1}, ["the feed is complete: 3 messages", f"{A1} has sequence 2 in these tables"]),
    (
        {**TANGLE, "previous": [B2, GONE]},
        [
            f"{B2} is set aside: previous_set_aside. A message that it follows is set aside.",
            f"{GONE} is not in the log",
            f"{A2} is a member that no other member follows",
        ],
    ),
    ({**TANGLE, "previous": [A2, A1]}, [f"{A1} is followed by {A2}"]),
    ({**TANGLE, "previous": [A2, BAD]}, [f"{BAD} is not verified: bad_signature"]),
    (
        {**TANGLE, "members": 5},
        [
            "1 set aside: missing_previous. A message in its previous is not in the log, is sealed (encrypted) in this "
            "export, or does not claim to belong to this tangle.",
            "1 set aside: previous_set_aside. A message that it follows is set aside.",
            f"once {GONE} arrives, 2 become members",
        ],
    ),
    (
        {"epoch": "e", "members": ["out", "lost", "who"]},
        [
            "out is excluded by %x",
            "lost is missing: it belongs to the epoch, but no message adds it",
            "who is not added by any counted message",
            "in is added by %a",
        ],
    ),
    ({"group": "g", "preferred": "f"}, ["the rule subset selects the preferred epoch", "f is not a tip"]),
    (
        {"group": "g", "preferred": "?"},
        ["the rule subset selects the preferred epoch", "? is not an epoch of the group"],
    ),
    (
        {"set": "s", "items": ["gone", "never"]},
        ["gone is deleted", "never is not added by any valid message", "carol is added by m1"],
    ),
    ({"set": "s", "prev": ["m1"]}, ["m1 is not a tip: another valid message follows it"]),
    (
        {"set": "s", "prev": ["m3"]},
        ["m3 is not valid: no_known_prev. Nothing in prev is a valid message of the tangle."],
    ),
    ({"base": "b", "length": 9}, ["1 line rejected: hole. The node before it in its writer's log is missing."]),
    (
        {"set": "open", "prev": ["u1"]},
        [
            "u1 is undecided: unknown_account_tips. " + pzp("unknown_account_tips"),
            "1 message of the set is not valid",
            "2 messages of the set await messages of the account: t1, t2",
        ],
    ),
    ({"base": "b", "confirmed": 2}, ["the first node that is not settled is n1, because n7 competes with it"]),
    ({"base": "done", "confirmed": 0}, ["all nodes are settled"]),
    ({"view": "b", "observer": "all", "order": ["n1", "n0"]}, ["n1 is at place 1 in these tables, not settled"]),
    (
        {"view": "b", "observer": "all", "order": ["n0", "n9", "nx"]},
        ["n9 is rejected: hole. The node before it in its writer's log is missing.", "nx is not in the tables"],
    ),
    ({"timeline": "t", "order": ["e1", "e0"]}, ["e1 is at place 1 in these tables, rank 4"]),
    (
        {"timeline": "t", "order": ["e0", "e9"]},
        ["e9 is rejected: cycle. One of its causes follows the event, so the event would follow itself."],
    ),
]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    warehouse = story.write(tmp_path_factory.mktemp("reasons") / "wh")
    member = {"group_id": "g", "epoch_id": "e", **dict.fromkeys(("is_added", "is_excluded", "is_missing"), False)}
    warehouse.write(
        "group_members",
        {**member, "feed_id": "in", "is_added": True, "added_by": ["%a"]},
        {**member, "feed_id": "out", "is_excluded": True, "excluded_by": ["%x"]},
        {**member, "feed_id": "lost", "is_missing": True},
    )
    epoch = {"group_id": "g", "preference": "subset"}
    warehouse.write(
        "group_epochs",
        {**epoch, "epoch_id": "e", "is_preferred": True, "is_tip": True},
        {**epoch, "epoch_id": "f", "is_preferred": False, "is_tip": False},
    )
    warehouse.write("sets", {"set_id": "s", "items": ["carol"]}, {"set_id": "open", "items": []})
    warehouse.write("set_items", {"set_id": "s", "item": "carol", "added_by": "m1"})
    warehouse.write(
        "set_next",
        {"set_id": "s", "prev": ["m2"], "depth": 3},
        {"set_id": "open", "prev": ["root"], "depth": 1},
    )
    warehouse.write("set_next_items", {"set_id": "s", "item": "gone"})
    valid = {"set_id": "s", "is_valid": True, "is_held": False, "is_tip": False}
    bad = {**valid, "message_id": "m3", "is_valid": False, "is_held": True, "reject_reason": "no_known_prev"}
    refused = {**valid, "set_id": "open", "is_valid": False}
    undecided = {**refused, "message_id": "u1", "reject_reason": "unknown_account_tips", "awaited_ids": ["t1", "t2"]}
    warehouse.write(
        "set_messages",
        {**valid, "message_id": "m1"},
        {**valid, "message_id": "m2", "is_tip": True},
        bad,
        undecided,
        {**refused, "message_id": "u2", "reject_reason": "undecided_prev"},
        {**refused, "message_id": "r1", "reject_reason": "bad_depth"},
    )
    base = {"node_count": 2, "confirmed_length": 1}
    warehouse.write("autobase_bases", {"base_id": "b", **base}, {"base_id": "done", **base})
    views = [("b", "n0", 0, True), ("b", "n1", 1, False), ("done", "n0", 0, True)]
    columns = ("base_id", "node_id", "position", "is_confirmed")
    warehouse.write("autobase_views", *({"observer": "all", **dict(zip(columns, row, strict=True))} for row in views))
    warehouse.write("autobase_unsettled", {"base_id": "b", "node_id": "n1", "reason": "contender", "contender": "n7"})
    warehouse.write("autobase_rejects", {"base_id": "b", "node_id": "n9", "reason": "hole"})
    warehouse.write(
        "timeline_events", *({"timeline_id": "t", "event_id": f"e{n}", "position": n, "rank": 3 + n} for n in range(2))
    )
    return warehouse.write("timeline_rejects", {"timeline_id": "t", "event_id": "e9", "reason": "cycle"})


@pytest.mark.parametrize(("said", "because"), DIFFERENCES)
def test_each_difference_is_explained(warehouse, tmp_path, said, because):
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps(said))
    (line,) = warehouse.json("check", str(file))["lines"]
    assert line["verdict"] == "differ" and line["because"] == because
    assert all(f"    {text}" in warehouse.ask("check", str(file)).stdout for text in because)


def test_many_differences(warehouse, tmp_path):
    file = tmp_path / "answers.jsonl"
    file.write_text(f"{json.dumps({**FEED, 'sequence': 9})}\n" * 300)
    lines = warehouse.json("check", str(file))["lines"]
    assert sum(line["because"] is None for line in lines) == 100
