"""Message ids: computed from the canonical text, and normalised to the sigil form; one form for ids of feeds.

Source: SSB protocol guide, "message ID"; SSB URI specification, "message" and "feed" URIs; ssb-uri2, the forms that it
takes; ssb-ref, links with a query.
"""

import re
from binascii import b2a_base64
from hashlib import sha256

_SIGIL = re.compile(r"%([A-Za-z0-9+/]{43}=)\.([a-z0-9-]{1,20})(?:\?.*)?", re.DOTALL)
_URI = re.compile(
    r"ssb:(?:message:([a-z0-9-]{1,30}):|(?://)?message/([a-z0-9-]{1,30})/)([A-Za-z0-9_-]{43}=)(?:[?#].*)?", re.DOTALL
)
_FEED = re.compile(
    r"@([A-Za-z0-9+/]{43}=)\.([a-z0-9-]{1,20})|"
    r"ssb:(?:feed:([a-z0-9-]{1,20}):|(?://)?feed/([a-z0-9-]{1,20})/)([A-Za-z0-9_-]{43}=)"
)
#: The 43rd character encodes two bits of the hash and four zeros, as in every canonical base64 of 32 bytes.
_LAST_DIGITS = frozenset("AEIMQUYcgkosw048")
_CLASSIC = frozenset({"classic", "sha256"})
_TO_SIGIL_ALPHABET, _TO_URI_ALPHABET = str.maketrans("-_", "+/"), str.maketrans("+/", "-_")


def message_id(text: str) -> str:
    """Compute the id of a message.

    Args:
        text: The canonical text with its signature.

    Returns:
        ``%<base64 of a sha256>.sha256``. The hash covers the low byte of each UTF-16 code unit (Node's "binary"
        encoding), so different texts can share an id: an id alone proves no content.
    """
    return sigil(sha256(hashed_bytes(text)).digest())


def hashed_bytes(text: str) -> bytes:
    """Return the bytes that an id hashes: the low byte of each UTF-16 code unit."""
    return text.encode() if text.isascii() else text.encode("utf-16-le", "surrogatepass")[::2]


def sigil(digest: bytes) -> str:
    """Format a 32-byte hash as a sigil message id."""
    return f"%{b2a_base64(digest, newline=False).decode()}.sha256"


def normalise(reference: str) -> str:
    """Convert a message reference to the form of `referenced_id`; return every other string unchanged."""
    return referenced_id(reference) or reference


def referenced_id(reference: str) -> str | None:
    """Return the id of the message that a string refers to.

    Such a string is a sigil or a URI: ``ssb:message/<format>/<url-safe base64>``, also with ``ssb://`` or with colons
    in place of the slashes. A query (``?unbox=<key>``) or the fragment of a URI is not part of the id.

    Returns:
        ``%<base64>.sha256`` for the formats ``classic`` and ``sha256``. For other formats, whose messages are never in
        a classic log, the sigil or ``ssb:message/<format>/<base64>``. Absent if the string can be no message's id.
    """
    if match := _SIGIL.fullmatch(reference):
        digest, suffix = match.groups()
        return None if suffix == "sha256" and digest[42] not in _LAST_DIGITS else f"%{digest}.{suffix}"
    if match := _URI.fullmatch(reference):
        digest, message_format = match[3], match[1] or match[2]
        if message_format not in _CLASSIC:
            return f"ssb:message/{message_format}/{digest}"
        return f"%{digest.translate(_TO_SIGIL_ALPHABET)}.sha256" if digest[42] in _LAST_DIGITS else None
    return None


def normalise_feed(reference: str) -> str:
    """Convert a feed's id to the form that messages of its kind have; return every other string unchanged.

    Returns:
        ``@<base64>.ed25519`` for a classic feed, and ``ssb:feed/bendybutt-v1/<url-safe base64>`` for a metafeed.
    """
    if match := _FEED.fullmatch(reference):
        digest, feed_format = match[1] or match[5], match[2] or match[3] or match[4]
        if feed_format in ("ed25519", "classic"):
            return f"@{digest.translate(_TO_SIGIL_ALPHABET)}.ed25519"
        if feed_format in ("bbfeed-v1", "bendybutt-v1"):
            return f"ssb:feed/bendybutt-v1/{digest.translate(_TO_URI_ALPHABET)}"
    return reference
