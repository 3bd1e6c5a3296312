"""Verification of event lines: one row for any line."""

import json
import random

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbt_tangles.formats.events.verify_lines import OUTPUT_SCHEMA, verify_batches
from log_lines import mutated, verified

GOOD = {"timeline": "t", "event": "e", "after": ["a", "b"], "author": "x", "arrival": 7}
NOT_LIST = "after is not a list of non-empty strings"
NOT_WHOLE = "arrival is not a whole number of 64 bits"
NO_TIMELINE_ID = "timeline is not a non-empty string"
NO_EVENT_ID = "event is not a non-empty string"


def check(lines):
    """Verify lines and check the invariants of their rows."""
    rows = verified(verify_batches, OUTPUT_SCHEMA, lines)
    for row in rows:
        assert row["timeline_id"] != "" != row["event_id"]
        if row["detail"] is None:
            assert None not in (row["timeline_id"], row["event_id"], row["arrival"])
            assert len(row["causes"]) == len({*row["causes"]})
            assert "" not in row["causes"]
        else:
            assert row["causes"] is row["author"] is row["arrival"] is None
    return rows


def to_line(**fields):
    return json.dumps({name: value for name, value in (GOOD | fields).items() if value is not ...}).encode()


def result_of(line):
    """Return ids and fault of a line, which are independent of its position."""
    [row] = check([line])
    among_others = check([to_line(), line, to_line(event="f")])[1]
    assert among_others | {"line": 1} == row
    return row["timeline_id"], row["event_id"], row["detail"]


@pytest.mark.parametrize(
    ("fields", "columns"),
    [
        ({}, {}),
        *(({"arrival": number}, {"arrival": number}) for number in (0, -1, 2**53 + 1, 2**63 - 1, -(2**63))),
        *(({"author": author}, {"author": None}) for author in (..., None)),
        *(({"author": author}, {"author": author}) for author in ("", "\0", "é😀")),
        # Causes are distinct, in the order of first occurrence, the event itself included.
        ({"after": []}, {"causes": []}),
        ({"after": ["b", "a", "b", "a", "c", "b"]}, {"causes": ["b", "a", "c"]}),
        *(({"after": after}, {"causes": ["e"]}) for after in (["e"], ["e", "e"])),
        ({"after": ["z", "e", "a", "e", "z"]}, {"causes": ["z", "e", "a"]}),
        ({"after": ["\0", "é", "e\u0301", "😀", " "]}, {"causes": ["\0", "é", "e\u0301", "😀", " "]}),
    ],
)
def test_every_column(fields, columns):
    """Among lines without causes, and with a malformed line."""
    row = {"timeline_id": "t", "event_id": "e", "causes": ["a", "b"], "author": "x", "arrival": 7}
    row = dict.fromkeys(OUTPUT_SCHEMA.names) | {"source_file": "log.jsonl", "line": 2} | row | columns
    lines = [to_line(after=[]), to_line(**fields), to_line(after=["x"])]
    for rows in (check(lines), check([*lines, b"{"])):
        assert rows[1] == row
        assert [rows[0]["causes"], rows[2]["causes"]] == [[], ["x"]]


@pytest.mark.parametrize(
    ("fields", "timeline", "event", "detail"),
    [
        ({"timeline": ...}, None, "e", "no timeline"),
        ({"event": ...}, "t", None, "no event"),
        ({"after": ...}, "t", "e", "no after"),
        ({"arrival": ...}, "t", "e", "no arrival"),
        ({"event": ..., "arrival": ...}, "t", None, "no event"),
        ({"timeline": 7, "arrival": ...}, None, "e", "no arrival"),
        *(({"timeline": odd}, None, "e", NO_TIMELINE_ID) for odd in (None, "", 7, True, ["t"], {"t": 1})),
        *(({"event": odd}, "t", None, NO_EVENT_ID) for odd in (None, "", 7, False, ["e"], {})),
        *(({"after": odd}, "t", "e", NOT_LIST) for odd in (None, "", "a", 7, {}, {"a": 1}, True)),
        *(({"after": [odd]}, "t", "e", NOT_LIST) for odd in (None, "", 7, [], {}, ["a"], False)),
        *(({"after": ["a", odd, "b"]}, "t", "e", NOT_LIST) for odd in (None, "", 7, [[]])),
        *(({"arrival": odd}, "t", "e", NOT_WHOLE) for odd in (None, "7", 0.5, 1.5, 1e300, True, False, [7], {})),
        *(({"arrival": odd}, "t", "e", NOT_WHOLE) for odd in (2**63, 2**64 - 1, 2**64, -(2**64), 10**400, -(10**400))),
        *(({"author": odd}, "t", "e", "author is not a string") for odd in (7, 0, False, [], {}, ["x"])),
        ({"timeline": "", "event": 7, "after": 7, "arrival": ""}, None, None, NO_TIMELINE_ID),
        # Arrow cannot store these texts.
        ({"timeline": "\ud800"}, None, "e", NO_TIMELINE_ID),
        ({"event": "\ud800"}, "t", None, NO_EVENT_ID),
        ({"author": "\ud800"}, "t", "e", "author is not a string"),
        ({"after": ["\ud800"]}, "t", "e", NOT_LIST),
    ],
)
def test_lines_with_a_wrong_field(fields, timeline, event, detail):
    """The first fault is reported, and readable ids are kept."""
    assert result_of(to_line(**fields)) == (timeline, event, detail)


@pytest.mark.parametrize("value", [b"1e400", b"-1e400", b"9" * 400, rb'"\ud800"', b"[" * 10_000 + b"]" * 10_000])
def test_ignored_fields_hold_any_json(value):
    """JSON that `JSON.parse` accepts and orjson rejects; the other numbers keep their values."""
    (row,) = check([to_line(arrival=2**60 + 1)[:-1] + b',"clock":{"time":' + value + b"}}"])
    assert (row["detail"], row["arrival"]) == (None, 2**60 + 1)


def test_other_keys_are_ignored_and_the_last_of_a_key_counts():
    line = b'{"x":[[]],"timeline":7,"event":"e","after":[],"arrival":1,"timeline":"t","detail":"no"}'
    assert check([line])[0]["timeline_id"] == "t"
    assert result_of(line) == ("t", "e", None)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
ids = st.text(max_size=2) | st.sampled_from(["a", "b", "e"])
near_fields = {
    "timeline": ids,
    "event": ids,
    "after": st.lists(ids, max_size=4),
    "author": ids | st.none(),
    "arrival": st.integers(-(2**63), 2**63),
}
documents = (
    json_values
    | st.fixed_dictionaries({}, optional={name: json_values | near_fields[name] for name in GOOD})
    | st.fixed_dictionaries(near_fields)
)


def expect(document):
    """Decide in the simplest way whether a document is an event, and list its causes."""
    if type(document) is not dict or not {"timeline", "event", "after", "arrival"} <= document.keys():
        return None
    after, author, arrival = document["after"], document.get("author"), document["arrival"]
    if not isinstance(after, list):
        return None
    if not all(isinstance(name, str) and name for name in [document["timeline"], document["event"], *after]):
        return None
    if not (author is None or isinstance(author, str)) or isinstance(arrival, bool):
        return None
    if not isinstance(arrival, int | float) or arrival % 1 != 0 or not -(2**63) <= arrival < 2**63:
        return None
    causes = []
    for cause in after:
        if cause not in causes:
            causes.append(cause)
    return document["timeline"], document["event"], causes, author, arrival


@given(listed=st.lists(documents, min_size=1, max_size=6))
@example(listed=[[{}, float("inf")]])
def test_any_json(listed):
    """Each document becomes a row that depends on the document alone."""
    names = ("timeline_id", "event_id", "causes", "author", "arrival")
    lines = [json.dumps(document).encode() for document in listed]
    rows = check(lines)
    for line, row in zip(lines, rows, strict=True):
        assert check([line])[0] | {"line": row["line"]} == row
        try:
            expected = expect(orjson.loads(line))
        except orjson.JSONDecodeError:
            assert row["detail"].startswith(("not JSON at column ", "a JSON array of objects, cut off"))
            continue
        assert (row["detail"] is None) == (expected is not None)
        if expected is not None:
            assert tuple(row[name] for name in names) == expected


def test_mutated_lines():
    """Valid lines with bytes changed, dropped, doubled and swapped."""
    chance = random.Random(7)
    lines = []
    for _ in range(5000):
        line = to_line(event=f"e{chance.randrange(9)}", after=["é", "e1", "x" * chance.randrange(9)])
        lines.append(mutated(line, chance))
    details = {row["detail"] for row in check(lines)}
    assert {None, NOT_LIST} < details and any((detail or "").startswith("not JSON at column ") for detail in details)
