"""The shapes in which databases export a message: each is reduced to the same signed value."""

import pytest

from dbt_tangles.formats.ssb.shapes import unwrap
from fixtures.ssb.author import box
from ssb_kit import ALICE, NOW, check, check_one, read_expected, read_lines, value_of

VALUE = value_of()
KEY = ALICE.sign({name: field for name, field in VALUE.items() if name != "signature"}, NOW)["key"]
BOXED = box(b"sealed")
SEALED = value_of(BOXED)
SECRET = {"type": "post", "text": "secret", "recps": [ALICE.feed_id]}


@pytest.mark.parametrize(
    ("document", "claimed", "received"),
    [
        ({"key": KEY, "value": VALUE, "timestamp": NOW}, KEY, NOW),
        ({"timestamp": NOW + 0.25, "value": VALUE, "key": KEY}, KEY, NOW + 0.25),
        ({"key": KEY, "value": VALUE}, KEY, None),
        ({"value": VALUE, "timestamp": NOW}, None, NOW),
        (VALUE, None, None),
        ({"seq": 7, "value": {"key": KEY, "value": VALUE, "timestamp": NOW}}, KEY, NOW),
        ({"seq": 7, "value": VALUE}, None, None),
        ({"key": KEY, "value": VALUE, "timestamp": NOW, "rts": 1.5, "feed": ALICE.feed_id, "offset": 9}, KEY, NOW),
        ({"key": KEY, "value": VALUE, "timestamp": NOW, "meta": {}}, KEY, NOW),
        ({"key": "%wrong", "value": VALUE, "timestamp": 2**70}, "%wrong", 2.0**70),
        ({"key": ["%x"], "value": VALUE, "timestamp": -0.0}, None, 0.0),
        ({"key": "ssb:message/classic/" + KEY[1:-7].replace("+", "-").replace("/", "_"), "value": VALUE}, KEY, None),
        ({"key": KEY, "value": VALUE, "timestamp": NOW, "author": "x", "content": "y"}, KEY, NOW),
    ],
)
def test_envelopes(document, claimed, received):
    assert unwrap(document)[1:] == (VALUE, received, None)
    row = check_one(document)
    assert row["is_usable"] and not row["is_encrypted"] and not row["is_decrypted"]
    assert (row["message_id"], row["claimed_id"], row["received_ms"]) == (KEY, claimed, received)


@pytest.mark.parametrize(
    "document",
    [
        {"sync": True},
        {"key": KEY},
        *({"key": KEY, "value": value} for value in (None, KEY, [VALUE], {}, {"sync": True})),
        {"seq": 7, "value": {"key": KEY, "value": 7}},
        {"id": KEY, "msg": {"data": None, "metadata": {}, "sigkey": "x", "sig": "x"}},
        {"timeline": "a", "event": "b", "after": [], "author": "x", "arrival": 1},
        {"base": "a", "writer": "b", "length": 1, "heads": [], "value": {"text": "x"}},
    ],
)
def test_documents_without_a_message_are_not_a_message(document):
    assert unwrap(document) is None
    row = check_one(document)
    assert (row["check_error"], row["message_id"], row["is_usable"]) == ("not_a_message", None, False)


SHOWN, OLD_META = {**SEALED, "content": SECRET}, {"cyphertext": BOXED, "private": True}
META = {"private": True, "originalContent": BOXED, "encryptionFormat": "box"}
SSB_DB = {
    **SHOWN,
    "meta": {"private": True, "original": {"content": BOXED}, "unbox": "key"},
    **OLD_META,
    "unbox": "key",
}


@pytest.mark.parametrize(
    "document",
    [
        {"key": KEY, "value": SSB_DB, "timestamp": NOW},
        SSB_DB,
        {"key": KEY, "value": {name: SSB_DB[name] for name in (*SEALED, "meta")}, "timestamp": NOW},
        {"key": KEY, "value": {**SHOWN, **OLD_META}, "timestamp": NOW},
        {"key": KEY, "value": SHOWN, "timestamp": NOW, "meta": META},
        {"seq": 1, "value": {"key": KEY, "value": SHOWN, "meta": {"originalContent": BOXED}}},
    ],
    ids=["ssb_db", "ssb_db_bare", "ssb_db_meta_only", "ssb_db_old", "ssb_db2", "ssb_db2_raw_log"],
)
def test_decrypted_messages_are_resealed(document):
    """The signed content is verified; the decrypted content is shown, and makes the claims."""
    assert unwrap(document)[1] == SEALED
    assert list(unwrap(document)[1]) == list(SEALED)
    assert unwrap(document)[3] == SECRET
    row = check_one(document)
    assert row["is_usable"] and row["is_encrypted"] and row["is_decrypted"]
    assert row["message_id"] == check_one(SEALED)["message_id"]
    assert row["content_type"] == "post"
    assert row["content"] == check_one(value_of(SECRET))["content"]


def test_claims_of_a_decrypted_content():
    content = {"type": "post", "tangles": {"thread": {"root": KEY, "previous": [KEY]}}}
    document = {"value": {**SEALED, "content": content}, "meta": {"originalContent": BOXED}}
    assert [claim["root_id"] for claim in check_one(document)["claims"]] == [KEY]
    assert check_one(SEALED)["claims"] == []


def test_forged_decryption_of_another_message_does_not_verify():
    document = {"key": KEY, "value": VALUE, "meta": {"originalContent": BOXED}}
    assert check_one(document)["check_error"] == "bad_signature"


@pytest.mark.parametrize(
    "extra",
    [
        *({"meta": meta} for meta in (None, 7, {}, {"original": 7}, {"original": {}})),
        {"cyphertext": 7, "private": True},
        {"cyphertext": BOXED},
        {"private": True},
    ],
)
def test_fields_without_a_signed_value_are_extra_fields(extra):
    assert check_one({"key": KEY, "value": {**VALUE, **extra}})["check_error"] == "extra_field"


@pytest.mark.parametrize("meta", [None, 7, {}, {"originalContent": 7}, {"private": True}, []])
def test_envelope_meta_without_a_signed_value_is_ignored(meta):
    assert check_one({"key": KEY, "value": VALUE, "meta": meta})["is_usable"]


def test_decrypted_content_that_is_not_an_object_is_not_shown():
    row = check_one({"value": {**SEALED, "content": ["x"]}, "meta": {"originalContent": BOXED}})
    assert row["is_usable"] and row["is_encrypted"] and not row["is_decrypted"]
    assert row["content"] == f'"{BOXED}"'


@pytest.mark.parametrize("received", [None, "1", True, {}, []])
def test_receive_timestamp_that_is_not_a_number_is_null(received):
    """The envelope is not signed, so its fields never make a message unusable."""
    row = check_one({"key": KEY, "value": VALUE, "timestamp": received})
    assert row["is_usable"] and row["received_ms"] is None


def test_white_space_around_a_line_is_ignored():
    line = read_lines("small.jsonl")[0]
    assert check([line, line + b"\r", b" \t" + line + b" \n\r"])[2]["is_usable"]


def test_variants_of_the_peers():
    rows = check(read_lines("variants.jsonl"))
    expected = read_expected("variants.expect.jsonl")
    assert len(rows) == len(expected) == 51
    for row, said in zip(rows, expected, strict=True):
        reason = None if said["expect"] == "valid" else said["expect"].replace("-", "_")
        assert (row["check_error"], row["is_usable"]) == (reason, reason is None), said
        assert row["message_id"] == (said["id"] if reason is None else None), said
        assert (row["is_encrypted"], row["is_decrypted"]) == ("unboxed" in said["variant"],) * 2, said
