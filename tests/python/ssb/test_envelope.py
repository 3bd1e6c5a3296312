"""Find the key that opens the envelope of a message."""

import base64
import hashlib

import pytest

from dbt_tangles.formats.ssb.envelope import MAX_KEYS, context_of, derive_secret, opening_key
from fixtures.ssb.author import Author, box
from fixtures.ssb.envelope import seal
from group_kit import ADD, EPOCH_INIT, EXCLUDE
from ssb_kit import check_one

# envelope-spec 1.0.0, vectors/box1.json: two slots, the first of a group. Its ids are TFK-encoded; these are sigils.
VECTOR = (
    "l0dEDrXwMx1VcKbnhrRy51jAtWyg5F23/6TZjWu00FyaNA+yTiRvO16ht93L18NmNWy1/KyjgKm++aiVqlE7sCqRT62OxLopHXVes/lWH9S97fhZHKCZ"
    "g/vxZgdIkpefvNl/qsHerry0SnS7m5OoffpyE0wYzKqUbcMHnUyFAbtmgFvj69f+Ng=="
)
FEED = "AACv6zOVZsd3N5mVYJs7MnmMRu08DfGmqG70+0mL0SfHUQ=="
BEFORE = "AQBP+SmjFm1B7PJ7bSaIa3JhkqMYdmlIKUtodYfE9o8/qw=="
GROUP_KEY = "gVv33+Jo5348A1XJrA+hoMxYiee13QlxNpm88yHwzRY="
DM_KEY = "beAVypscgWbDyQw6oDUwX9Huf/5dwrlhE/OrStRsU0g="
# vectors/derive_secret1.json.
DERIVED = {
    "feed": "AABvA0ViRe2fgDbnrUW6KPDkTwKOMF/NAqqaUlylfnXKLg==",
    "before": "AQDUUCgN3XkHRHRkrATQLORvr4CCrD6VTLGDbTRfMHQZvA==",
    "message_key": "2PCqq5Lr9rgJffTRsXNqEbNVgLWzTNKOklT8J3y5Diw=",
    "read_key": "LILUCCUYL0WFAdBmNPzGFS+lFjOoWP+RUSqQ+4j0Y4s=",
    "header_key": "BbT8RInae0A1KFSwwz6J/muhHkFV/pf9TgKS7jh9S5I=",
    "body_key": "yY23I1Or1IWg0yCa9I1RG0kk8kyN1+9j3o8nAymkj9E=",
}
KEY, OTHER = bytes(range(32)), bytes(range(1, 33))


def raw(text):
    return base64.b64decode(text)


def feed_id(tfk):
    return f"@{base64.b64encode(raw(tfk)[2:]).decode()}.ed25519"


def message_id(tfk):
    return f"%{base64.b64encode(raw(tfk)[2:]).decode()}.sha256"


def test_the_specification_derives_the_same_keys():
    context = context_of(feed_id(DERIVED["feed"]), message_id(DERIVED["before"]))
    read_key = derive_secret(raw(DERIVED["message_key"]), context, b"read_key")
    assert read_key == raw(DERIVED["read_key"])
    for label in ("header_key", "body_key"):
        assert derive_secret(read_key, context, label.encode()) == raw(DERIVED[label])


def test_the_specifications_envelope_is_opened():
    """By the group's key, which is in the first slot; the key of the second slot is a person's."""
    where = (VECTOR + ".box2", feed_id(FEED), message_id(BEFORE))
    assert opening_key(*where, [raw(DM_KEY), KEY, raw(GROUP_KEY)]) == raw(GROUP_KEY)
    assert opening_key(*where, [raw(DM_KEY), KEY]) is None


def test_an_envelope_opens_where_it_was_published_and_nowhere_else():
    feed, before = feed_id(FEED), message_id(BEFORE)
    for previous in (before, None):
        sealed = seal(b"{}", KEY, OTHER, feed, previous)
        assert opening_key(sealed, feed, previous, [OTHER, KEY]) == KEY
        assert opening_key(sealed, feed_id(DERIVED["feed"]), previous, [KEY]) is None
        assert opening_key(sealed, feed, message_id(DERIVED["before"]), [KEY]) is None
        assert opening_key(sealed[1:], feed, previous, [KEY]) is None


def test_at_most_max_keys_are_tried():
    sealed = seal(b"{}", KEY, OTHER, feed_id(FEED), None)
    assert opening_key(sealed, feed_id(FEED), None, [OTHER] * (MAX_KEYS - 1) + [KEY]) == KEY
    assert opening_key(sealed, feed_id(FEED), None, [OTHER] * MAX_KEYS + [KEY]) is None


@pytest.mark.parametrize(
    ("content", "author", "previous"),
    [
        *((content, feed_id(FEED), None) for content in ({"type": "post"}, None, "", ".box2", box(bytes(200)))),
        *((text + ".box2", feed_id(FEED), None) for text in ("A" * 84, "é" * 200)),
        *((VECTOR + ".box2", author, None) for author in (None, "ssb:feed/bendybutt-v1/x", feed_id(FEED) + "\n")),
        *((VECTOR + ".box2", feed_id(FEED), previous) for previous in (7, {"x": []}, "%x.sha256")),
    ],
)
def test_other_contents_are_never_opened(content, author, previous):
    assert opening_key(content, author, previous, [raw(GROUP_KEY)]) is None


def sealed_with(content, key, sign=None):
    """Return the `sealed_with` of a content that was published in an envelope."""
    alice = Author.from_seed("envelope")
    message = alice.publish(sign or seal(b"{}", key, OTHER, alice.feed_id, None), 1, 2)
    meta = {"private": True, "originalContent": message["value"]["content"], "encryptionFormat": "box2"}
    row = check_one({**message, "value": message["value"] | {"content": content}, "meta": meta})
    assert row["is_usable"]
    return row["group_claim"] and row["group_claim"]["sealed_with"]


def print_of(key):
    return hashlib.sha256(key).hexdigest()[:16]


def test_messages_name_the_fingerprint_of_their_key():
    """Its secret, or an older one; shown as a fingerprint; null for an invalid content."""
    older = [base64.b64encode(key).decode() for key in (bytes(32), OTHER)]
    add = {**ADD, "secret": base64.b64encode(KEY).decode(), "oldSecrets": [*older, 7, "x"]}
    assert sealed_with(add, KEY) == print_of(KEY)
    assert sealed_with(add, OTHER) == print_of(OTHER)
    assert sealed_with(add, bytes(range(2, 34))) is None
    assert sealed_with({**add, "version": "v1"}, KEY) is None
    assert sealed_with({**EPOCH_INIT, "secret": add["secret"]}, KEY) == print_of(KEY)
    assert sealed_with(EXCLUDE, KEY) is None
    assert sealed_with(add, KEY, sign=box(b"sealed otherwise")) is None
