"""Drawings of sets, bases, groups, timelines and feeds."""

import pytest

import cli_story
import report_story as story
from cli_kit import Warehouse
from report_kit import make, node, shard


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return make(story.write(tmp_path_factory.mktemp("kinds") / "wh"))


def links(view: dict, kind: str) -> set:
    return {(view["nodes"][a]["id"], view["nodes"][b]["id"]) for a, b, each, _ in view["edges"] if each == kind}


def said(out, name: str, view: dict, id_: str) -> str:
    number = [each["id"] for each in view["nodes"]].index(id_)
    pieces = [piece for _, *line in shard(out, f"{name}-why")[str(number)] for piece in line]
    return " ".join(piece if isinstance(piece, str) else piece[0] for piece in pieces)


def test_set(out):
    view = shard(out, "set-0")
    assert links(view, "supersedes") == {(story.MORE, story.ADD)}
    assert links(view, "prev") == {(story.ADD, story.SET), (story.MORE, story.ADD), (story.LATE, story.LOST)}
    assert node(view, story.MORE)["marks"] == ["item root", "tip"] and node(view, story.MORE)["title"] == "adds: carol"
    assert node(view, story.LATE)["state"] == "aside" and node(view, story.LOST)["state"] == "missing"
    assert [item["item"] for item in view["items"]] == ["carol"] and view["item_total"] == 1
    assert "not in the log" in said(out, "set-0", view, story.LATE)


def test_base(out):
    view = shard(out, "base-0")
    first = node(view, f"{story.A}:1")
    assert (first["votes"], first["degree"]) == (2, 3)
    assert [lane["name"] for lane in view["lanes"]] == ["aaaaaaaa", "bbbbbbbb"]
    assert node(view, f"{story.B}:3")["state"] == "aside"
    observers = {row["observer"]: [each["is_settled"] for each in row["order"]] for row in view["observers"]}
    assert observers == {"all": [True, False, False], story.A: [True, False, False], story.B: [False, False]}
    assert view["observers"][0]["order"][0]["settled_with"] == f"{story.A}:2"
    assert [each["waits"] for each in view["observers"][0]["order"]] == [None, "needs votes", "needs votes"]
    assert {each["waits"] for each in view["observers"][1]["order"]} == {None}
    assert view["quorums"][0]["writers"] == [story.A, story.B]
    assert "lacks the next vote of" in said(out, "base-0", view, f"{story.B}:1")
    assert "hole" in said(out, "base-0", view, f"{story.B}:3")


def test_group(out):
    view = shard(out, "group-0")
    assert node(view, story.NEXT)["marks"] == ["tip", "preferred"] and links(view, "epoch") == {
        (story.NEXT, story.GROUP)
    }
    assert [epoch["epoch_id"] for epoch in view["epochs"]] == [story.GROUP, story.NEXT]
    assert {feed["id"]: feed["in"] for feed in view["feeds"]} == {
        "@alice.ed25519": {"0": ["added"], "1": ["added"]},
        "@bob.ed25519": {"0": ["added", "excluded"]},
        "@carol": {"1": ["missing"]},
    }
    assert (view["feed_total"], view["finding_total"]) == (3, 1)


def test_timeline(out):
    view = shard(out, "timeline-0")
    assert [each["id"] for each in view["nodes"]] == story.EVENTS
    assert [each["words"] for each in view["nodes"]] == ["", "", "tie with position 1", "tip"]
    assert view["start"] == [] and view["agrees"] and view["left_out"] == 0
    assert view["edits"][-1] == [4, "mov", 2, 1, 2]
    assert "events.jsonl:1" in said(out, "timeline-0", view, "one")


def test_part_of_a_timeline(tmp_path):
    out = make(story.write(tmp_path / "wh"), nodes=2)
    view = shard(out, "timeline-0")
    assert (view["left_out"], view["low"], view["edits"], view["start"]) == (2, 2, [], [0, 1])
    assert len(shard(out, "base-0")["observers"][0]["order"]) == 2
    assert len(shard(out, "group-0")["feeds"]) == 2


def test_edits_of_another_run(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    warehouse.write(
        "timeline_edits",
        {"timeline_id": "room", "batch": 1, "step": 1, "op": "ins", "event_id": "two", "to_position": 0},
    )
    view = shard(make(warehouse), "timeline-0")
    assert not view["agrees"] and view["edits"] == [] and view["start"] == [0, 1, 2, 3]


def test_a_broken_feed(tmp_path):
    out = make(cli_story.write_broken_feed(Warehouse(tmp_path / "wh")))
    (entry,) = shard(out, "index")["kinds"]["feed"]["parts"]
    assert (entry["name"], entry["trouble"], entry["facts"]) == ("feed, forked", 6, "7 messages, 1 in the chain")
    view = shard(out, "feed-0")
    assert {each["lane"] for each in view["nodes"]} == {"chain", "not in the chain", "not here"}
    assert (
        node(view, cli_story.C1)["lane"] == "chain" and node(view, cli_story.C2)["y"] == node(view, cli_story.C2B)["y"]
    )
    assert view["rows"] == [1, 2, 3, 6, 7, 8] and view["holes"] == [[3, "4 to 5 are missing"]]
    assert view["facts"]["forked at"] == 2 and view["facts"]["status"] == "forked"
    assert "forked" in str(shard(out, "feed-0-why"))


def test_the_place_where_the_chain_ends_is_drawn(tmp_path):
    warehouse = Warehouse(tmp_path / "wh")
    rows = [cli_story.message(f"m{n}", cli_story.BOB, n, previous_id=f"m{n - 1}") for n in range(1, 1000) if n != 500]
    warehouse.write("ssb_messages", *rows)
    places = [(f"m{n}", n, n < 500, None if n < 500 else "after_gap") for n in range(1, 1000) if n != 500]
    warehouse.fill("feed_messages", "message_id sequence in_chain reason", *places, author=cli_story.BOB)
    counts = {"message_count": 998, "max_sequence": 999, "verified_length": 499, "gap_sequence": 500}
    warehouse.write("feeds", {"author": cli_story.BOB, **counts, "status": "gap", "latest_message_id": "m499"})
    view = shard(make(warehouse, nodes=20), "feed-0")
    drawn = [each["depth"] for each in view["nodes"] if each["state"] != "missing"]
    assert drawn == [*range(490, 500), *range(501, 511)] and view["left_out"] == 978
    assert node(view, "m500")["words"] == "not in the log" and view["holes"] == []
    assert node(view, "m499")["marks"] == ["tip"]
