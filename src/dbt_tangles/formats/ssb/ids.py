"""Message ids: computed from the canonical text, normalised to the sigil form, and built as columns.

Source: SSB protocol guide, "message ID"; SSB URI specification, "message" URIs.
"""

import re
from binascii import b2a_base64
from hashlib import sha256

import numpy as np
import pyarrow as pa

# The 43rd character encodes two bits of the hash and four zeros, as in every canonical base64 of 32 bytes.
_MESSAGE_URI = re.compile(r"ssb:(?://)?message/(?:classic|sha256)/([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])=*")
#: Strings below this one in code point order are not URIs; sigils are among them.
URI_SCHEME = "ssb:"
_TO_SIGIL_ALPHABET = str.maketrans("-_", "+/")


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


def sigils(digests: list[bytes | None]) -> pa.StringArray:
    """Format many 32-byte hashes as sigil message ids, with nulls for missing ones."""
    # One call encodes all hashes, each with a 33rd byte of zeros in place of the padding.
    present = [digest for digest in digests if digest is not None]
    letters = np.frombuffer(b2a_base64(b"\0".join([*present, b""]), newline=False), np.uint8)
    texts = np.empty((len(present), 52), np.uint8)
    texts[:, 0] = ord("%")
    texts[:, 1:44] = letters.reshape(-1, 44)[:, :43]
    texts[:, 44:] = np.frombuffer(b"=.sha256", np.uint8)
    return _fixed_strings(texts, digests)


def hex_digests(digests: list[bytes | None]) -> pa.StringArray:
    """Format many 32-byte hashes in hexadecimal, with nulls for missing ones."""
    present = [digest for digest in digests if digest is not None]
    return _fixed_strings(np.frombuffer(b"".join(present).hex().encode(), np.uint8).reshape(-1, 64), digests)


def utf8_strings(texts: list[bytes | None]) -> pa.StringArray:
    """Build a column from valid UTF-8 texts, with nulls for missing ones; Arrow would validate each text again."""
    offsets = np.zeros(len(texts) + 1, np.int32)
    np.cumsum([0 if text is None else len(text) for text in texts], out=offsets[1:])
    validity = None
    if None in texts:
        is_present = [text is not None for text in texts]
        validity = pa.py_buffer(np.packbits(is_present, bitorder="little").tobytes())
    joined = b"".join(filter(None, texts))
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(joined), validity)


def _fixed_strings(texts: np.ndarray, digests: list[bytes | None]) -> pa.StringArray:
    """Build a column from strings of one length, with nulls for missing digests."""
    count, length = texts.shape
    if count == len(digests):
        offsets = np.arange(0, (count + 1) * length, length, dtype=np.int32)
        validity = None
    else:
        is_present = np.array([digest is not None for digest in digests])
        offsets = np.zeros(len(digests) + 1, np.int32)
        np.cumsum(is_present * length, out=offsets[1:])
        validity = pa.py_buffer(np.packbits(is_present, bitorder="little").tobytes())
    return pa.StringArray.from_buffers(len(digests), pa.py_buffer(offsets), pa.py_buffer(texts), validity)


def normalise(reference: str) -> str:
    """Convert a message reference to the sigil form.

    Returns:
        ``%<base64>.sha256`` for the URIs ``ssb:message/classic/<url-safe base64>`` and ``ssb:message/sha256/...``
        (``ssb://message/...`` too), with or without padding; every other string unchanged.
    """
    if reference < URI_SCHEME:
        return reference
    uri = _MESSAGE_URI.fullmatch(reference)
    return f"%{uri[1].translate(_TO_SIGIL_ALPHABET)}=.sha256" if uri else reference
