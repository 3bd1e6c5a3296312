"""The committed fixtures of private groups have an example of every rule, and real envelopes.

Builds compare their tables with the fixtures. `test_groups.py` compares the same tables with the peers' answers and
with stated results, and `test_group_properties.py` the kernel with an oracle.
"""

import base64
import hmac
import json
import struct
from collections import Counter
from functools import partial

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

import fixture_seeds
from dbt_tangles.formats.ssb.group_claims import GroupReason

expected = partial(fixture_seeds.expected, "ssb")
MESSAGES = {
    message["key"]: message
    for name in ("worked_examples.jsonl", "private_groups.jsonl")
    for message in map(json.loads, fixture_seeds.lines("ssb", name))
}
REASONS = {reason.value for reason in GroupReason}


def opens(key, message):
    """Say whether a group's key opens the envelope of a message, as the specification draws it."""
    envelope = base64.b64decode(message["meta"]["originalContent"].removesuffix(".box2"))
    feed, before = message["value"]["author"], message["value"]["previous"]
    feed = b"\0\0" + base64.b64decode(feed[1:45])
    before = b"\1\0" + (base64.b64decode(before[1:45]) if before else bytes(32))

    def derive(secret, *labels):
        parts = (b"envelope", feed, before, *labels)
        info = b"".join(struct.pack("<H", len(part)) + part for part in parts)
        return hmac.digest(secret, info + b"\1", "sha256")

    slot = derive(key, b"slot_key", b"envelope-large-symmetric-group")
    read_key = derive(bytes(a ^ b for a, b in zip(envelope[32:64], slot, strict=True)), b"read_key")
    try:
        header = SecretBox(derive(read_key, b"header_key")).decrypt(envelope[:32], bytes(24))
    except CryptoError:
        return False
    body = envelope[int.from_bytes(header[:2], "little") :]
    opened = SecretBox(derive(read_key, b"body_key")).decrypt(body, bytes(24))
    assert json.loads(opened) == message["value"]["content"]
    return True


def secrets_of(content):
    return {content.get("secret"), *content.get("oldSecrets", [])}


def test_the_stated_epoch_opens_the_envelope():
    """A message with keys of its own is published in the one epoch whose key is among them and opens its envelope."""
    ids = {(row["example"], row["name"]): row["id"] for row in fixture_seeds.names("ssb", "message")}
    opened = Counter()
    for row in expected("group_messages"):
        message = MESSAGES[ids[row["example"], row["message"]]]
        if row["set_aside_reason"] in REASONS or not isinstance(message.get("meta"), dict):
            continue
        epochs = [
            epoch["epoch"]
            for epoch in expected("group_epochs", example=row["example"])
            if (key := MESSAGES[ids[row["example"], epoch["epoch"]]]["value"]["content"]["secret"])
            in secrets_of(message["value"]["content"])
            and opens(base64.b64decode(key), message)
        ]
        assert epochs in ([], [row["published_in"]])
        opened[len(epochs)] += 1
    assert opened[0] and opened[1]


def test_every_rule_has_an_example():
    assert {row["finding"] for row in expected("group_findings")} == {
        "dropped_after_return",
        "foreign_exclude",
        "unconnected_add",
        "returned_though_excluded",
        "init_not_counted",
        "unchecked_entry",
        "foreign_group",
        "foreign_key",
        "same_key",
        "no_answer",
        "added_in_own_epoch",
        "added_outside_additions",
    }
    published = {row["published_in"] for row in expected("group_messages")}
    assert published > {"additions", "unknown"}
    cases = {"single_tip", "same_members", "subset", "overlap", "disjoint", "many_tips"}
    assert {row["preference"] for row in expected("group_epochs")} == cases
    reasons = {row["set_aside_reason"] for row in expected("group_messages")}
    assert reasons == REASONS | {"", "unconnected_epoch", "unknown_epoch"}
