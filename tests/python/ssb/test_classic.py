"""The rules of a single message, each with a value that just keeps it and one that just breaks it."""

import base64

import pytest

from dbt_tangles.formats.json.printing import canonical_text
from dbt_tangles.formats.ssb.classic import ORDER, ORDER_AUTHOR_FIRST, Reason, check_form, is_encrypted
from ssb_kit import ALICE, NOW, check_one, value_of, value_of_units


def reason_of(value):
    """Return the reason of a line with a value, and check that the rules about its form agree."""
    row = check_one({"key": "%x", "value": value, "timestamp": NOW})
    reason = row["check_error"] and Reason(row["check_error"])
    assert row["is_usable"] == (reason is None)
    form = check_form(value)
    assert form is reason if type(form) is Reason else reason in (None, Reason.TOO_LONG, Reason.BAD_SIGNATURE)
    return reason


@pytest.mark.parametrize("place", range(5))
def test_other_orders_are_bad_order(place):
    order = list(ORDER)
    order[place : place + 2] = reversed(order[place : place + 2])
    usual = value_of()
    value = ALICE.sign({name: usual[name] for name in order if name != "signature"}, NOW)["value"]
    assert reason_of(value) == (None if tuple(order) == ORDER_AUTHOR_FIRST else Reason.BAD_ORDER)
    assert check_one(value)["message_id"] is not None


def test_signature_first_is_bad_order():
    value = value_of()
    assert reason_of({"signature": value.pop("signature"), **value}) is Reason.BAD_ORDER


def test_alphabetical_order_is_order_lost():
    """An exporter sorted the keys: the message is not a forgery, and its id is lost."""
    value = value_of()
    value = {name: value[name] for name in sorted(value)}
    assert reason_of(value) is Reason.ORDER_LOST
    assert check_one(value)["message_id"] is None


@pytest.mark.parametrize("name", ORDER)
def test_missing_field(name):
    value = value_of()
    del value[name]
    assert reason_of(value) is Reason.MISSING_FIELD


@pytest.mark.parametrize("name", ["extra", "meta", "0", "__proto__", ""])
def test_extra_field(name):
    value = value_of(**{name: 1})
    assert reason_of(value) is Reason.EXTRA_FIELD
    assert check_one(value)["message_id"] is not None


def test_duplicate_field_counts_where_it_came_first():
    """As in JavaScript, the order is that of first appearance and the value that of the last."""
    line = canonical_text(value_of()).replace('"hash": "sha256"', '"hash": "md5",\n  "hash": "sha256"')
    assert check_one(line.encode())["is_usable"]
    line = canonical_text(value_of()).replace('"hash": "sha256"', '"hash": "sha256",\n  "hash": "md5"')
    assert check_one(line.encode())["check_error"] == "bad_hash"
    line = canonical_text(value_of()).replace('"previous": null', '"hash": "x",\n  "previous": null')
    assert check_one(line.encode())["check_error"] == "bad_order"


KEY = "6imv9Pdjodu-RrxRT8sbMKMkKwekdxF_x54uR2yU5Ek"
#: By reason: the field, and values that just break its rule.
BROKEN = {
    # The regular expression of the peers accepts the hash suffix; then they reject its curve.
    Reason.BAD_AUTHOR: (
        "author",
        [
            *(None, 7, {}, [], "", "@", ALICE.feed_id[1:], ALICE.feed_id.replace("=.", "=x"), ALICE.feed_id + " "),
            *("\ud800", ALICE.feed_id.replace("ed25519", "sha256")),
        ],
    ),
    Reason.BAD_SEQUENCE: ("sequence", [2**31, -(2**31) - 1, 1.5, 1e300, True, "1", None, [], {}]),
    Reason.BAD_TIMESTAMP: ("timestamp", ["1", None, True, {}, []]),
    Reason.BAD_HASH: ("hash", ["SHA256", "sha512", "", None, 256, ["sha256"], {}]),
    Reason.BAD_CONTENT: (
        "content",
        [
            *(None, 7, True, [], [{"type": "post"}], "", "text", "box", "x.box", "AAB=.box", "A.box", "AA.box"),
            *("AAA.box", "====.box", "AA==AA==.box", "A===.box", "é.box"),
        ],
    ),
    Reason.BAD_TYPE: (
        "content",
        [
            *({}, {"text": "no type"}),
            *({"type": name} for name in ("", "ab", "🐚", "x" * 53, "🐚" * 26 + "x", "🐚" * 27, None, 7, True, [], {})),
        ],
    ),
    Reason.BAD_SIGNATURE_FORM: (
        "signature",
        [None, 7, "", "x.sig.ed25519", [], "\ud800", *(value_of()["signature"] + tail for tail in "\n x.")],
    ),
    Reason.OTHER_FORMAT: (
        "author",
        [
            *(f"ssb:feed/{kind}-v1/{KEY}" for kind in ("bendybutt", "indexed", "buttwoo")),
            *(f"ssb:feed/buttwoo-v1/{KEY}/x", f"ssb://feed/gabbygrove-v1/{KEY}"),
            *(ALICE.feed_id.replace("ed25519", "ggfeed-v1"), ALICE.feed_id.replace("ed25519", "bbfeed-v1")),
        ],
    ),
}


@pytest.mark.parametrize("reason", BROKEN)
def test_broken_rules(reason):
    field, broken = BROKEN[reason]
    for value in broken:
        signed = value_of() if field in ("author", "signature") else value_of(**{field: value})
        assert reason_of({**signed, field: value}) is reason, value


def test_author_of_another_format_has_no_classic_id():
    author = f"ssb:feed/bendybutt-v1/{KEY}"
    value = {**value_of(), "author": author}
    assert check_one(value)["message_id"] is None
    other = {"author": author, "sequence": 1, "content": {}, "contentSignature": "x", "signature": "x"}
    assert reason_of(other) is Reason.OTHER_FORMAT


@pytest.mark.parametrize("sequence", [1, 0, -1, 2**31 - 1, -(2**31), 1.0, 7e0, -0.0])
def test_sequence_of_32_bits(sequence):
    assert reason_of(value_of(sequence=sequence)) is None
    assert check_one(value_of(sequence=sequence))["sequence"] == int(sequence)


def test_infinite_sequence_is_bad_sequence():
    line = canonical_text(value_of()).replace('"sequence": 1', '"sequence": 1e400')
    assert check_one(line.encode())["check_error"] == "bad_sequence"


@pytest.mark.parametrize("timestamp", [NOW, NOW + 0.001, 0, -1, 0.5, 1e21, 5e-324, 2**53, 12345678901234567890])
def test_timestamp_is_any_number(timestamp):
    value = value_of(timestamp=timestamp)
    assert reason_of(value) is None
    assert check_one(value)["asserted_ms"] == float(timestamp)


def test_infinite_timestamp_is_a_number_and_printed_as_null():
    """1e400 parses to Infinity, which JSON.stringify prints as null: that text was signed."""
    line = canonical_text(value_of(timestamp=None)).replace('"timestamp": null', '"timestamp": 1e400')
    row = check_one(line.encode())
    assert row["is_usable"] and row["asserted_ms"] == float("inf")
    assert check_one(canonical_text(value_of(timestamp=None)).encode())["check_error"] == "bad_timestamp"


@pytest.mark.parametrize(
    ("previous", "expected"),
    [(None, None), ("%x", "%x"), ("", ""), (7, "7"), ({}, "{}"), ([], "[]"), (True, "true"), ("\ud800", "\ufffd")],
)
def test_previous_is_no_rule_of_one_message(previous, expected):
    value = value_of(previous=previous)
    assert reason_of(value) is None
    assert check_one(canonical_text(value).encode())["previous_id"] == expected


@pytest.mark.parametrize("length", range(7))
def test_encrypted_content_of_every_base64_length(length):
    encoded = base64.b64encode(b"\xff" * length).decode()
    for tail in (".box", ".box2", ".box3 and so on", ".boxing"):
        assert is_encrypted(encoded + tail)
        assert reason_of(value_of(encoded + tail)) is None
    if encoded.endswith("="):
        assert not is_encrypted(encoded.rstrip("=") + ".box")
        last = {"8": "9", "w": "x"}[encoded.rstrip("=")[-1]]
        assert not is_encrypted(encoded.rstrip("=")[:-1] + last + "=" * encoded.count("=") + ".box")


@pytest.mark.parametrize("end", ["\n", "\r", "\u2028", "\u2029"])
def test_line_end_after_box_is_bad_content(end):
    """JavaScript's dot stops at each of its line terminators, at the very end too."""
    assert not is_encrypted("AAAA.box" + end)
    assert not is_encrypted("AAAA.box2" + end + "x")
    assert is_encrypted("AAAA.box\x0b\x85\ud800")
    assert reason_of(value_of("AAAA.box" + end)) is Reason.BAD_CONTENT


@pytest.mark.parametrize("name", ["abc", "x" * 52, "🐚🐚", "🐚x", "🐚" * 26, "é" * 52, "日" * 52])
def test_type_of_3_to_52_utf16_units(name):
    assert reason_of(value_of({"type": name})) is None


@pytest.mark.parametrize("filler", ["x", "é", "日", "🐚", "\x01", '"', "\n", "\u2028"])
def test_text_of_8192_utf16_units_is_legal_and_8193_is_not(filler):
    """Counted as JavaScript counts: an emoji twice, an escape as it is written."""
    assert reason_of(value_of_units(8192, filler)) is None
    too_long = value_of_units(8193, filler)
    assert reason_of(too_long) is Reason.TOO_LONG
    assert check_one(too_long)["message_id"] is not None


def test_content_is_signed_as_v8_prints_it():
    content = {"type": "odd", "10": 1, "9": 1e21, "a": 1e-7, "b": 12345678901234567000, "c": "\u0001\u2028", "d": 0}
    value = value_of(content)
    line = canonical_text(value).replace('"d": 0', '"d": -0.0').replace("1e+21", "1000e18").replace("\u2028", "\\u2028")
    assert check_one(line.encode())["is_usable"]
    assert check_one(line.encode())["message_id"] == check_one(value)["message_id"]
