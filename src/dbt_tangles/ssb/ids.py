"""Message ids: computed from the canonical text, and normalised to the sigil form.

Source: SSB protocol guide, "message ID"; SSB URI specification, "message" URIs.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from hashlib import sha256

# The 43rd character holds two bits of the hash and four zeros, as in every canonical base64 of 32 bytes.
_MESSAGE_URI = re.compile(r"ssb:(?://)?message/(?:classic|sha256)/([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])=*")
_TO_SIGIL_ALPHABET = str.maketrans("-_", "+/")


def message_id(text: str) -> str:
    """Compute the id of a message.

    Args:
        text: the canonical text with its signature.

    Returns:
        ``%<base64 of a sha256>.sha256``. What is hashed is the low byte of each UTF-16 code unit (Node's "binary"
        encoding), so different texts can share an id: an id alone proves no content.
    """
    return sigil(sha256(hashed_bytes(text)).digest())


def hashed_bytes(text: str) -> bytes:
    """The bytes that an id is the hash of: the low byte of each UTF-16 code unit."""
    return text.encode() if text.isascii() else text.encode("utf-16-le", "surrogatepass")[::2]


def sigil(digest: bytes) -> str:
    """Write a 32-byte hash as a sigil message id."""
    return f"%{b2a_base64(digest, newline=False).decode()}.sha256"


def normalise(reference: str) -> str:
    """Write a message reference in the sigil form.

    Args:
        reference: any string.

    Returns:
        ``%<base64>.sha256`` for the URIs ``ssb:message/classic/<url-safe base64>`` and ``ssb:message/sha256/...``
        (``ssb://message/...`` too), with or without padding; every other string as it is.
    """
    if reference[:4] != "ssb:":
        return reference
    uri = _MESSAGE_URI.fullmatch(reference)
    return f"%{uri[1].translate(_TO_SIGIL_ALPHABET)}=.sha256" if uri else reference
