"""A log of gatherings with fields of wrong types: which messages count in each record, by the default reducers."""

import json

import orjson

from conftest import DATA
from dbt_tangles.algorithms.record.reduction import Member, reduce_record
from dbt_tangles.lint.records import default_reducers
from record_oracle import ids_left_out

LOG = DATA / "records" / "record_types.jsonl"
EXPECTED = json.loads((DATA / "records" / "record_types.expect.json").read_text())
#: The messages of the three records, in the order of the log, by the names in the expectations.
NAMES = ("r1", "m1", "m2", "m3", "r2", "n1", "r3", "o1", "o2")


def test_each_message_that_does_not_count_is_named():
    lines = [orjson.loads(line) for line in LOG.read_bytes().splitlines()]
    name = {line["key"]: each for line, each in zip(lines, NAMES, strict=True)}
    records: dict[str, list[Member]] = {}
    for line in lines:
        content = line["value"]["content"]
        claim = content["tangles"]["gathering"]
        member = Member(name[line["key"]], [name[each] for each in claim["previous"] or []], content)
        records.setdefault(name[claim["root"] or line["key"]], []).append(member)
    found = {root: reduce_record(members, default_reducers()["gathering"]) for root, members in records.items()}
    malformed = {root: ids_left_out(record, "malformed_field") for root, record in found.items()}
    assert malformed == EXPECTED["malformed_messages"]
    assert {root: sorted(ids_left_out(record)) for root, record in found.items()} == {
        root: sorted(messages) for root, messages in EXPECTED["left_out"].items()
    }
    (behind,) = (each for each in found["r1"].left_out if each.message_id == "m2")
    assert (behind.reason, behind.cause_id) == ("follows_left_out", "m1")
