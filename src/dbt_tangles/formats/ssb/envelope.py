"""Finds the group key that opens a private message (envelope specification 1.0.0, "Unboxing algorithm").

An exporter of decrypted messages may keep the envelope beside the content. The first slot of an envelope belongs to the
group's key, so testing a key takes three derivations and one authentication. The message itself is not decrypted.

Source: envelope specification 1.0.0, "Unboxing algorithm" and "Derive Secret"; private group specification, for the
position and the scheme of the group's slot.
"""

import hmac
import re
from binascii import a2b_base64
from collections.abc import Iterable
from typing import Any

from nacl.bindings import crypto_secretbox_open
from nacl.exceptions import CryptoError

from dbt_tangles.formats.ssb.signature import public_key

SUFFIX = ".box2"
GROUP_SCHEME = b"envelope-large-symmetric-group"
#: Maximum number of candidate keys per message; it bounds the time for a line.
MAX_KEYS = 16

_BLOCK = 32
# Header and first slot as base64, plus two bytes, so that there is no padding.
_HEAD = re.compile(r"[A-Za-z0-9+/]{88}")
_MESSAGE = re.compile(r"%([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)\.sha256")
_CLASSIC_FEED, _CLASSIC_MESSAGE = b"\x00\x00", b"\x01\x00"
_NONCE = bytes(24)


def context_of(author: Any, previous: Any) -> bytes | None:
    """Encode the position of a message in its feed, to which all keys of its envelope are bound.

    Args:
        author: The feed's id.
        previous: The id of the previous message of the feed; null for the first.

    Returns:
        The prefix of the derivation input, if both ids have the classic format.
    """
    feed = public_key(author) if type(author) is str else None
    before = _MESSAGE.fullmatch(previous) if type(previous) is str else None
    if feed is None or (before is None and previous is not None):
        return None
    digest = a2b_base64(before[1]) if before else bytes(_BLOCK)
    return _prefixed(b"envelope", _CLASSIC_FEED + feed, _CLASSIC_MESSAGE + digest)


def derive_secret(key: bytes, context: bytes, *labels: bytes) -> bytes:
    """Derive a key from another by HKDF-Expand with SHA-256.

    Args:
        key: 32 bytes.
        context: See `context_of`.
        labels: The purpose of the new key.

    Returns:
        32 bytes.
    """
    return hmac.digest(key, context + _prefixed(*labels) + b"\x01", "sha256")


def opening_key(content: Any, author: Any, previous: Any, keys: Iterable[bytes]) -> bytes | None:
    """Find the group key that opens an envelope.

    Args:
        content: The content as signed, of any type; an envelope is base64 followed by `.box2`.
        author: See `context_of`.
        previous: See `context_of`.
        keys: Keys of 32 bytes; the first `MAX_KEYS` are tried.

    Returns:
        The first key that opens it, if any; absent too if the content is not an envelope of a classic feed.
    """
    if type(content) is not str or not content.endswith(SUFFIX) or not _HEAD.match(content):
        return None
    context = context_of(author, previous)
    if context is None:
        return None
    head = a2b_base64(content[:88])
    header, slot = head[:_BLOCK], int.from_bytes(head[_BLOCK : 2 * _BLOCK], "big")
    for _, key in zip(range(MAX_KEYS), keys, strict=False):
        slot_key = derive_secret(key, context, b"slot_key", GROUP_SCHEME)
        message_key = (slot ^ int.from_bytes(slot_key, "big")).to_bytes(_BLOCK, "big")
        read_key = derive_secret(message_key, context, b"read_key")
        try:
            crypto_secretbox_open(header, _NONCE, derive_secret(read_key, context, b"header_key"))
        except CryptoError:
            continue
        return key
    return None


def _prefixed(*parts: bytes) -> bytes:
    """Concatenate parts, each after its length."""
    return b"".join(len(part).to_bytes(2, "little") + part for part in parts)
