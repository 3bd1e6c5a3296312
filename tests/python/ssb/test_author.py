"""The fixture author publishes valid messages; signatures and ids are checked with independent code."""

import base64
import hashlib
import hmac
import json

import pytest
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from fixtures.ssb.author import Author, box, to_line, to_uri

MORNING = 1_500_000_000_000


def text_of(value):
    """Print a value of ordinary content as JavaScript does; Python's own JSON module agrees for such values."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def id_of(value):
    """Return the id of a signed value."""
    units = text_of(value).encode("utf-16-le")[::2]
    return "%" + base64.b64encode(hashlib.sha256(units).digest()).decode() + ".sha256"


def verify(value, hmac_key=None):
    """Raise an error if a value's signature is wrong."""
    unsigned = {name: member for name, member in value.items() if name != "signature"}
    signed = text_of(unsigned).encode()
    if hmac_key is not None:
        signed = hmac.new(hmac_key, signed, hashlib.sha512).digest()[:32]
    key = base64.b64decode(value["author"].removeprefix("@").removesuffix(".ed25519"))
    VerifyKey(key).verify(signed, base64.b64decode(value["signature"].removesuffix(".sig.ed25519")))


@pytest.mark.parametrize(
    "content",
    [
        {"type": "post", "text": "hello"},
        {"type": "post", "text": 'a "quoted" line\nand \\ a tab\t\u0001, / stays'},
        {"type": "post", "text": "größer, 日本, 🐚, \u2028, \x7f", "mentions": [], "more": {}},
        {"type": "post", "tangles": {"thread": {"root": None, "previous": None}}, "numbers": [0, -1, 1.5, True]},
        box(b"not really encrypted"),
    ],
)
def test_messages_are_validly_signed(content):
    """Signatures and ids are valid for any text, and the line contains the message."""
    alice = Author.from_seed("alice")
    for _ in range(2):
        message = alice.publish(content, MORNING + 0.001)
        verify(message["value"])
        assert message["key"] == id_of(message["value"])
        assert json.loads(to_line(message)) == message


def test_unusual_content_is_signed_as_it_is_printed_by_v8():
    """Index keys, whole floats and lone surrogates are signed as a peer would print them."""
    value = Author.from_seed("alice").publish({"type": "odd", "2": 1.0, "1": 1e16, "text": "\ud800"}, MORNING)["value"]
    # Array indices come first, whole floats have no fraction, lone surrogates are escaped.
    printed = {"1": 10_000_000_000_000_000, "2": 1, "type": "odd", "text": "SURROGATE"}
    text = text_of({**value, "content": printed, "signature": None}).replace("SURROGATE", "\\ud800")
    signed = text.replace(',\n  "signature": null', "").encode()
    VerifyKey(base64.b64decode(value["author"][1:-8])).verify(signed, base64.b64decode(value["signature"][:-12]))
    assert json.loads(to_line({"value": value})) == {"value": value}


def test_a_feed_is_a_chain():
    """Sequence and previous go on by themselves."""
    alice = Author.from_seed("alice")
    first, second = (alice.publish({"type": "post", "text": text}, MORNING) for text in ("one", "two"))
    assert list(first["value"]) == ["previous", "sequence", "author", "timestamp", "hash", "content", "signature"]
    assert (first["value"]["sequence"], first["value"]["previous"]) == (1, None)
    assert (second["value"]["sequence"], second["value"]["previous"]) == (2, first["key"])
    assert (alice.sequence, alice.latest_id) == (2, second["key"])


def test_the_received_timestamp_is_the_asserted_one_unless_given():
    """An envelope always has a receive timestamp."""
    alice = Author.from_seed("alice")
    assert alice.publish({"type": "post"}, MORNING)["timestamp"] == MORNING
    assert alice.publish({"type": "post"}, MORNING, MORNING + 5.25)["timestamp"] == MORNING + 5.25


def test_a_seed_of_any_kind_gives_one_key():
    """Text, numbers and bytes are valid seeds."""
    assert Author.from_seed("7").feed_id == Author.from_seed(7).feed_id == Author.from_seed(b"7").feed_id
    assert Author.from_seed("7").feed_id != Author.from_seed("8").feed_id


def test_an_explicit_place_leaves_the_feed_as_it_was():
    """Forks, gaps and bad links can be published beside the feed."""
    alice = Author.from_seed("alice")
    first = alice.publish({"type": "post", "text": "one"}, MORNING)
    second = alice.publish({"type": "post", "text": "two"}, MORNING)
    fork = alice.publish({"type": "post", "text": "another two"}, MORNING, sequence=2, previous=first["key"])
    gap = alice.publish({"type": "post", "text": "nine"}, MORNING, sequence=9)
    rootless = alice.publish({"type": "post", "text": "three"}, MORNING, previous=None)
    assert (fork["value"]["sequence"], fork["value"]["previous"]) == (2, first["key"])
    assert (gap["value"]["sequence"], gap["value"]["previous"]) == (9, second["key"])
    assert (rootless["value"]["sequence"], rootless["value"]["previous"]) == (3, None)
    assert (alice.sequence, alice.latest_id) == (2, second["key"])


def test_a_fork_continues_from_its_start():
    """A second writer with the same key starts at the given position."""
    alice = Author.from_seed("alice")
    first = alice.publish({"type": "post", "text": "one"}, MORNING)
    alice.publish({"type": "post", "text": "two"}, MORNING)
    restored = alice.fork(first)
    other = restored.publish({"type": "post", "text": "another two"}, MORNING)
    assert (other["value"]["author"], other["value"]["sequence"]) == (alice.feed_id, 2)
    assert other["value"]["previous"] == first["key"]
    assert alice.fork().publish({"type": "post", "text": "one"}, MORNING) == first
    verify(other["value"])


def test_a_network_key_changes_the_signature_only():
    """With a network key the signature is valid with that key alone."""
    network = bytes(range(32))
    content = {"type": "post", "text": "hello"}
    value = Author.from_seed("alice", hmac_key=network).publish(content, MORNING)["value"]
    verify(value, network)
    with pytest.raises(BadSignatureError):
        verify(value)
    assert Author.from_seed("alice").publish(content, MORNING)["value"]["signature"] != value["signature"]


def test_uris_name_the_same_digest():
    """Both URI forms use the URL-safe base64 alphabet."""
    assert to_uri("%a+/b=.sha256") == "ssb:message/classic/a-_b="
    assert to_uri("%a+/b=.sha256", "sha256") == "ssb:message/sha256/a-_b="
