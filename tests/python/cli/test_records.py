"""`show` and `why` on a record: the fields at the tips, conflicts, and messages that do not count."""

import pytest

import cli_story as story
from cli_kit import HOSTILE, assert_harmless
from cli_story import A1, A2, ROOT

RECORD = {"tangle_name": "thread", "root_id": ROOT}
CONFLICT = [
    {"tip_id": A1, "message_id": A1, "value": '"Dinner"'},
    {"tip_id": A2, "message_id": A2, "value": f'"{HOSTILE[:3]}"'},
]


def field(name: str, value: str | None, *set_by: str, values: list[dict] = ()) -> dict:
    is_conflict = bool(values)
    row = {"field": name, "strategy": "overwrite", "value": value, "is_conflict": is_conflict, "set_by": [*set_by]}
    return {**RECORD, **row, "conflicting_values": [*values]}


@pytest.fixture
def warehouse(tmp_path):
    warehouse = story.write(tmp_path)
    faults = {"malformed_messages": [A1], "unresolved_merges": []}
    warehouse.write("records", {**RECORD, "status": "reduced", "is_conflicted": True, "tips": [A1, A2], **faults})
    title = field("title", None, A1, A2, values=CONFLICT)
    return warehouse.write("record_fields", title, field("place", '"Park"', A2), field("time", "null"))


def test_show_lists_the_fields(warehouse):
    result = warehouse.ask("show", f"thread:{ROOT}")
    assert_harmless(result)
    lines = result.stdout.splitlines()
    assert 'place: "Park"' in lines and not any(line.startswith("time") for line in lines)
    at = lines.index("title: tips set different values; a merge must set it")
    assert lines[at + 1] == f'  "Dinner" by {A1[:9]}' and "\\x1b" in lines[at + 2]
    fields = warehouse.json("show", f"thread:{ROOT}")["fields"]
    assert [(each["field"], each["is_conflict"]) for each in fields] == [
        ("place", False),
        ("time", False),
        ("title", True),
    ]


def test_why_names_the_fields_that_a_message_gives(warehouse):
    (tangle,) = warehouse.json("why", A2)["tangles"]
    assert tangle["record"] == {"status": "reduced", "sets": ["place", "title"], "conflicts": ["title"], "fault": None}
    shown = warehouse.ask("why", A2).stdout
    assert "record: gives the value of place and title; in conflict with another tip: title" in shown
    assert "a field of the message is malformed" in warehouse.ask("why", A1).stdout


def test_other_tangles_have_no_fields(tmp_path):
    """A warehouse without the tables of records lacks none for the answer."""
    warehouse = story.write(tmp_path)
    assert warehouse.json("why", A2)["tangles"][0]["record"] is None
    shown = warehouse.json("show", f"thread:{ROOT}")
    assert shown["fields"] == [] and not {"records", "record_fields"} & {*shown["missing_tables"]}
