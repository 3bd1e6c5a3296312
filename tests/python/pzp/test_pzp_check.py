"""Verification of pzp lines: any line becomes a row, and rows of valid messages have all their fields."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.columns.item_tokens import are_unique, item_of, item_texts
from dbt_tangles.formats.json.printing import CANON, NoCanonicalFormError, print_json, sorted_bytes
from dbt_tangles.formats.pzp.items import token_of
from dbt_tangles.formats.pzp.rules import Reason
from dbt_tangles.formats.pzp.verify_lines import OUTPUT_SCHEMA
from fixtures.pzp.author import Device, hash_of, id_of, moot_of
from pzp_kit import check, judge, line_of

ALICE = Device.from_name("alice")
ACCOUNT, DOMAIN = hash_of({"account": "alice"}), "set_v1__follows"
MOOT = moot_of(ACCOUNT, DOMAIN, Device.from_name("nobody")) | {"sig": "x"}
ROOT = id_of(MOOT)
DATA = {"add": ["bob"], "del": [], "supersedes": []}
MODES = [{}, {"verify_signatures": False}]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def post(data=DATA, **changes):
    tangles = {ROOT: {"depth": 1, "prev": [ROOT]}}
    usual = {"tangles": tangles, "account": ACCOUNT, "domain": DOMAIN, "accountTips": [ACCOUNT]}
    return ALICE.write(data, **usual | changes)


def reason_of(message, **options):
    [row] = check([line_of(message)], **options)
    return row["reject_reason"]


def test_row_of_a_sound_message():
    message = post({"add": ["bob", 1], "del": ["1"], "supersedes": [ROOT, 3]})
    [row] = check([line_of(message, id="claimed")])
    assert row == dict.fromkeys(OUTPUT_SCHEMA.names) | {
        "source_file": "log.jsonl",
        "line": 1,
        "message_id": id_of(message),
        "claimed_id": "claimed",
        "account": ACCOUNT,
        "account_tips": [ACCOUNT],
        "domain": "set_v1__follows",
        "sigkey": ALICE.key,
        "is_moot": False,
        "tangles": [{"root_id": ROOT, "depth": 1, "prev": [ROOT], "defect": None}],
        "data_kind": "object",
        "add": ["bob", "\x001"],
        "del": ["1"],
        "supersedes": [ROOT],
        "is_data_valid": True,
        "is_signature_valid": True,
        "is_usable": True,
        "reject_rank": 0,
    }


def test_a_message_as_the_protocol_document_writes_it():
    """Signed over `type`: peers reject it, with another reason than a missing field."""
    metadata = post()["metadata"]
    typed = {name: value for name, value in metadata.items() if name != "domain"} | {"type": "set_v1__follows"}
    of_version_2 = {"v": 2, "type": "set_v1__follows", "group": ACCOUNT, "tangles": {}}
    named_content = {name: value for name, value in ALICE.sign(metadata, DATA).items() if name != "data"}
    both = post(type="something else")
    for message, reason in [
        (ALICE.sign(typed, DATA), "other_format"),
        (ALICE.sign(of_version_2, DATA), "other_format"),
        (named_content | {"content": DATA}, "other_format"),
        (named_content, "missing_field"),
        (both | {"content": 7}, None),
    ]:
        for options in MODES:
            [row] = check([line_of(message, id="claimed")], **options)
            assert (row["reject_reason"], row["message_id"] is not None) == (reason, True)


def at_depth(depth):
    return {"tangles": {ROOT: {"depth": depth, "prev": [ROOT]}}}


def after(*prev):
    return {"tangles": {ROOT: {"depth": 1, "prev": [*prev]}}}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        *(({"v": v}, "wrong_version") for v in (3, True)),
        ({"v": 4.0}, None),
        *(({"accountTips": tips}, None) for tips in (None, 7)),
        ({"extra": {"é": [1.5, None]}}, None),
        *(({"dataSize": size}, "bad_data_size") for size in (-1, True, 2**53)),
        ({"dataSize": 41}, "data_size_mismatch"),
        *(({"dataHash": other}, "data_hash_mismatch") for other in (ROOT, None)),
        *(({"domain": domain}, "bad_domain") for domain in ("ab", "a" * 101, "set-v1", "set_v1__\n", None)),
        *(({"account": account}, "bad_account") for account in (7, None, "self")),
        ({"account": "self", "accountTips": None}, None),
        *(({"tangles": tangles}, "no_tangle") for tangles in (None, {}, [ROOT], {ROOT: 0})),
        *(({"tangles": {ROOT: tangle}}, "bad_prev") for tangle in ({}, "prev")),
        *((at_depth(depth), "bad_depth") for depth in (2**53, 0, -1, 1.5, 1e300, True)),
        *((at_depth(depth), None) for depth in (2**53 - 1, 1.0)),
        (after(), "no_known_prev"),
        (after("b", "a"), "prev_unsorted"),
        (after("a", "a"), "prev_duplicate"),
        (after("\U0001f600", "\ufb00"), None),
        (after("\ufb00", "\U0001f600"), "prev_unsorted"),
        (after(["a"]), "prev_not_string"),
        (after("pzp:x"), "prev_uri"),
        ({"tangles": {ROOT: {"depth": 1, "prev": []}, "zzz": {"depth": 1, "prev": ["x"]}}}, None),
        ({"tangles": {ROOT: {"depth": 1, "prev": []}, "zzz": {}}}, "bad_prev"),
    ],
)
def test_rules(change, reason):
    assert reason_of(post(**change)) == reason


def test_order_of_the_rules():
    """With all rules broken, the first counts; once repaired, the next."""
    message = post(account=7, domain="-", tangles={}, dataSize=-1)
    message |= {"data": [], "sigkey": "0", "sig": None}
    message["metadata"]["v"] = 3
    repairs = [
        (lambda: message["metadata"].update(v=4), "missing_signature"),
        (lambda: message.update(sig="x"), "bad_sigkey"),
        (lambda: message.update(sigkey=ALICE.key), "bad_data"),
        (lambda: message.update(data=DATA), "bad_data_size"),
        (lambda: message["metadata"].update(dataSize=1, dataHash=""), "data_hash_mismatch"),
        (lambda: message["metadata"].update(dataHash=post()["metadata"]["dataHash"]), "data_size_mismatch"),
        (lambda: message["metadata"].update(dataSize=len(sorted_bytes(DATA, CANON))), "bad_domain"),
        (lambda: message["metadata"].update(domain="set_v1__follows"), "bad_account"),
        (lambda: message["metadata"].update(account=ACCOUNT), "no_tangle"),
        (lambda: message["metadata"].update(tangles={ROOT: {"depth": 0, "prev": 1}}), "bad_prev"),
        (lambda: message["metadata"].update(tangles={ROOT: {"depth": 0, "prev": [1]}}), "bad_depth"),
        (lambda: message["metadata"].update(tangles={ROOT: {"depth": 1, "prev": [1]}}), "prev_not_string"),
        (lambda: message["metadata"].update(tangles={ROOT: {"depth": 1, "prev": [ROOT]}}), "bad_signature"),
    ]
    assert reason_of(message) == "wrong_version"
    for repair, reason in repairs:
        repair()
        assert reason_of(message) == reason
    ranks = [Reason(reason).rank for _, reason in repairs]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("tangles", [{}, None, [], 0, False, ""])
def test_moot_with_a_wrong_signature(tangles):
    message = MOOT | {"metadata": MOOT["metadata"] | {"tangles": tangles}}
    [row] = check([line_of(message)])
    assert (row["is_moot"], row["reject_reason"], row["is_signature_valid"]) == (True, None, None)
    assert (row["message_id"] == ROOT) is (tangles == {})


@pytest.mark.parametrize(
    ("data", "kind", "add", "supersedes"),
    [
        (None, "null", None, []),
        ("", "empty", None, []),
        ("text", "string", None, None),
        ({}, "object", None, None),
        ({"add": [], "del": [], "supersedes": "abc"}, "object", None, []),
        ({"add": [], "del": [], "supersedes": {}}, "object", None, None),
        ({"add": "a", "del": [], "supersedes": ["x"]}, "object", None, ["x"]),
        ({"add": ["a", None, 2, {}], "del": [], "supersedes": [None]}, "object", ["a", "\0null", "\x002", "\0{}"], []),
    ],
)
def test_kinds_of_data(data, kind, add, supersedes):
    message = post(data) if data is not None else post() | {"data": None}
    [row] = check([line_of(message)])
    assert row["is_usable"]
    assert (row["data_kind"], row["add"], row["supersedes"]) == (kind, add, supersedes)


ENTRIES = ["a", "", "1", "\0", "\x001", "null", "\ud800", "{}", 1, 0, -1.5, 1e21, 1e999, None, True]


@pytest.mark.parametrize("one", ENTRIES)
@pytest.mark.parametrize("other", ENTRIES)
def test_tokens_are_equal_where_entries_are(one, other):
    assert (token_of(one) == token_of(other)) is ((type(one) is type(other)) and one == other)
    token_of(one).encode()
    item_of(token_of(one)).encode()


def test_tokens_of_numbers():
    assert token_of(1) == token_of(1.0) and token_of(0) == token_of(-0.0)
    tokens = pa.array([token_of(entry) for entry in ([1], {}, "{}", 1)])
    assert are_unique(tokens).tolist() == [True, True, False, False]
    assert item_texts(tokens).to_pylist() == ["[1]", "{}", "{}", "1"]
    assert [item_of(token_of(entry)) for entry in ("\0a", "b", 1.0, {"b": 1, "a": 2})] == [
        "\0a",
        "b",
        "1",
        '{"b":1,"a":2}',
    ]


@given(json_values)
def test_canonical_form(value):
    try:
        text = sorted_bytes(value, CANON)
    except NoCanonicalFormError:
        return
    assert print_json(value, CANON).encode() == text == sorted_bytes(json.loads(text), CANON)


def test_canonical_numbers_and_keys():
    value = {"\ufb00": 1.0, "\U0001f600": -0.0, "10": 1e21, "9": 2**53 + 1, "a\n": 1e-7}
    text = '{"10":1e+21,"9":9007199254740992,"a\\n":1e-7,"\U0001f600":0,"\ufb00":1}'
    assert sorted_bytes(value, CANON) == text.encode()


def hostile(data, tangles, tips):
    """Return a line that only the exact parser reads."""
    metadata = r'{"dataHash":1,"dataSize":1,"account":"\ud800","accountTips":%s,"tangles":%s,"domain":"abc","v":4}'
    return f'{{"data":{data},"metadata":{metadata % (tips, tangles)},"sigkey":"\\ud800","sig":"x"}}'.encode()


@pytest.mark.parametrize("options", MODES)
@pytest.mark.parametrize(
    "line",
    [
        *(None, b"", b"{}", b"[]", b"null", b"NaN", b"\xff", b'{"msg":{}}', b'{"id":{},"msg":[]}'),
        *(b'{"metadata":{}}', b'{"metadata":[]}'),
        hostile("1e999", r'{"r":{"depth":1,"prev":["\ud800"]}}', "[1]"),
        hostile("1e999", r'{"r":{"depth":1,"prev":["a"]}}', "[1e999]"),
        hostile(
            r'{"add":["\ud800",1e999],"del":[],"supersedes":["\ud800"]}',
            r'{"\ud800":{"depth":1,"prev":[]},"\ud801":{"depth":1,"prev":[]}}',
            r'["\ud801"]',
        ),
        b'{"metadata":' * 5000 + b"1" + b"}" * 5000,
        b'{"data":' + b"[" * 100_000 + b"]" * 100_000 + b',"metadata":{}}',
        hostile('{"a":' + "[" * 3000 + "]" * 3000 + "}", "{}", "[1]"),
        b'{"metadata":{"v":4},"data":null,"sig":"' + b"1" * 500_000 + b'","sigkey":"' + b"1" * 500_000 + b'"}',
    ],
)
def test_hostile_lines(line, options):
    good = line_of(post())
    rows = check([good, line, good], **options)
    assert rows[0]["is_usable"] and rows[2]["is_usable"]
    check([line], **options)


@given(st.data())
def test_any_damage(data):
    message = json.loads(line_of(post()))
    places = (
        [(message, name) for name in ("data", "metadata", "sigkey", "sig")]
        + [(message["metadata"], name) for name in message["metadata"]]
        + [
            (message["metadata"]["tangles"], ROOT),
            (message["metadata"]["tangles"][ROOT], "depth"),
            (message["metadata"]["tangles"][ROOT], "prev"),
            (message["data"], "add"),
            (message["data"], "supersedes"),
        ]
    )
    for _ in range(data.draw(st.integers(1, 3))):
        place, name = data.draw(st.sampled_from(places))
        place[name] = data.draw(json_values | st.sampled_from(["self", "any", ROOT, [ROOT], {ROOT: {}}, {}, []]))
    line = json.dumps(message).encode()
    for options in MODES:
        rows = check([line, line_of(MOOT)], **options)
        judge(rows)
        among = check([line_of(post()), line], **options)[1]
        assert among | {"line": 1} == rows[0]
