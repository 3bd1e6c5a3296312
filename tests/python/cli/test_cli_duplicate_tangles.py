"""Duplicate tangles of one root: text answers merge them under both names, JSON answers list both."""

import json

import pytest

import cli_story as story
from cli_kit import Warehouse, tangles
from cli_story import A1, A2, B1, B2, GONE

BOTH = "ssb:legacy_thread and thread"


@pytest.fixture
def warehouse(tmp_path) -> Warehouse:
    return story.write_twins(tmp_path / "wh")


def change(warehouse: Warehouse, table: str, name: str, **values) -> None:
    rows = warehouse.rows(table)
    warehouse.write(table, *(row | (values if row["tangle_name"] == name else {}) for row in rows))


@pytest.mark.parametrize("id_", [A1, B2])
def test_why(warehouse, id_):
    text = warehouse.ask("why", id_).stdout
    assert text.count("tangle ") == text.count(f"tangle {BOTH} on {story.ROOT}: ") == 1
    assert [row["tangle_name"] for row in warehouse.json("why", id_)["tangles"]] == ["ssb:legacy_thread", "thread"]
    for name in ("thread", "ssb:legacy_thread"):
        assert f"tangle {name} on {story.ROOT}: " in warehouse.ask("why", id_, "--in", name).stdout


def test_why_shows_duplicate_tangles_that_differ(warehouse):
    change(warehouse, "tangle_messages", "thread", position=7)
    text = warehouse.ask("why", A1).stdout
    assert f"tangle ssb:legacy_thread on {story.ROOT}: member, depth 1, position 1" in text
    assert f"tangle thread on {story.ROOT}: member, depth 1, position 7" in text


def test_why_of_an_id_that_both_tangles_await(warehouse):
    text = warehouse.ask("why", GONE).stdout
    waiting = "1 message lists it as previous, 2 are set aside because of it, 2 become members once it arrives"
    assert f"tangle {BOTH} on {story.ROOT} wait for it: {waiting}" in text
    assert text.count("waits for it") == 0 and text.count("referred to by") == 1
    assert f"referred to by {B1} (tangle {BOTH}:{story.ROOT})" in text
    answer = warehouse.json("why", GONE)
    assert len(answer["awaited_by"]) == len(answer["referred_to_by"]) == 2


def test_why_of_a_root_that_is_not_there(warehouse):
    rows = warehouse.rows("ssb_messages")
    warehouse.write("ssb_messages", *(row for row in rows if row["message_id"] != story.ROOT))
    text = warehouse.ask("why", story.ROOT).stdout
    assert f"tangle root {BOTH}" in text
    assert text.count("tangles show") == text.count(f"tangles show {story.ROOT} --kind tangle --warehouse ") == 1


def test_show(warehouse):
    """The root alone selects equal tangles; for different ones the name is required."""
    shown = warehouse.ask("show", "%root")
    assert shown.exit_code == 0 and shown.stdout.startswith(f"tangle {BOTH} {story.ROOT}\n")
    alone = warehouse.ask("show", f"thread:{story.ROOT}").stdout
    assert alone.splitlines()[1:] == shown.stdout.splitlines()[1:]
    assert alone.startswith(f"tangle thread {story.ROOT}\n")
    answer = warehouse.json("show", "%root")
    assert (answer["name"], answer["also"]) == ("ssb:legacy_thread", ["thread"])
    assert warehouse.json("show", "thread:%root")["also"] == []
    assert f'digraph "tangle {BOTH} {story.ROOT}"' in warehouse.ask("show", "%root", "--format", "dot").stdout
    change(warehouse, "tangle_messages", "thread", is_tip=True)
    asked = warehouse.ask("show", "%root")
    assert asked.exit_code == 2
    assert f"ssb:legacy_thread:{story.ROOT} --kind tangle\n  thread:{story.ROOT}" in asked.stderr


def test_status(warehouse):
    text = warehouse.ask("status").stdout
    assert "          1 tangle: present 1\n" in text
    assert "          5 messages in tangles: member 3, missing_previous 1, previous_set_aside 1\n" in text
    assert f"1 thread is in both notations, {BOTH}; each is counted once" in text
    assert f"a message is missing; once it arrives, 2 messages become members of tangle {BOTH}" in text
    answer = warehouse.json("status")
    counts = {row["table"]: row for row in answer["counts"]}
    assert counts["tangle_messages"]["total"] == 10 and counts["tangle_messages"]["once"]["total"] == 5
    assert answer["alike"] == [{"names": ["ssb:legacy_thread", "thread"], "roots": 1}]


def test_status_counts_a_thread_once_whose_notations_differ(warehouse):
    change(warehouse, "tangle_messages", "ssb:legacy_thread", depth=9)
    fault = {"root_id": story.ROOT, "message_id": A2, "fault": "redundant_previous"}
    both = [{**fault, "tangle_name": name} for name in ("thread", "ssb:legacy_thread")]
    warehouse.write("tangle_writer_faults", *both, {**both[0], "message_id": A1})
    text = warehouse.ask("status").stdout
    assert "          1 tangle: present 1\n" in text and "          5 messages in tangles: " in text
    assert "          2 writer faults in tangles: redundant_previous 2\n" in text


def diff(a: Warehouse, b: Warehouse, *options: str) -> tuple[str, dict]:
    asked = ["diff", str(a.root), str(b.root), *options]
    answer = json.loads(tangles(*asked, "--json").stdout)
    return tangles(*asked).stdout, {row["table"]: row for row in answer["tables"]}


def test_diff(warehouse, tmp_path):
    other = story.write_twins(tmp_path / "other")
    names = ("thread", "ssb:legacy_thread")
    for name in names:
        change(other, "tangles", name, tips=[A1], member_count=2)
        change(other, "tangle_messages", name, depth=4)
    rows = other.rows("tangle_messages")
    other.write(
        "tangle_messages", *({**row, "position": 2 - row["position"] if row["is_member"] else None} for row in rows)
    )
    for each, id_ in ((warehouse, A1), (other, A2)):
        event = {"position": 0, "event_id": id_, "message_id": id_}
        each.write("timeline_events", *({**event, "timeline_id": f"{name}:{story.ROOT}"} for name in names))
    text, tables = diff(warehouse, other)
    root = "%rootAAAA"
    assert f"1 tangle differs\n              {BOTH} {root}: member_count 3 / 2" in text
    assert f"5 messages in tangles differ\n              {BOTH} {root} %a1AAAAAA: depth 1 / 4" in text
    assert f"1 order of tangles differs\n              {BOTH} {root}: place 0" in text
    assert f"1 order of timelines differs\n              {BOTH} {root}: place 0" in text
    assert text.count(BOTH) == 3 + 5 and "more (--limit)" not in text
    assert tables["tangle_messages"]["differ"]["total"] == 10
    assert [row["tangle_name"] for row in tables["tangles"]["differ"]["first"]] == ["ssb:legacy_thread", "thread"]
    limited, _ = diff(warehouse, other, "--limit", "2")
    assert "… and 3 more" in limited and limited.count(BOTH) == 3 + 2


def test_diff_of_duplicate_tangles_that_differ(warehouse, tmp_path):
    other = story.write_twins(tmp_path / "other")
    change(other, "tangles", "thread", member_count=2)
    change(other, "tangles", "ssb:legacy_thread", member_count=4)
    text, _ = diff(warehouse, other)
    assert "2 tangles differ\n" in text and f"thread {'%rootAAAA'}: member_count 3 / 2" in text
    assert "ssb:legacy_thread %rootAAAA: member_count 3 / 4" in text
