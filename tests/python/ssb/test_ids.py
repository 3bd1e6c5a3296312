"""Message ids, computed and normalised."""

import base64
import hashlib

import pytest

from dbt_tangles.formats.ssb.ids import hex_digests, message_id, normalise, sigil, sigils

DIGEST = bytes(range(224, 256))
SIGIL = f"%{base64.b64encode(DIGEST).decode()}.sha256"
URL_SAFE = base64.urlsafe_b64encode(DIGEST).decode().rstrip("=")


def test_id_of_ascii_hashes_the_text():
    """For ASCII the hashed bytes are the text."""
    assert message_id("{}") == f"%{base64.b64encode(hashlib.sha256(b'{}').digest()).decode()}.sha256"


def test_id_hashes_the_low_byte_of_each_utf16_unit():
    """High bytes are dropped, so different texts can share an id."""
    low_bytes = bytes([0xE9, 0xE5, 0x3D, 0x1A, 0x28])
    assert message_id("é日🐚\u2028") == f"%{base64.b64encode(hashlib.sha256(low_bytes).digest()).decode()}.sha256"
    assert message_id("Ł") == message_id("A")
    assert message_id("Ł") != message_id("L")


@pytest.mark.parametrize("kind", ["classic", "sha256"])
@pytest.mark.parametrize("scheme", ["ssb:message/", "ssb://message/"])
@pytest.mark.parametrize("padding", ["", "=", "=="])
def test_uri_becomes_sigil(scheme, kind, padding):
    """Both kinds of message URI name a sha256, with or without padding."""
    assert "-" in URL_SAFE and "_" in URL_SAFE
    assert normalise(f"{scheme}{kind}/{URL_SAFE}{padding}") == SIGIL


@pytest.mark.parametrize(
    "reference",
    [
        SIGIL,
        "",
        "%",
        "anything",
        "tangle",
        f"ssb:message/bendybutt-v1/{URL_SAFE}",
        f"ssb:feed/ed25519/{URL_SAFE}",
        f"ssb:message/sha256/{URL_SAFE}x",
        f"ssb:message/sha256/{URL_SAFE[:-1]}",
        f"ssb:message/sha256/{URL_SAFE[:-1]}B",
        f"ssb:message/sha256/{URL_SAFE}?unbox=x",
        f"ssb:message/sha256/{URL_SAFE}\n",
        f" ssb:message/sha256/{URL_SAFE}",
        "ssb:message/sha256/" + "é" * 43,
        "\ud800",
    ],
)
def test_other_references_are_unchanged(reference):
    """Other feed formats, near misses and sigils stay unchanged."""
    assert normalise(reference) == reference


@pytest.mark.parametrize("digests", [[], [None], [DIGEST], [None, DIGEST, bytes(32), None, b"\xff" * 32]])
def test_columns_of_digests(digests):
    """Columns built in one call equal those built value by value."""
    for column, text in [(sigils(digests), sigil), (hex_digests(digests), bytes.hex)]:
        column.validate(full=True)
        assert column.to_pylist() == [digest and text(digest) for digest in digests]
