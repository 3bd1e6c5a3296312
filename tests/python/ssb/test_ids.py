"""Message ids, computed and normalised."""

import base64
import hashlib

import pytest

from dbt_tangles.formats.ssb.ids import message_id, normalise, referenced_id

DIGEST = bytes(range(224, 256))
SIGIL = f"%{base64.b64encode(DIGEST).decode()}.sha256"
URL_SAFE = base64.urlsafe_b64encode(DIGEST).decode()
WITHOUT_END, OTHER = URL_SAFE[:42], f"%{'x' * 43}="


def test_id_of_ascii_hashes_the_text():
    assert message_id("{}") == f"%{base64.b64encode(hashlib.sha256(b'{}').digest()).decode()}.sha256"


def test_id_hashes_the_low_byte_of_each_utf16_unit():
    """High bytes are dropped, so different texts can share an id."""
    low_bytes = bytes([0xE9, 0xE5, 0x3D, 0x1A, 0x28])
    assert message_id("é日🐚\u2028") == f"%{base64.b64encode(hashlib.sha256(low_bytes).digest()).decode()}.sha256"
    assert message_id("Ł") == message_id("A")
    assert message_id("Ł") != message_id("L")


@pytest.mark.parametrize("kind", ["classic", "sha256"])
@pytest.mark.parametrize("form", ["ssb:message/{}/{}", "ssb://message/{}/{}", "ssb:message:{}:{}"])
@pytest.mark.parametrize("tail", ["", "?unbox=x", "?", "#part", "?a\nb"])
def test_uri_becomes_sigil(form, kind, tail):
    """Both kinds of message URI name a sha256; a query or fragment is not part of the id."""
    assert "-" in URL_SAFE and "_" in URL_SAFE
    assert normalise(form.format(kind, URL_SAFE) + tail) == SIGIL


@pytest.mark.parametrize(
    ("reference", "id_"),
    [
        (SIGIL, SIGIL),
        (f"{SIGIL}?unbox=x.boxs", SIGIL),
        (f"{OTHER}.bbmsg-v1?unbox=x", f"{OTHER}.bbmsg-v1"),
        (f"{OTHER}.cloaked", f"{OTHER}.cloaked"),
        (f"ssb:message/bendybutt-v1/{URL_SAFE}", f"ssb:message/bendybutt-v1/{URL_SAFE}"),
        (f"ssb://message/gabbygrove-v1/{URL_SAFE}", f"ssb:message/gabbygrove-v1/{URL_SAFE}"),
        (f"ssb:message:buttwoo-v1:{URL_SAFE}?unbox=x", f"ssb:message/buttwoo-v1/{URL_SAFE}"),
    ],
)
def test_other_ids(reference, id_):
    assert normalise(reference) == referenced_id(reference) == id_


@pytest.mark.parametrize(
    "reference",
    [
        *("", "%", "anything", "tangle", "\0", "\ud800", f"https://viewer.example/{SIGIL}"),
        *(f"%{WITHOUT_END}B=.sha256", f"{SIGIL}\n", f"{SIGIL}#part", f"@{SIGIL[1:45]}.ed25519", f"&{SIGIL[1:]}"),
        *(f"ssb:message/sha256/{URL_SAFE}{tail}" for tail in ("x", "=", "\n")),
        *(f"ssb:message/sha256/{URL_SAFE[:-1]}{tail}" for tail in ("", "%3D")),
        *(f"ssb:message/sha256/{other}" for other in (f"{WITHOUT_END}B=", SIGIL[1:45], "é" * 43)),
        *(f"{start}message/sha256/{URL_SAFE}" for start in (" ssb:", "SSB:")),
        *(f"ssb:{path}{URL_SAFE}" for path in ("feed/ed25519/", "blob/sha256/", "message:sha256/")),
        f"ssb://message:sha256:{URL_SAFE}",
    ],
)
def test_other_references_are_unchanged(reference):
    assert normalise(reference) == reference
    assert referenced_id(reference) is None
