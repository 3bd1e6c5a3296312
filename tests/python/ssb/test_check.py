"""The verification of SSB lines: rows, batches, options."""

import json
from hashlib import sha256

import orjson
import pyarrow as pa
import pytest

from dbt_tangles.formats.json.printing import canonical_text
from dbt_tangles.formats.ssb import verify_lines as kernel
from dbt_tangles.formats.ssb.verify_lines import OUTPUT_SCHEMA, VerifyOptions, verify_batches
from fixtures.ssb.author import to_line, to_uri
from log_lines import batch_of
from ssb_kit import ALICE, NOW, POST, check_one, value_of, value_of_units

ROOT, REPLY = (f"%{letter * 43}=.sha256" for letter in "AE")


def test_row_of_a_message():
    content = {"type": "post", "text": "é", "tangles": {"thread": {"root": ROOT, "previous": [REPLY]}}}
    value = value_of(content, previous="%x", timestamp=NOW + 0.5)
    line = orjson.dumps({"key": "%claimed", "value": value, "timestamp": NOW + 1})
    assert check_one(line) == dict.fromkeys(OUTPUT_SCHEMA.names) | {
        "source_file": "log.jsonl",
        "line": 1,
        "message_id": ALICE.sign({n: f for n, f in value.items() if n != "signature"}, NOW)["key"],
        "claimed_id": "%claimed",
        "author": ALICE.feed_id,
        "sequence": 1,
        "previous_id": "%x",
        "asserted_ms": NOW + 0.5,
        "received_ms": float(NOW + 1),
        "content_type": "post",
        "content": orjson.dumps(content).decode(),
        "is_encrypted": False,
        "is_decrypted": False,
        "is_signature_valid": True,
        "is_usable": True,
        "text_digest": sha256(canonical_text(value).encode()).hexdigest(),
        "claims": [
            {"tangle_name": "thread", "root_id": ROOT, "previous": [REPLY], "is_root": False, "defect": None},
        ],
        "first_words": "é",
    }


@pytest.mark.parametrize(
    ("content", "first_words", "own_name"),
    [
        ({"type": "post", "text": " two \n\t words\x1b[31m\u202e\x00 "}, "two words[31m", None),
        ({"type": "post", "text": "x" * 79 + " yz"}, "x" * 79, None),
        ({"type": "post", "text": "\ud800"}, None, None),
        ({"type": "post", "text": {"not": "a text"}}, None, None),
        ({"type": "about", "about": ALICE.feed_id, "name": " Alice\n"}, None, "Alice"),
        ({"type": "about", "about": ROOT, "name": "another"}, None, None),
        ({"type": "about", "about": ALICE.feed_id, "name": 5}, None, None),
        ({"type": "contact", "about": ALICE.feed_id, "name": "Alice"}, None, None),
    ],
)
def test_first_words_and_own_names(content, first_words, own_name):
    """Both are short, on one line and safe on a terminal; a name counts where an author names itself."""
    row = check_one(json.dumps({"value": value_of(content)}).encode())
    assert (row["first_words"], row["own_name"]) == (first_words, own_name)


def test_row_of_a_rejected_line():
    row = check_one(b"not json")
    assert row.pop("check_error") == "malformed_json"
    assert row.pop("detail") == "not JSON at column 1: expecting value"
    assert not any(field for name, field in row.items() if name not in ("source_file", "line"))
    assert row["is_usable"] is row["is_encrypted"] is row["is_decrypted"] is False
    assert row["is_signature_valid"] is row["message_id"] is None


def test_signature_is_checked_only_where_the_rest_is_sound():
    assert check_one(value_of())["is_signature_valid"] is True
    assert check_one({**value_of(), "sequence": 2})["is_signature_valid"] is False
    assert check_one(value_of({"type": "x"}))["is_signature_valid"] is None
    assert check_one(value_of_units(8193, "x"))["is_signature_valid"] is None


@pytest.mark.parametrize(
    "value",
    [
        {**value_of(), "sequence": 2},
        value_of({"type": "ab", "tangles": {"thread": {"root": ROOT, "previous": []}}}),
        value_of(hash="md5"),
        value_of([POST]),
        value_of(extra=1),
    ],
)
def test_unusable_messages_keep_their_id_and_claim_nothing(value):
    """The peers print an id for every value; a claim counts only if the message is usable."""
    row = check_one(value)
    assert not row["is_usable"]
    assert row["message_id"] == check_one({"value": value})["message_id"] is not None
    assert row["text_digest"] == sha256(canonical_text(value).encode()).hexdigest()
    assert row["content"] == json.dumps(value["content"], separators=(",", ":"))
    assert row["claims"] == []


@pytest.mark.parametrize("way", [b"ordinary", b"odd \\ud800"])
@pytest.mark.parametrize("is_verifying", [True, False])
def test_minus_zero_times_become_zero(is_verifying, way):
    """Minus zero equals zero in comparisons of lines, but would be a different value in the table."""
    value = value_of(timestamp=0)
    line = orjson.dumps({"key": "%key", "value": value, "timestamp": 1, "way": "?"}).replace(b"?", way)
    line = line.replace(b'"timestamp":0', b'"timestamp":-0.0').replace(b'"timestamp":1', b'"timestamp":-0.0')
    row = check_one(line, verify_signatures=is_verifying)
    assert row["is_usable"]
    assert (repr(row["asserted_ms"]), repr(row["received_ms"])) == ("0.0", "0.0")


def test_lone_surrogates_become_replacement_characters():
    bad = "\ud800"
    content = {"type": f"po{bad}", "tangles": {bad: {"root": bad, "previous": [bad, "x"]}}}
    row = check_one({"key": bad, "value": value_of(content, previous=bad)})
    assert row["is_usable"]
    assert (row["claimed_id"], row["previous_id"], row["content_type"]) == ("\ufffd", "\ufffd", "po\ufffd")
    assert row["claims"][0]["tangle_name"] == "\ufffd"
    row = check_one({"key": bad, "value": value_of(content, previous=bad)}, verify_signatures=False)
    assert (row["claims"][0]["root_id"], row["claims"][0]["previous"]) == ("\ufffd", ["\ufffd", "x"])
    assert json.loads(row["content"]) == content
    assert check_one({**value_of(), "author": bad})["author"] == "\ufffd"


def test_texts_that_share_an_id_differ_in_their_digest():
    """Ids hash low bytes only: U+0141 and A give the same byte."""
    one, other = (check_one(value_of({"type": "post", "text": text})) for text in ("A", "\u0141"))
    forged = check_one({**value_of({"type": "post", "text": "A"}), "content": {"type": "post", "text": "\u0141"}})
    assert forged["message_id"] == one["message_id"] and forged["text_digest"] != one["text_digest"]
    assert (one["is_usable"], other["is_usable"], forged["is_usable"]) == (True, True, False)


def test_identical_texts_are_verified_once(monkeypatch):
    """Copies of a message cost one check, despite different envelopes and white space."""
    calls = []
    real = kernel.is_valid
    monkeypatch.setattr(kernel, "is_valid", lambda *arguments: calls.append(1) or real(*arguments))
    good, forged = value_of(), {**value_of(), "sequence": 7}
    copies = [json.dumps({"key": "%x", "value": v, "timestamp": n}).encode() for v in (good, forged) for n in range(9)]
    copies += [orjson.dumps(good), orjson.dumps({"value": good, "meta": {}}), orjson.dumps(forged)]
    table = pa.Table.from_batches(verify_batches(iter([batch_of(copies)] * 2), VerifyOptions()))
    assert len(calls) == 2
    assert table["is_signature_valid"].to_pylist() == ([True] * 9 + [False] * 9 + [True, True, False]) * 2


def test_memory_of_verdicts_is_bounded(monkeypatch):
    monkeypatch.setattr(kernel.Verdicts, "MOST", 10)
    verifier = kernel._Verifier(VerifyOptions())
    for sequence in range(40):
        line = orjson.dumps(value_of(sequence=sequence))
        assert verifier.check([line], [None])["is_signature_valid"] != (None,)
        assert len(verifier._verdicts) <= 10


def test_hmac_key_must_have_32_bytes():
    with pytest.raises(ValueError, match="hmac_key"):
        VerifyOptions(hmac_key=b"short")


# Tests with verify_signatures=False, for logs whose signed bytes are lost.


ID = check_one(value_of())["message_id"]


@pytest.mark.parametrize(
    ("document", "message_id"),
    [
        ({"key": "%claimed", "value": value_of()}, "%claimed"),
        *(({"key": to_uri(ID, kind), "value": value_of()}, ID) for kind in ("classic", "sha256")),
        ({"key": "ssb:message/bendybutt-v1/x", "value": value_of()}, "ssb:message/bendybutt-v1/x"),
        (value_of(), ID),
        ({"key": 7, "value": value_of()}, ID),
    ],
)
def test_trusted_ids(document, message_id):
    """The id is the claimed key, a message URI of it as the sigil; without a key it is computed."""
    row = check_one(document, verify_signatures=False)
    claimed = message_id if type(document.get("key")) is str else None
    assert (row["message_id"], row["claimed_id"], row["is_usable"]) == (message_id, claimed, True)
    assert row["is_signature_valid"] is None


@pytest.mark.parametrize(
    "value",
    [
        {"author": "ssb:feed/bendybutt-v1/x", "sequence": 1, "content": {}, "contentSignature": "x"},
        {"author": "x", "sequence": 1.0, "content": {"type": 7}},
        {"content": "not encrypted", "sequence": -1, "author": ""},
        {**value_of(), "signature": None},
        {**value_of(), "extra": 1},
        {name: value_of()[name] for name in sorted(value_of())},
        value_of_units(9000, "x"),
        value_of(hash="md5", timestamp="x"),
    ],
)
def test_trusted_other_rules_do_not_apply(value):
    row = check_one({"key": "%x", "value": value}, verify_signatures=False)
    assert row["is_usable"] and row["check_error"] is None and row["message_id"] == "%x"
    assert row["sequence"] == int(value["sequence"])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        *(({"author": author}, "bad_author") for author in (7, None)),
        *(({"sequence": sequence}, "bad_sequence") for sequence in (2**31, 1.5, "1", True)),
        *(({"content": content}, "bad_content") for content in (None, [])),
    ],
)
def test_trusted_author_sequence_and_content_are_asked_for(change, reason):
    line = {"key": "%x", "value": {**value_of(), **change}}
    assert check_one(line, verify_signatures=False)["check_error"] == reason
    del line["value"][next(iter(change))]
    assert check_one(line, verify_signatures=False)["check_error"] == "missing_field"


def test_trusted_claims_and_columns_are_the_same():
    content = {"type": "post", "tangles": {"thread": {"root": ROOT, "previous": [REPLY]}}}
    message = ALICE.sign({n: f for n, f in value_of(content).items() if n != "signature"}, NOW)
    with_signatures = check_one(to_line(message))
    assert check_one(to_line(message), verify_signatures=False) == {**with_signatures, "is_signature_valid": None}


def test_trusted_text_that_cannot_be_printed_needs_a_key():
    content = '{"type":"deep","x":' + "[" * 20_000 + "]" * 20_000 + "}"
    bare = json.dumps(value_of()).replace(json.dumps(POST), content)
    row = check_one(bare.encode(), verify_signatures=False)
    assert (row["check_error"], row["message_id"], row["text_digest"]) == ("too_long", None, None)
    row = check_one(f'{{"key":"%x","value":{bare}}}'.encode(), verify_signatures=False)
    assert row["is_usable"] and row["message_id"] == "%x" and row["content"] == content


def test_names_equal_after_replacing_surrogates_are_one_claim():
    """Each lone surrogate becomes U+FFFD; a message still makes one claim per tangle."""
    fields = {"root": "%r", "previous": ["%r"]}
    value = value_of({"type": "post", "tangles": dict.fromkeys(["\ud800", "\udfff", "x"], fields)})
    claims = check_one(canonical_text(value).encode())["claims"]
    assert [claim["tangle_name"] for claim in claims] == ["\ufffd", "x"]
