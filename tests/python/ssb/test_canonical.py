"""Parsing and printing JSON as V8 does."""

import json
import math
import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.formats.autobase.verify_lines import _VALUE_STYLE as VALUE_STYLE
from dbt_tangles.formats.json import printing
from dbt_tangles.formats.json.parse import InvalidUtf8Error, MalformedJsonError, parse, parse_deep, parse_exact
from dbt_tangles.formats.json.printing import (
    TextTooLongError,
    canonical_bytes,
    canonical_text,
    compact_bytes,
    number_text,
    print_json,
    sorted_bytes,
)
from dbt_tangles.formats.json.strings import first_of_each, replace_surrogates, storable, utf16_length
from dbt_tangles.reasons import PzpReason
from ssb_kit import json_objects, json_values, numbers


def printed(source):
    """Print JSON as `JSON.stringify(JSON.parse(source))` does."""
    return compact_bytes(parse(source if type(source) is bytes else source.encode())[0]).decode()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        *((text, text) for text in ("1", "0.000001", "0.0000015", "1e-7", "5e-324", "1491901740000.001")),
        *((text, text) for text in ("9007199254740992", "123456789012345680000")),
        *((one, "1") for one in ("1.0", "1e0")),
        *((zero, "0") for zero in ("-0", "-0.0", "1e-400")),
        *((endless, "null") for endless in ("1e400", "-1e400", "1" * 400, "1" * 5000)),
        *((f"1e{zeros}", "1" + "0" * zeros) for zeros in (15, 16, 20)),
        *(("1e21", "1e+21"), ("-1e21", "-1e+21"), ("1.5e300", "1.5e+300")),
        *(("1.50", "1.5"), ("1.5E-7", "1.5e-7"), ("123e-20", "1.23e-18")),
        ("9007199254740993", "9007199254740992"),
        ("12345678901234567890", "12345678901234567000"),
        ("-12345678901234567890", "-12345678901234567000"),
        ("18446744073709551616", "18446744073709552000"),
        ("0." + "1" * 5000, "0.1111111111111111"),
    ],
)
def test_numbers_are_printed_as_javascript_prints_doubles(source, text):
    """Number::toString: shortest digits, exponents below 1e-6 and from 1e21, no negative zero, null for infinities."""
    assert printed(source) == text
    assert printed(f"[{source}]") == f"[{text}]"
    assert printed(f'{{"a":{source}}}') == f'{{"a":{text}}}'
    assert canonical_text(parse(f'{{"a":{source}}}'.encode())[0]) == f'{{\n  "a": {text}\n}}'


@given(numbers)
def test_numbers_keep_their_value_and_the_fewest_digits(number):
    text = number_text(number)
    try:
        double = float(number)
    except OverflowError:
        assert text == "null"
        return
    assert float(text) == double

    def digits(decimal):
        return re.sub(r"e.*|[-.]", "", decimal).strip("0")

    assert digits(text) == digits(repr(double))
    if double:
        assert ("e" in text) == (not 1e-6 <= abs(double) < 1e21)
    assert not re.search(r"\.0*$|e[+-]0|e\d|E|^-0$", text)


def test_infinities_and_nan_are_null():
    assert [number_text(number) for number in (math.inf, -math.inf, math.nan, 10**400)] == ["null"] * 4


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('{"b":1,"a":2}', '{"b":1,"a":2}'),
        ('{"b":1,"10":2,"9":3,"a":4}', '{"9":3,"10":2,"b":1,"a":4}'),
        ('{"a":{"b":[{"x":1,"0":2}]}}', '{"a":{"b":[{"0":2,"x":1}]}}'),
        ('{"a":1,"4294967294":2}', '{"4294967294":2,"a":1}'),
        ('{"a":1,"4294967295":2}', '{"a":1,"4294967295":2}'),
        ('{"a":1,"01":2,"-1":3,"1.5":4,"1e3":5,"":6}', '{"a":1,"01":2,"-1":3,"1.5":4,"1e3":5,"":6}'),
        ('{"a":1,"٣":2}', '{"a":1,"٣":2}'),
        ('{"a":1,"\\u0030":2}', '{"0":2,"a":1}'),
        ('{"a":1,"__proto__":{"x":1},"toJSON":2}', '{"a":1,"__proto__":{"x":1},"toJSON":2}'),
    ],
)
def test_array_index_keys_come_first_at_every_level(source, text):
    """OrdinaryOwnPropertyKeys: "0" to "4294967294" without leading zeros, ascending, then the others as they came."""
    assert printed(source) == text


def test_duplicate_key_keeps_the_first_place_and_the_last_value():
    assert printed('{"a":1,"b":2,"a":3}') == '{"a":3,"b":2}'
    assert printed('{"a":1,"b":1.0,"\\u0061":3,"c":"\\ud800"}') == '{"a":3,"b":1,"c":"\\ud800"}'


def test_layout_of_empty_and_nested_containers():
    value = {"a": {}, "b": [], "c": [[], {}, [1]], "d": {"e": None, "f": True, "g": False}}
    text = (
        '{\n  "a": {},\n  "b": [],\n  "c": [\n    [],\n    {},\n    [\n      1\n    ]\n  ],\n'
        '  "d": {\n    "e": null,\n    "f": true,\n    "g": false\n  }\n}'
    )
    assert canonical_text(value) == canonical_bytes(value, 0)[0].decode() == text
    assert canonical_text([]) == "[]"
    assert canonical_text({}) == "{}"
    assert canonical_text("a") == '"a"'
    assert canonical_text(1.0) == "1"
    assert canonical_text(None) == "null"


def test_only_quote_backslash_and_controls_are_escaped():
    controls = "".join(map(chr, range(32)))
    escaped = "".join({8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}.get(i, f"\\u{i:04x}") for i in range(32))
    for text, expected in [
        (controls, escaped),
        ('"\\/', '\\"\\\\/'),
        ("\x7f\x80\u2028\u2029\ufeff\ufffe\uffff", "\x7f\x80\u2028\u2029\ufeff\ufffe\uffff"),
        ("é日🐚", "é日🐚"),
    ]:
        assert (
            canonical_bytes({"a": text}, 0)[0].decode() == canonical_text({"a": text}) == f'{{\n  "a": "{expected}"\n}}'
        )


def test_every_character_is_printed_alike_by_both_ways():
    """The fast way may leave strings to orjson."""
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    assert orjson.dumps(every).decode() == canonical_text(every)


def test_lone_surrogates_are_escaped_and_pairs_joined():
    assert printed(r'"\ud800"') == r'"\ud800"'
    assert printed(r'"\uDFFF x"') == r'"\udfff x"'
    assert printed(r'"\udc1a\ud83d"') == r'"\udc1a\ud83d"'
    assert printed(r'"\ud83d\uD83D\udc1a"') == r'"\ud83d🐚"'
    assert printed(r'{"\ud800":1}') == r'{"\ud800":1}'
    assert canonical_text({"a": "\ud83d\udc1a"}) == canonical_text({"a": "🐚"})


@pytest.mark.parametrize(
    "source",
    [
        *(b"", b" ", b"\xef\xbb\xbf{}", b"NaN", b"Infinity", b"-Infinity", b"[NaN]", b"01", b"1.", b".5"),
        *(b"+1", b"-", b"1e", b"0x1", b"1_000", b"[1,]", b'{"a":1,}', b"{'a':1}", b'{"a" 1}', b'{"a":}'),
        *(b"{1:2}", b'"\n"', b'"\x00"', b'"\\x41"', b'"\\u12"', b'"\\u 123"', b'"a', b"[", b"{", b"tru"),
        *(b"True", b"{} {}", b"{}\x00", b"\x0b{}", b"\xc2\xa0{}", b"\xe2\x80\xa8{}", b"[1]/**/"),
    ],
)
def test_json_rejected_by_v8_is_malformed(source):
    for text in (source, b"\t\r\n " + source if source.strip() else source):
        with pytest.raises(MalformedJsonError):
            parse(text)
        with pytest.raises(MalformedJsonError):
            parse_exact(text)


def test_deep_texts_are_parsed_like_shallow_ones():
    deep, close = b"[" * 20_000, b"]" * 20_000
    parse(deep + close)
    parse(deep + b'{"a":[1,"x",{"b":null},true,-0.5e3,"\\ud800",{},[]],"c":2}' + close)
    wrong = (b"1 2", b"{", b'{"a"}', b"{a:1}", b"[1,]", b"1,}", b"nul", b'"\n"', b"NaN")
    for broken in (deep, deep + close[1:], deep + close + b"]", *(deep + inner + close for inner in wrong)):
        with pytest.raises(MalformedJsonError):
            parse(broken)


def test_invalid_utf8_differs_from_malformed_json():
    for source in (b'"\xff"', b'"\xc3"', b'"\xed\xa0\x80"', b'"\xc0\x80"', b"\x80"):
        with pytest.raises(InvalidUtf8Error):
            parse(source)


def test_a_text_above_the_limit_is_not_printed():
    """A short line may ask for a text of terabytes; its compact text is short."""
    value = parse(b"[" * 100_000 + b"]" * 100_000)[0]
    with pytest.raises(TextTooLongError):
        canonical_text(value)
    assert len(compact_bytes(value)) == 200_000
    with pytest.raises(TextTooLongError):
        canonical_text(["x" * printing.TEXT_LIMIT])


def test_depth_alone_does_not_stop_printing():
    """At each of orjson's limits of depth the text continues as before."""
    for depth in (200, 254, 255, 300, 1024, 1025, 1500):
        value = parse(b"[" * depth + b"]" * depth)[0]
        lines = ["  " * level + "[" for level in range(depth - 1)] + ["  " * (depth - 1) + "[]"]
        lines += ["  " * level + "]" for level in reversed(range(depth - 1))]
        assert canonical_text(value) == "\n".join(lines)
        assert canonical_text({"a": value}).startswith('{\n  "a": [\n    [\n')


@given(json_objects)
def test_fast_way_equals_exact_way(value):
    """Also with sorted keys, as values of Autobase are printed."""
    value, _ = parse(json.dumps(value).encode())
    assert sorted_bytes(value, VALUE_STYLE) == print_json(value, VALUE_STYLE).encode()
    exact = canonical_text(value).encode()
    assert canonical_bytes(value, 0)[0] == canonical_bytes(value, printing.FAST_LINE_BYTES + 1)[0] == exact


@given(json_values)
def test_parsers_agree(value):
    source = json.dumps(value).encode()
    exact = parse_exact(source)
    assert repr(parse(source)[0]) == repr(exact) == repr(parse_deep(source.decode()))


@given(json_values)
def test_canonical_text_is_a_fixed_point(value):
    """Printing a printed text again changes it in neither way of printing, and every value survives."""
    text = canonical_text(value)
    assert canonical_text(parse(text.encode())[0]) == text
    assert json.loads(text) == json.loads(compact_bytes(value))


@given(st.binary(max_size=40) | st.text('[]{},:"\\u0d8 -1.e+tfn\n', max_size=20).map(str.encode))
def test_all_parsers_refuse_the_same_bytes(source):

    def outcome(parser, *arguments):
        try:
            return canonical_text(parser(*arguments))
        except InvalidUtf8Error:
            return InvalidUtf8Error
        except Exception:  # of the parser for deep texts
            return MalformedJsonError

    result = outcome(parse_exact, source)
    assert outcome(lambda raw: parse(raw)[0], source) == result
    if result is not InvalidUtf8Error:
        assert outcome(parse_deep, source.decode()) == result


def test_lengths_are_in_utf16_units():
    assert [utf16_length(text) for text in ("", "a", "é", "日", "🐚", "\ud800", "\x01")] == [0, 1, 1, 1, 2, 1, 1]


def test_surrogates_are_replaced_one_by_one():
    assert replace_surrogates("a\ud800\udfffb\udc00") == "a\U000103ffb\ufffd"
    assert replace_surrogates("\udc00\ud800") == "\ufffd\ufffd"
    assert replace_surrogates("plain") == "plain"


def test_surrogates_in_columns_are_replaced():
    odd = "\ud800"
    assert storable([odd, "a", None, 7, PzpReason.BAD_PREV]) == ["\ufffd", "a", None, 7, PzpReason.BAD_PREV]
    assert first_of_each([("a", 1), ("b", 2), ("a", 3)]) == [("a", 1), ("b", 2)]
