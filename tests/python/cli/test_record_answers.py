"""`show` and `why` on a record: the fields at the tips, conflicts, and messages that do not count."""

import pytest

import cli_story as story
from cli_kit import HOSTILE, assert_harmless
from cli_story import A1, A2, ROOT, field, record

CONFLICT = {A1: '"Dinner"', A2: f'"{HOSTILE[:3]}"'}
MALFORMED = {"message_id": A1, "reason": "malformed_field", "fields": ["title"], "cause_id": None}
FOLLOWER = {"message_id": A2, "reason": "follows_left_out", "fields": [], "cause_id": A1}


@pytest.fixture
def warehouse(tmp_path):
    warehouse = story.write(tmp_path)
    warehouse.write("records", record(ROOT, tips=[A1, A2], is_conflicted=True))
    title = field(ROOT, "title", None, A1, A2, conflict=CONFLICT)
    return warehouse.write("record_fields", title, field(ROOT, "place", '"Park"', A2), field(ROOT, "time", "null"))


def test_show_lists_the_fields(warehouse):
    result = warehouse.ask("show", f"thread:{ROOT}")
    assert_harmless(result)
    lines = result.stdout.splitlines()
    assert 'place: "Park"' in lines and not any(line.startswith("time") for line in lines)
    at = lines.index("title: tips set different values; a merge must set it")
    assert lines[at + 1] == f'  "Dinner" by {A1[:9]}' and "\\x1b" in lines[at + 2]
    fields = warehouse.json("show", f"thread:{ROOT}")["fields"]
    assert {each["field"]: each["is_conflict"] for each in fields} == {"place": False, "time": False, "title": True}


def test_why_names_the_fields_that_a_message_gives(warehouse):
    (tangle,) = warehouse.json("why", A2)["tangles"]
    sets = {"status": "reduced", "sets": ["place", "title"], "conflicts": ["title"]}
    assert tangle["record"] == sets | {"left_out": None}
    shown = warehouse.ask("why", A2).stdout
    assert "record: gives the value of place and title; in conflict with another tip: title" in shown


def test_messages_that_do_not_count_are_told(warehouse):
    """In `why`, with the field or the message behind, in `status`, as a gate, and in `show` with the record's tips."""
    left_out = {"left_out": [MALFORMED, FOLLOWER], "left_out_count": 2}
    warehouse.write("records", record(ROOT, tips=[ROOT], **left_out))
    warehouse.write("record_fields", field(ROOT, "title", None))
    for message, told in ((A1, MALFORMED), (A2, FOLLOWER)):
        answer = warehouse.json("why", message)
        assert answer["tangles"][0]["record"]["left_out"] == told and not answer["is_well"]
    said = "record: the record leaves out the message and its followers: a field of the message is no transformation"
    assert said in warehouse.ask("why", A1).stdout and "(title)" in warehouse.ask("why", A1).stdout
    assert f"because it follows {A1}, which does not count" in warehouse.ask("why", A2).stdout
    words = f"record thread:{ROOT} leaves out 2 messages: {A1} and its followers"
    (found,) = (each for each in warehouse.json("status")["look_at"] if each["words"] == words)
    assert found["ask"].startswith(f"tangles why {A1} ")
    (condition,) = warehouse.json("status", "--fail-on", "left_out_of_record=1")["conditions"]
    assert (condition["count"], condition["is_failed"]) == (2, True)
    assert f"{A1} malformed_field, record thread:{ROOT}" in condition["first"]
    nodes = {node["id"]: node for node in warehouse.json("show", f"thread:{ROOT}")["nodes"]}
    assert all("left out of the record: " in nodes[each]["words"] for each in (A1, A2))
    assert [each for each, node in nodes.items() if "tip" in node["marks"]] == [ROOT]


def test_other_tangles_have_no_fields(tmp_path):
    """A warehouse without the tables of records lacks none for the answer."""
    warehouse = story.write(tmp_path)
    assert warehouse.json("why", A2)["tangles"][0]["record"] is None
    shown = warehouse.json("show", f"thread:{ROOT}")
    assert shown["fields"] == [] and not {"records", "record_fields"} & {*shown["missing_tables"]}
