"""The page of records: fields, conflicts, the fields that a merge must set, and messages that do not count."""

import pytest

import cli_story
import report_story as story
from cli_kit import HOSTILE, Warehouse
from cli_story import A1, A2, BAD, ROOT
from report_browser import address, drive, dump, needs_chromium, text
from report_kit import make, shard

KEY = f"thread:{ROOT}"
OTHER = cli_story.sigil("other record")


def record(root: str, status: str = "reduced", **columns) -> dict:
    lists = {name: [] for name in ("tips", "conflicting_fields", "malformed_messages", "unresolved_merges")}
    row = {"tangle_name": "thread", "root_id": root, "status": status, "is_conflicted": False, "left_out_count": 0}
    return row | lists | columns


def field(root: str, name: str, value: str | None, *set_by: str, conflict: dict[str, str] | None = None) -> dict:
    """Make a row of `record_fields`; `conflict` has the value of each tip."""
    row = {"tangle_name": "thread", "root_id": root, "field": name, "strategy": "overwrite", "value": value}
    values = [{"tip_id": tip, "message_id": tip, "value": each} for tip, each in (conflict or {}).items()]
    return row | {"is_conflict": bool(values), "set_by": [*set_by], "conflicting_values": values}


@pytest.fixture
def warehouse(tmp_path) -> Warehouse:
    """A record in conflict with a hostile value, and one whose root is malformed."""
    warehouse = story.write(tmp_path / "wh")
    conflict = {"tips": [A1, A2], "conflicting_fields": ["title"], "is_conflicted": True}
    faults = {"left_out_count": 2, "unresolved_merges": [BAD]}
    warehouse.write("records", record(OTHER, "malformed_root", left_out_count=1), record(ROOT, **conflict, **faults))
    values = {A1: '"Dinner"', A2: f'"{HOSTILE}<script>alert(1)</script>"'}
    fields = [
        field(ROOT, "place", '"Park"', A2),
        field(ROOT, "time", "null"),
        field(ROOT, "a long text", "x" * 999, A1),
    ]
    return warehouse.write("record_fields", *fields, field(ROOT, "title", None, A1, A2, conflict=values))


def test_records_in_conflict_come_first(warehouse):
    out = make(warehouse)
    page = shard(out, "records")
    assert (page["total"], page["conflicted"], page["faulty"]) == (2, 1, 2)
    assert [each["root_id"] for each in page["records"]] == [ROOT, OTHER]
    (title, long_text, place) = page["records"][0]["fields"]  # a field that no message has set is left out
    assert (title["field"], title["value"], title["value_total"], len(title["conflicting_values"])) == (
        "title",
        None,
        2,
        2,
    )
    assert (long_text["is_cut"], len(long_text["value"])) == (True, 300)
    assert (place["value"], place["set_by"], place["set_by_total"]) == ('"Park"', [A2], 1)
    assert page["records"][1]["fields"] == []
    assert shard(out, "index")["pages"]["records"] == 2


def test_lists_are_bounded(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    many = [f"%{number:03}" for number in range(150)]
    warehouse.write("records", *(record(each, tips=many) for each in many))
    fields = [field(many[0], name, None, *many, conflict=dict.fromkeys(many, "1")) for name in many]
    warehouse.write("record_fields", *fields)
    page = shard(make(warehouse), "records")
    first = page["records"][0]
    assert (page["total"], len(page["records"]), len(first["fields"])) == (150, 100, 100)
    assert (len(first["tips"]), first["tips_total"]) == (20, 150)
    assert (len(first["fields"][0]["conflicting_values"]), first["fields"][0]["value_total"]) == (10, 150)


def test_reports_without_records_have_no_page(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    index = shard(make(warehouse), "index")
    assert "records" not in index["pages"] and not {"records", "record_fields"} & {*index["missing"]}
    warehouse.write("records")
    assert "records" not in shard(make(warehouse), "index")["pages"]


@needs_chromium
def test_the_page(warehouse):
    out = make(warehouse)
    page = dump(out, address("records"))
    words = text(page)
    assert "2 records: tangles whose messages set fields." in words and "2 of 2 records" in words
    assert "A merge must set title : the next message lists all tips and sets this field" in words
    assert f'"Dinner" set by {A1[:9]}… , a tip' in words and "in conflict" in words
    assert "2 messages do not count" in words and "Merges that leave a conflict:" in words
    assert "The root has a malformed field" in words
    assert "<script>alert" not in page and "\x1b" not in page and r"\x1b" in words
    assert "1 of 2 records" in text(dump(out, address("records", only="conflict")))
    assert "tangles show 'thread:%gone' --kind tangle" in text(dump(out, address("records", "thread:%gone")))


@needs_chromium
def test_links_lead_to_the_drawing_and_to_messages(warehouse):
    script = """
    await one(".record a");
    const to = (selector) => document.querySelector(selector).hash;
    say(to(".record h3 a"), to(".record li a"));
    """
    drawing, message = drive(make(warehouse), address("records", KEY), script).split(" | ")
    assert (drawing, message) == (address("tangle", KEY), address("message", A1))


def test_a_record_has_its_words_as_heading(warehouse):
    """The field that names a record, or its values in conflict, else the first words of its root, or its name."""
    titles = [each["title"] for each in shard(make(warehouse), "records")["records"]]
    assert titles == ["(thread)", "(thread)"]  # one of the values in conflict is not JSON
    warehouse.write("record_fields", field(ROOT, "title", '"Dinner"', A1), field(OTHER, "name", '["no text"]', A1))
    titles = [each["title"] for each in shard(make(warehouse), "records")["records"]]
    assert titles == ["Dinner", "(thread)"]
