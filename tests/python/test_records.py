"""Records of a small log, by hand: a conflict, messages that do not count, other contents and strategies.

`fixtures/ssb/record_examples.py` has merges that resolve a conflict, and malformed fields.
"""

import json

import pytest

from lettered_log import LetteredLog

SELECTED = ("--select", "+records", "+record_fields")
REDUCER = {"title": "overwrite", "mood": "overwrite", "guests": "simple_set", "hosts": "complex_set"}
TYPES = [{"tangle_name": "party", "content_types": ["party"], "reducer": REDUCER}]


def to(value) -> dict:
    return {"set": value}


@pytest.fixture(scope="module")
def story() -> LetteredLog:
    """Parties: A ends in a conflict, the root of Y is malformed, and that of Q is missing."""
    made = LetteredLog("records")
    made.say("A", "alice", "party", None, title=to("Picnic"), guests={"ann": 1, "bob": 1}, hosts={"ann": {"1": 1}})
    made.say(
        "B",
        "bob",
        "party",
        "A",
        "A",
        title=to("Dinner"),
        guests={"bob": -1, "cleo": 1},
        hosts={"bob": {"2": 1, "3": 0}},
    )
    made.say("C", "carol", "party", "A", "A", title=to("Brunch"), mood=to({"level": 3}))
    made.say("D", "carol", "party", "A", "C", guests={"dora": 1, "ann": -1}, hosts={"ann": {"05": -1}})
    made.say("E", "alice", "party", "A", "BD", mood=to("late"))  # a merge that leaves the titles in conflict
    made.say("F", "alice", "party", "A", "E", title=to("lost"))
    made.say("Y", "bob", "party", None, title=["malformed"])
    made.say("Z", "alice", "party", None, title=to("not in the log"))
    del made.lines[-1]
    made.say("Q", "carol", "party", "Z", "Z", title=to("rootless"))
    return made


@pytest.fixture(scope="module")
def nights(project, story) -> list[dict[str, list[dict]]]:
    """Build the log; then with other contents, whose ids are not verified; then with another strategy: the tables."""
    built = project("records", verify_signatures=False)
    changed = [line.replace(b'"Dinner"', b'"Supper"').replace(b'{"level":3}', b'"calm"') for line in story.lines]
    other = [TYPES[0] | {"reducer": {"mood": "overwrite"}}]
    found = []
    for lines, types in ((story.lines, TYPES), (changed, TYPES), (changed, other)):
        built.vars["tangle_types"] = types
        built.given(ssb_log=lines).run(*SELECTED)
        found.append({name: built.rows(name) for name in ("records", "record_fields", "tangles")})
    return found


def rows(night: dict, story: LetteredLog) -> tuple[dict, dict]:
    """Read the records and their fields, with letters in place of ids."""
    text = json.dumps([night["records"], night["record_fields"]])
    for letter, each in story.ids.items():
        text = text.replace(json.dumps(each), f'"{letter}"')
    records, fields = json.loads(text)
    named = {(row.pop("root_id"), row.pop("field")): row for row in fields}
    assert {row.pop("tangle_name") for row in [*records, *fields]} == {"party"}
    assert all(row.pop("tangle_id").startswith("party:") for row in [*records, *fields])
    return {row.pop("root_id"): row for row in records}, named


NOTHING = {"conflicting_fields": [], "malformed_messages": [], "unresolved_merges": [], "left_out": []}


def left_out(message: str, reason: str, *fields: str, cause: str | None = None) -> dict:
    return {"message_id": message, "reason": reason, "fields": [*fields], "cause_id": cause}


RECORDS = {
    "A": NOTHING
    | {"status": "reduced", "is_conflicted": True, "conflicting_fields": ["title"], "tips": ["B", "D"]}
    | {"unresolved_merges": ["E"], "left_out_count": 2}
    | {"left_out": [left_out("E", "unresolved_merge", "title"), left_out("F", "follows_left_out", cause="E")]},
    "Y": NOTHING
    | {
        "status": "malformed_root",
        "is_conflicted": False,
        "tips": [],
        "malformed_messages": ["Y"],
        "left_out_count": 1,
        "left_out": [left_out("Y", "malformed_field", "title")],
    },
}
RECORDS["Z"] = NOTHING | {"status": "missing_root", "is_conflicted": False, "tips": [], "left_out_count": 0}
#: The value, the messages that set it, and the values in conflict by tip and message.
FIELDS = {
    ("A", "title"): (None, "BC", {("B", "B", '"Dinner"'), ("D", "C", '"Brunch"')}),
    ("A", "mood"): ('{"level":3}', "C", set()),
    ("A", "guests"): ('["cleo","dora"]', "ABD", set()),
    ("A", "hosts"): ('{"ann":[{"start":1,"end":5}],"bob":[{"start":2,"end":null}]}', "ABD", set()),
}


def test_records_by_hand(nights, story):
    records, fields = rows(nights[0], story)
    for row in records.values():
        row["tips"].sort()
    assert records == RECORDS
    assert fields.keys() == FIELDS.keys()
    for key, (value, set_by, conflicting) in FIELDS.items():
        row = fields[key]
        assert row["strategy"] == REDUCER[key[1]]
        assert (row["value"], row["is_conflict"], "".join(sorted(row["set_by"]))) == (value, value is None, set_by)
        found = {(each["tip_id"], each["message_id"], each["value"]) for each in row["conflicting_values"]}
        assert found == conflicting and len(row["conflicting_values"]) == len(conflicting)
    for row in nights[0]["record_fields"]:
        assert row["set_by"] == sorted(row["set_by"])
    assert all(row["tips"] == sorted(row["tips"]) for row in nights[0]["records"])
    # The tangle has tips of its own: the merge without effect, and its follower.
    tangles = {row["root_id"]: row["tips"] for row in nights[0]["tangles"] if row["tangle_name"] == "party"}
    assert tangles[story.ids["A"]] == [story.ids["F"]]


def test_another_content_rebuilds_a_record(nights, story):
    _, fields = rows(nights[1], story)
    assert fields["A", "mood"]["value"] == '"calm"'
    assert {each["value"] for each in fields["A", "title"]["conflicting_values"]} == {'"Supper"', '"Brunch"'}


def test_another_strategy_rebuilds_a_record(nights, story):
    """Without a title there is no conflict: the merge counts, and Y's root is sound."""
    records, fields = rows(nights[2], story)
    assert fields.keys() == {("A", "mood"), ("Y", "mood")}
    assert (records["A"]["tips"], fields["A", "mood"]["value"]) == (["F"], '"late"')
