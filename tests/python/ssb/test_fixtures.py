"""The committed fixtures are validly signed, by independent code; builds compare the tables with hand-written ones."""

import base64
import hashlib
import json
from functools import partial

from nacl.signing import VerifyKey

import fixture_seeds
from conftest import DATA

expected = partial(fixture_seeds.expected, "ssb")
lines = partial(fixture_seeds.lines, "ssb")

FILES = {
    name: list(map(json.loads, lines(name)))
    for name in ("worked_examples.jsonl", "private_groups.jsonl", "records.jsonl")
}
MESSAGES = {message["key"]: message for messages in FILES.values() for message in messages}
LETTERS = fixture_seeds.names("ssb", "message")
NAMES = {(row["example"], row["id"]): row["name"] for row in LETTERS}
IDS = {(example, letter): key for (example, key), letter in NAMES.items()}


def text_of(value):
    """Print a value of ordinary content as JavaScript does; Python's own JSON module agrees for such values."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def test_letters_are_the_computed_ids_and_signatures_hold():
    assert len(IDS) == len(NAMES) == len(LETTERS)
    in_log = {row["id"] for row in LETTERS if row["is_in_log"] == "true"}
    assert in_log == set(MESSAGES)
    for key, message in MESSAGES.items():
        value = as_signed(message)
        digest = hashlib.sha256(text_of(value).encode("utf-16-le")[::2]).digest()
        assert key == "%" + base64.b64encode(digest).decode() + ".sha256"
        signature = base64.b64decode(value.pop("signature").removesuffix(".sig.ed25519"))
        public_key = base64.b64decode(value["author"].removeprefix("@").removesuffix(".ed25519"))
        VerifyKey(public_key).verify(text_of(value).encode(), signature)


def as_signed(message):
    """Return a message's value as it was before an exporter decrypted it."""
    value = dict(message["value"])
    if "meta" in message:
        value["content"] = message["meta"]["originalContent"]
    if "meta" in value:
        value["content"] = value.pop("meta")["original"]["content"]
    return value


def test_the_damaged_log_is_carried_byte_for_byte():
    raw = (DATA / "ssb" / "small.jsonl").read_bytes()
    assert b"".join(line + b"\n" for line in lines("damaged.jsonl")) == raw
