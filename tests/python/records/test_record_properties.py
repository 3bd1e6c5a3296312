"""Random records agree with the rules word for word, in any order of their rows; hostile records are bounded."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpu_time import within
from dbt_tangles.algorithms.record import reduction
from dbt_tangles.algorithms.record.reduction import (
    MALFORMED_ROOT,
    REDUCED,
    TOO_LARGE,
    Member,
    reduce_record,
    reduce_records,
)
from dbt_tangles.algorithms.record.sets import present_entries, present_intervals
from dbt_tangles.algorithms.record.strategies import MOST_NESTING, equality_key, is_valid, to_json
from dbt_tangles.formats.ssb.contents import parse_content
from dbt_tangles.reasons import RecordReason
from record_oracle import IN_CONFLICT, Oracle, ids_left_out

STRATEGIES = {"title": "overwrite", "body": "overwrite", "tags": "simple_set", "authors": "complex_set"}
TITLE = {"title": "overwrite"}
MALFORMED_FIELD, UNRESOLVED_MERGE, FOLLOWS_LEFT_OUT = (reason.value for reason in RecordReason)
VALUES = st.sampled_from(["a", "b", None, {"x": 1, "y": [True]}, {"y": [True], "x": 1}, [], {}])
SET = st.builds(lambda value: {"set": value} if value != [] else {}, VALUES)
ENTRIES = st.dictionaries(st.sampled_from(["ann", "bob", "Zoe"]), st.integers(-2, 2), max_size=2)
POSITIONS = st.dictionaries(st.sampled_from(["0", "3", "7", "12"]), st.integers(-2, 2), max_size=3)
AUTHORS = st.dictionaries(st.sampled_from(["ann", "bob", "Zoe"]), POSITIONS, max_size=2)
CONTENTS = st.fixed_dictionaries(
    {}, optional={"title": SET, "body": SET, "tags": ENTRIES, "authors": AUTHORS, "other": st.none()}
)


@st.composite
def records(draw) -> list[Member]:
    """Draw a record of up to 14 members, by depth, then id."""
    count = draw(st.integers(1, 14))
    ids = draw(st.permutations([f"%{number:02}" for number in range(count)]))
    depths = {ids[0]: 0}
    members = [Member(ids[0], [], draw(CONTENTS))]
    for place, each in enumerate(ids[1:], start=1):
        listed = st.lists(st.sampled_from(ids[max(0, place - 4) : place]), min_size=1, max_size=3)
        previous = draw(listed)
        depths[each] = 1 + max(depths[other] for other in previous)
        members.append(Member(each, previous, draw(CONTENTS)))
    return sorted(members, key=lambda member: (depths[member.message_id], member.message_id))


@given(records())
def test_records_agree_with_a_literal_implementation_of_the_rules(members):
    found, oracle = reduce_record(members, STRATEGIES), Oracle(members, STRATEGIES)
    assert found.status == REDUCED
    assert found.tips == oracle.tips()
    check_left_out(found, members, oracle)
    for field in found.fields:
        wanted = oracle.value(field.field)
        assert field.is_conflict == (wanted is IN_CONFLICT) == (field.value is None)
        assert field.is_conflict or json.loads(field.value) == wanted
        assert {*field.set_by} <= {*oracle.left}
        if field.strategy == "overwrite" and len(found.tips) > 1:
            assert field.set_by == sorted({*oracle.branches(found.tips, field.field).values()})
        for value in field.conflicting_values:
            assert oracle.last_setter(value.tip_id, field.field) == value.message_id
            assert oracle.data[value.message_id][field.field]["set"] == json.loads(value.value)


def check_left_out(found: reduction.Record, members: list[Member], oracle: Oracle) -> None:
    """Merges name the fields whose conflict they leave, and followers the merge behind them."""
    assert ids_left_out(found) == sorted({member.message_id for member in members} - {*oracle.left})
    merges = {each.message_id for each in found.left_out if each.reason == UNRESOLVED_MERGE}
    for each in found.left_out:
        previous = oracle.previous[each.message_id]
        if each.reason == FOLLOWS_LEFT_OUT:
            assert not each.fields and each.cause_id in merges & oracle.history(each.message_id)
            assert not {*previous} <= {*oracle.left}
        else:
            wanted = [
                f
                for f in oracle.overwritten()
                if not oracle.sets(each.message_id, f) and oracle.in_conflict(previous, f)
            ]
            assert (each.reason, each.fields, each.cause_id) == (UNRESOLVED_MERGE, sorted(wanted), None)


@given(records())
def test_a_merge_that_sets_the_conflicting_fields_resolves_them(members):
    """The next message has to set exactly the fields in conflict; without them it is unresolved."""
    before = reduce_record(members, STRATEGIES)
    conflicts = [field.field for field in before.fields if field.is_conflict]
    for left_out in [None, *conflicts]:
        content = {field: {"set": "merged"} for field in conflicts if field != left_out}
        after = reduce_record([*members, Member("~", before.tips, content)], STRATEGIES)
        assert ids_left_out(after, UNRESOLVED_MERGE) == sorted(
            [*ids_left_out(before, UNRESOLVED_MERGE), *(["~"] if left_out else [])]
        )
        if left_out is None:
            assert after.tips == ["~"]
            for field, earlier in zip(after.fields, before.fields, strict=True):
                assert json.loads(field.value) == ("merged" if earlier.is_conflict else json.loads(earlier.value))
                assert field.set_by == (["~"] if earlier.is_conflict else earlier.set_by)


def rows_of(members: list[Member], root: str) -> list[dict]:
    depths: dict[str, int] = {}
    for member in members:
        depths[member.message_id] = 1 + max((depths[other] for other in member.previous), default=-1)
    shared = {"tangle_name": "page", "root_id": root, "reducer": json.dumps(STRATEGIES)}
    return [
        shared
        | {"message_id": m.message_id, "depth": depths[m.message_id], "previous": [*m.previous] or None}
        | {"content": json.dumps(m.content)}
        for m in members
    ]


def reduced_rows(rows: list[dict]) -> list[dict]:
    batches = pa.Table.from_pylist(rows, reduce_records.reads).to_batches(3)
    found = pa.Table.from_batches(reduce_records(iter(batches), parse=parse_content), reduce_records.writes)
    found.validate(full=True)
    return found.to_pylist()


@given(st.lists(records(), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_any_order_of_rows(some, random):
    rows = [row for number, members in enumerate(some) for row in rows_of(members, f"root {number}")]
    first = reduced_rows(rows)
    random.shuffle(rows)
    assert reduced_rows(rows) == first
    assert [row["root_id"] for row in first] == [f"root {number}" for number in range(len(some))]
    for row, members in zip(first, some, strict=True):
        assert plain(row)[2:] == plain(reduce_record(members, STRATEGIES))


def plain(value):
    """Convert rows and tuples to lists of their values."""
    if isinstance(value, dict | list | tuple):
        return [plain(part) for part in (value.values() if isinstance(value, dict) else value)]
    return value


ODD_KEYS = st.sampled_from(
    ["set", "a", "", "__proto__", "constructor", "1", "01", "9" * 400, "\ud800", "a\nb", "\u2028"]
)
ODD_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats()
    | st.sampled_from(["", "\ud83d", "\U0001f600"]),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(ODD_KEYS, parts, max_size=3),
    max_leaves=8,
)
ODD_CONTENTS = st.dictionaries(st.sampled_from([*STRATEGIES, "__proto__"]), ODD_VALUES, max_size=4)


@given(st.lists(ODD_CONTENTS, min_size=1, max_size=6))
def test_any_content_has_a_verdict(contents):
    """A content counts or is malformed: NaN and texts that are no JSON are malformed, and values are valid JSON."""
    ids = [f"%{number}" for number in range(len(contents))]
    members = [
        Member(each, ids[:place][-1:], content) for place, (each, content) in enumerate(zip(ids, contents, strict=True))
    ]
    (found,) = reduced_rows(rows_of(members, ids[0]))
    counted = len(ids) - len(found["left_out"])
    assert (found["status"] == MALFORMED_ROOT) == (counted == 0)
    assert found["tips"] == ids[counted - 1 : counted] if counted else found["tips"] == []
    assert [row["message_id"] for row in found["left_out"] if row["reason"] == MALFORMED_FIELD][:1] == ids[
        counted : counted + 1
    ]
    for content in contents[:counted]:
        assert "NaN" not in json.dumps(content)
    for field in found["fields"]:
        json.loads(field["value"], parse_constant=pytest.fail)
        assert len(field["value"]) < 20 * sum(len(json.dumps(content)) for content in contents[:counted]) + 20


def test_huge_fields_in_time():
    """A content of 100,000 positions, 100,000 entries and a long text, as a decrypted message may have."""
    content = {
        "title": {"set": "x" * 10**7},
        "tags": {str(number): 1 for number in range(100_000)},
        "authors": {"ann": {str(number): (-1) ** number for number in range(100_000)}},
    }
    with within(5):
        found = reduce_record([Member("A", [], content), Member("B", ["A"], content)], STRATEGIES)
    values = {field.field: json.loads(field.value) for field in found.fields}
    assert (len(values["tags"]), len(values["authors"]["ann"])) == (100_000, 50_000)


def test_the_nearest_setter_decides_as_for_peers():
    """The search of the peers finds the nearest message that sets a field, which another message may have replaced.

    C replaces A's title and reaches M by a longer path than A. M takes C's title over. A later merge with F, which
    also has A's title, finds A behind both branches, and takes A's title over.
    """
    members = [
        Member("A", [], {"title": {"set": "old"}}),
        Member("B", ["A"], {}),
        Member("C", ["A"], {"title": {"set": "new"}}),
        Member("F", ["A"], {}),
        Member("D", ["C"], {}),
        Member("E", ["D"], {}),
        Member("M", ["B", "E"], {}),
    ]
    assert reduce_record([*members[:3], *members[4:]], TITLE).fields[0].value == '"new"'
    merged = reduce_record([*members, Member("N", ["M", "F"], {})], TITLE)
    assert (merged.tips, merged.fields[0].value, merged.fields[0].set_by) == (["N"], '"old"', ["A"])


def test_nesting_is_bounded():
    value = "deep"
    for _ in range(MOST_NESTING - 2):
        value = [value]
    assert is_valid("overwrite", {"set": {"a": value}}) is False
    assert is_valid("overwrite", {"set": {"a": value[0]}}) is True


def test_numbers_and_booleans_differ():
    assert equality_key(1) == equality_key(1.0) != equality_key(True)
    assert equality_key(2**53) == equality_key(2**53 + 1)
    assert equality_key({"a": 1, "b": [0, -0.0]}) == equality_key({"b": [-0.0, 0], "a": 1})
    assert equality_key([1, 2]) != equality_key([2, 1])
    assert equality_key(None) != equality_key("None")


def test_entries_are_sorted_by_utf_16_units():
    assert present_entries([{"\ufb01": 1, "\U0001f600": 1, "Z": 1, "a": 1, "gone": 1}, {"gone": -1}]) == [
        "Z",
        "a",
        "\U0001f600",
        "\ufb01",
    ]


def test_intervals_of_positions_beyond_doubles():
    """Positions become doubles, as for peers; an infinite one is null in JSON, and equal ones are ordered by text."""
    far = {"9" * 400: 1, "9007199254740993": 1, "9007199254740992": -1, "01": -1, "1": 1}
    found = present_intervals([{"a": far, "__proto__": {"1": 1}, "gone": {"1": -1}}], keeps_zeros=False)
    assert found == {"a": [{"start": 1, "end": 1}, {"start": 2**53, "end": None}]}
    assert to_json(present_intervals([{"a": {"9" * 400: 1}}], keeps_zeros=False)) == '{"a":[{"start":null,"end":null}]}'
    weights = [{"a": {"1": float("inf")}}, {"a": {"1": float("-inf"), "2": 1}}]  # the sum is no number
    assert present_intervals(weights, keeps_zeros=True) == {"a": [{"start": 2, "end": None}]}


@pytest.mark.parametrize("content", [None, {"title": "text"}])
def test_without_its_root_a_record_has_no_state(content):
    found = reduce_record([Member("A", [], content), Member("B", ["A"], {"title": {"set": 1}})], TITLE)
    assert (found.status, found.tips, found.fields) == (MALFORMED_ROOT, [], [])
    assert (ids_left_out(found, MALFORMED_FIELD), len(found.left_out)) == (["A"], 2)


@pytest.mark.parametrize(
    "content", ["", "[]", "7", "{", '{"title": {"set": 1}', "\ud83d".encode("utf-8", "replace").decode()]
)
def test_contents_that_are_no_objects(content):
    rows = rows_of([Member("A", [], {}), Member("B", ["A"], {})], "A")
    rows[1]["content"] = content
    (found,) = reduced_rows(rows)
    assert ([row["message_id"] for row in found["left_out"] if row["reason"] == MALFORMED_FIELD], found["tips"]) == (
        ["B"],
        ["A"],
    )


def test_contents_that_only_javascript_reads():
    """Lone surrogates, numbers beyond doubles and deep nesting beside the fields are accepted."""
    rows = rows_of([Member("A", [], {}), Member("B", ["A"], {})], "A")
    rows[0]["content"] = '{"tags": {"a": 1e999}, "body": {"set": 1e999}, "other": ' + "[" * 5000 + "]" * 5000 + "}"
    rows[1]["content"] = '{"title": {"set": "\\ud800"}}'
    (found,) = reduced_rows(rows)
    values = {field["field"]: field["value"] for field in found["fields"]}
    assert values == {"title": '"\\ud800"', "body": "null", "tags": '["a"]', "authors": "{}"}


def test_a_wide_record_in_time():
    """5,000 tips with values of their own, merged one by one, and listed up to the limit."""
    tips = [Member(f"t{number:05}", ["A"], {"title": {"set": number}}) for number in range(5000)]
    members = [Member("A", [], {}), *tips]
    merge = Member("~", [tip.message_id for tip in tips], {})
    with within(5):
        (field,) = reduce_record(members, TITLE).fields
        merged = reduce_record([*members, merge], TITLE)
    assert field.is_conflict and len(field.conflicting_values) == reduction.MOST_VALUES
    assert len(field.set_by) == 5000
    assert ids_left_out(merged, UNRESOLVED_MERGE) == ["~"]


def test_a_deep_record_in_time():
    members = [Member("00000", [], {"title": {"set": 0}})]
    for number in range(1, 10_000):
        previous = [members[-1].message_id, members[max(0, number - 2)].message_id]
        members.append(Member(f"{number:05}", previous, {"title": {"set": number}} if number % 7 == 0 else {}))
    with within(5):
        found = reduce_record(members, TITLE)
    assert found.status == REDUCED and found.fields[0].value == "9996"


def test_too_large_records_are_reported(monkeypatch):
    tips = [Member(f"t{number}", ["A"], {"title": {"set": 1}}) for number in range(9)]
    members = [Member("A", [], {}), *tips, Member("~", [tip.message_id for tip in tips], {})]
    monkeypatch.setattr(reduction, "MOST_COMPARISONS", 8)
    assert reduce_record(members, TITLE).status == TOO_LARGE
    monkeypatch.setattr(reduction, "MOST_COMPARISONS", 9)
    assert reduce_record(members, TITLE).status == REDUCED
    monkeypatch.setattr(reduction, "MOST_MEMBERS", 10)
    assert reduce_record(members, TITLE).status == TOO_LARGE
