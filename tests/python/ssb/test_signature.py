"""Signatures, mainly those on which ed25519 libraries disagree."""

import base64

import pytest

from dbt_tangles.formats.json.printing import canonical_text
from dbt_tangles.formats.ssb.signature import decode_signature, is_valid, public_key
from fixtures.ssb.author import Author
from ssb_kit import ALICE, GROUP_ORDER, check_one, value_of

IDENTITY = (1).to_bytes(32, "little")
FIELD = 2**255 - 19


def feed_id(key):
    return f"@{base64.b64encode(key).decode()}.ed25519"


def signature_text(signature):
    return base64.b64encode(signature).decode() + ".sig.ed25519"


def verdict(value, hmac_key=None):
    """Check a value's signature as the verification does."""
    key, signature = public_key(value["author"]), decode_signature(value["signature"])
    return is_valid(key, signature, canonical_text(value).encode(), hmac_key)


def test_malleable_signature_is_rejected():
    """S + L satisfies the equation as S does; libsodium requires the least S."""
    value = value_of()
    signature = decode_signature(value["signature"])
    scalar = int.from_bytes(signature[32:], "little") + GROUP_ORDER
    value["signature"] = signature_text(signature[:32] + scalar.to_bytes(32, "little"))
    assert not verdict(value)
    assert check_one(value)["check_error"] == "bad_signature"


# Points of small order. With R the identity and S zero the verification equation holds for any text (or for one text in
# eight), so with a library that accepts these keys, strangers can write to their feeds.
SMALL_ORDER = [
    IDENTITY,
    (FIELD - 1).to_bytes(32, "little"),
    bytes(32),
    bytes(31) + b"\x80",
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
]
# The same points encoded with a y beyond the field, or with the sign of a zero x.
NON_CANONICAL = [
    FIELD.to_bytes(32, "little"),
    (FIELD + 1).to_bytes(32, "little"),
    (FIELD + 1 + 2**255).to_bytes(32, "little"),
    (1 + 2**255).to_bytes(32, "little"),
]


@pytest.mark.parametrize("key", SMALL_ORDER + NON_CANONICAL, ids=bytes.hex)
def test_small_order_and_non_canonical_keys_are_refused(key):
    for sequence in range(1, 17):
        value = {
            **value_of(sequence=sequence),
            "author": feed_id(key),
            "signature": signature_text(IDENTITY + bytes(32)),
        }
        assert public_key(value["author"]) == key
        assert not verdict(value)
    assert check_one(value)["check_error"] == "bad_signature"


def test_other_odd_points_are_refused():
    """A non-canonical key of large order, R of small order, and bytes that are all equal."""
    keys = [(FIELD + offset).to_bytes(32, "little") for offset in range(2, 19)]
    signatures = [*(key + bytes(32) for key in SMALL_ORDER), bytes(64), b"\xff" * 64]
    changes = [{"author": feed_id(key)} for key in keys]
    changes += [{"signature": signature_text(signature)} for signature in signatures]
    for change in changes:
        assert not verdict(value_of() | change), change


def test_hmac_key_is_needed_on_its_network_and_wrong_elsewhere():
    key, other = bytes(range(32)), bytes(32)
    inside = Author.from_seed("carol", hmac_key=key)
    value = value_of(author=inside)
    assert verdict(value, key)
    assert not verdict(value)
    assert not verdict(value, other)
    assert not verdict(value_of(), key)
    assert check_one(value, hmac_key=key)["is_usable"]
    assert check_one(value)["check_error"] == "bad_signature"


def test_hmac_key_does_not_change_the_id():
    value = value_of()
    assert check_one(value)["message_id"] == check_one(value, hmac_key=bytes(32))["message_id"]


@pytest.mark.parametrize(
    "author",
    [
        "",
        ALICE.feed_id[1:],
        ALICE.feed_id.replace(".ed25519", "xed25519"),
        ALICE.feed_id.replace(".ed25519", ".sha256"),
        ALICE.feed_id + "\n",
        ALICE.feed_id[:44] + "A" + ALICE.feed_id[45:],
        *(f"@{'A' * 41}{end}=.ed25519" for end in ("AB", "A=", "\nA")),
        *(f"@{odd * 42}A=.ed25519" for odd in "-é"),
        "x" * 100_000,
    ],
)
def test_other_authors_have_no_key(author):
    assert public_key(author) is None
    assert public_key(author) is None


def test_feed_id_is_decoded():
    assert public_key("@" + "A" * 43 + "=.ed25519") == bytes(32)
    assert public_key("@" + "/" * 42 + "8=.ed25519") == b"\xff" * 32


def test_signature_is_decoded():
    assert decode_signature("A" * 86 + "==.sig.ed25519") == bytes(64)
    assert decode_signature("/" * 85 + "w==.sig.ed25519") == b"\xff" * 64


@pytest.mark.parametrize(
    "signature",
    [
        *(None, 7, "", ["A" * 86 + "==.sig.ed25519"]),
        *("A" * 86 + f"=={end}" for end in (".sig.ed25519\n", ".sig.ed25519 ", "xsig.ed25519", ".sigxed25519")),
        *(text + "==.sig.ed25519" for text in ("A" * 82, "A" * 90, "A" * 85 + "B", "=" * 86)),
        "A" * 88 + ".sig.ed25519",
        *(("A" * 20 + odd).ljust(86, "A") + "==.sig.ed25519" for odd in ("-", "=", "==", "====")),
        *(("A" * 20 + odd).ljust(86, "A") + "==.sig.ed25519" for odd in ("\n", "é", "\ud800", "\0")),
    ],
)
def test_malformed_signatures_are_not_decoded(signature):
    assert decode_signature(signature) is None
