"""Any line becomes a row: all errors are caught, and the fast way always equals the exact one."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.formats.json import printing
from dbt_tangles.formats.json.framing import Framing
from dbt_tangles.formats.json.parse import parse
from dbt_tangles.formats.ssb.classic import ORDER, Reason
from dbt_tangles.formats.ssb.verify_lines import VerifyOptions, _Verifier
from fixtures.ssb.author import box
from log_lines import mutated
from ssb_kit import ALICE, POST, check, json_objects, json_values, names, read_lines, value_of

CODES = {reason.value for reason in (*Framing, *Reason)}
SMALL = [line for line in read_lines("small.jsonl") if 0 < len(line) < 2000]
BOTH_MODES = pytest.mark.parametrize("verify_signatures", [True, False])


def check_soundly(lines, verify_signatures):
    """Verify lines and check the invariants of the columns."""
    for row in check(lines, verify_signatures=verify_signatures):
        assert row["is_usable"] == (row["check_error"] is None)
        assert row["check_error"] is None or row["check_error"] in CODES
        assert row["content"] is None or parse(row["content"].encode())
        if row["is_usable"]:
            assert row["message_id"] is not None
            assert row["is_signature_valid"] is (True if verify_signatures else None)
        else:
            assert row["claims"] == []
            assert (row["group_claim"], row["epoch_key"]) == (None, None)


def read_doubting(line):
    """Read a line in both ways: as a short line, and as one too long to be printed the fast way."""
    fast = _Verifier(VerifyOptions()).read(line, len(line))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(printing, "FAST_LINE_BYTES", 0)
        assert _Verifier(VerifyOptions()).read(line, len(line)) == fast


ENVELOPE = {"key": json_values, "value": json_values | json_objects, "timestamp": json_values, "meta": json_objects}


@BOTH_MODES
@given(document=json_values | st.fixed_dictionaries({}, optional=ENVELOPE))
def test_any_json(verify_signatures, document):
    line = json.dumps(document).encode()
    check_soundly([line], verify_signatures)
    read_doubting(line)


FIELDS = {
    "previous": json_values,
    "sequence": json_values | st.integers(-3, 3),
    "author": json_values | st.just(ALICE.feed_id),
    "timestamp": json_values | st.integers(0, 10),
    "hash": json_values | st.just("sha256"),
    "content": json_values
    | st.builds(lambda kind, rest: {"type": kind, **rest}, st.sampled_from(["post", "group/init", "x"]), json_objects)
    | st.just(box(b"x")),
    "signature": json_values | st.just(value_of()["signature"]),
}


@BOTH_MODES
@given(
    value=st.fixed_dictionaries(FIELDS, optional={"meta": json_objects, "cyphertext": st.text(), "x": json_values}),
    order=st.permutations(ORDER) | st.just(list(ORDER)),
    received=json_values,
)
def test_any_fields(verify_signatures, value, order, received):
    value = {name: value[name] for name in [*order, *value.keys() - set(order)]}
    line = json.dumps({"key": "%x", "value": value, "timestamp": received}).encode()
    check_soundly([line], verify_signatures)
    read_doubting(line)


TANGLE_PART = st.none() | st.text(max_size=3) | st.lists(st.text(max_size=3) | st.none(), max_size=3) | json_values
TANGLE = st.fixed_dictionaries({}, optional={"root": TANGLE_PART, "previous": TANGLE_PART}) | json_values
CLAIMS = {"tangles": st.dictionaries(names, TANGLE) | json_values, "root": TANGLE_PART, "branch": TANGLE_PART}
CLAIMS |= {"secret": json_values, "oldSecrets": json_values}


@given(content=st.fixed_dictionaries({"type": st.just("post")}, optional=CLAIMS))
def test_any_claims(content):
    line = json.dumps({"key": "%x", "value": value_of(content)}).encode()
    check_soundly([line], True)
    read_doubting(line)
    row = check([line])[0]
    tangles = content.get("tangles")
    named = len(tangles) if type(tangles) is dict else tangles is not None
    assert row["is_usable"]
    assert named <= len(row["claims"]) <= named + 1


@BOTH_MODES
def test_mutated_messages(verify_signatures):
    chance = random.Random(7)
    lines = [mutated(chance.choice(SMALL), chance) for _ in range(3000)]
    check_soundly(lines, verify_signatures)
    for line in lines:
        read_doubting(line)


def test_fast_way_equals_exact_way_on_real_messages():
    lines = SMALL + [line for line in read_lines("medium.jsonl.gz")[::25] if len(line) < 20_000]
    for line in lines:
        read_doubting(line)


def deep(depth, inner="1"):
    return "[" * depth + inner + "]" * depth


HUGE = {
    "nested": lambda: deep(10_000),
    "nested_beyond_orjson": lambda: deep(1_030),
    "nested_beyond_printing": lambda: deep(300),
    "nested_objects": lambda: '{"a":' * 10_000 + "1" + "}" * 10_000,
    "unclosed": lambda: "[" * 50_000,
    "long_string": lambda: json.dumps("x" * 1_000_000),
    "long_emoji": lambda: json.dumps("🐚" * 200_000, ensure_ascii=False),
    "long_escapes": lambda: '"' + "\\u0000" * 100_000 + '"',
    "long_surrogates": lambda: '"' + "\\ud800" * 100_000 + '"',
    "long_number": lambda: "1" * 1_000_000,
    "long_fraction": lambda: "0." + "1" * 500_000,
    "long_exponent": lambda: "1e" + "1" * 500_000,
    "many_elements": lambda: "[" + ",".join(["[]"] * 50_000) + "]",
    "many_deep_elements": lambda: deep(200, ",".join(["1"] * 50_000)),
    "many_keys": lambda: "{" + ",".join(f'"{key}":1.0' for key in range(20_000)) + "}",
    "same_keys": lambda: "{" + ",".join(['"a":1'] * 100_000) + "}",
    "many_tangles": lambda: json.dumps({f"{key}": {"root": "%x", "previous": ["%y"]} for key in range(3_000)}),
}


@pytest.mark.parametrize("verify_signatures", [True, pytest.param(False, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", HUGE)
def test_huge_parts(name, verify_signatures):
    """At every position of a message: too long or malformed, without an error, and in good time."""
    part = HUGE[name]()
    message = json.dumps({"key": "%x", "value": value_of(), "timestamp": 1})
    places = [json.dumps(POST), '"hello"', '"%x"', "null", '"sha256"', json.dumps(ALICE.feed_id)]
    lines = [part, *(message.replace(place, part, 1) for place in places)]
    lines.append(message.replace(json.dumps(POST), f'{{"type":"post","tangles":{part},"root":{part}}}'))
    check_soundly([line.encode() for line in lines], verify_signatures)


def test_deep_content_is_too_long():
    """The peers can print it, but then it has too many units; the text of a deeper one is not printed."""
    for depth, has_id in [(300, True), (1_500, True), (10_000, False)]:
        line = json.dumps(value_of()).replace(json.dumps(POST), f'{{"type":"post","x":{deep(depth)}}}')
        row = check([line.encode()])[0]
        assert row["check_error"] == "too_long"
        assert (row["message_id"] is not None) == has_id
        assert row["content"] == f'{{"type":"post","x":{deep(depth)}}}'


def test_a_deep_envelope_is_accepted():
    for depth in (300, 1_500, 10_000):
        line = json.dumps({"x": 0, "value": value_of()}).replace("0", deep(depth), 1)
        assert check([line.encode()])[0]["is_usable"]


def test_the_callers_stack_depth_is_irrelevant():
    lines = [json.dumps(value_of({"type": "post", "x": json.loads(deep(40))})).encode(), deep(900).encode()]
    expected = check(lines)

    def descend(levels):
        if levels:
            return descend(levels - 1)
        verifier = _Verifier(VerifyOptions())
        return [verifier.read(line, len(line)) for line in lines]

    shallow = descend(0)
    assert descend(650) == shallow
    assert [row["check_error"] for row in expected] == [None, "not_a_message"]
