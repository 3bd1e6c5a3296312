"""Which group's key opens the envelope that a private message was published in.

An exporter that shows what a message says may keep the envelope beside it. The first of an envelope's slots is that of
the group's key, so whether a key is the right one takes three derivations and one authentication; the message itself
is not decrypted.

Source: envelope specification 1.0.0, "Unboxing algorithm" and "Derive Secret"; private group specification, for the
place and the scheme of the group's slot.
"""

from __future__ import annotations

import hmac
import re
from binascii import a2b_base64
from collections.abc import Iterable
from typing import Any

from nacl.bindings import crypto_secretbox_open
from nacl.exceptions import CryptoError

SUFFIX = ".box2"
GROUP_SCHEME = b"envelope-large-symmetric-group"
#: A message hands out so many keys that it may be in the envelope of; the time for a line is bounded by it.
MAX_KEYS = 16

_BLOCK = 32
# Header and first slot, as base64, with two bytes more, so that there is no padding.
_HEAD = re.compile(r"[A-Za-z0-9+/]{88}")
_FEED = re.compile(r"@([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)\.ed25519")
_MESSAGE = re.compile(r"%([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)\.sha256")
_CLASSIC_FEED, _CLASSIC_MESSAGE = b"\x00\x00", b"\x01\x00"
_NONCE = bytes(24)


def context_of(author: Any, previous: Any) -> bytes | None:
    """Encode where a message is published, which all keys of its envelope are bound to.

    Args:
        author: the feed's id.
        previous: id of the feed's message before; None for the first.

    Returns:
        The start of what keys are derived with; None if either is of another format than classic.
    """
    feed = _FEED.fullmatch(author) if type(author) is str else None
    before = _MESSAGE.fullmatch(previous) if type(previous) is str else None
    if feed is None or (before is None and previous is not None):
        return None
    digest = a2b_base64(before[1]) if before else bytes(_BLOCK)
    return _prefixed(b"envelope", _CLASSIC_FEED + a2b_base64(feed[1]), _CLASSIC_MESSAGE + digest)


def derive_secret(key: bytes, context: bytes, *labels: bytes) -> bytes:
    """Derive a key from another: HKDF-Expand with SHA-256.

    Args:
        key: 32 bytes.
        context: see `context_of`.
        labels: what the new key is for.

    Returns:
        32 bytes.
    """
    return hmac.digest(key, context + _prefixed(*labels) + b"\x01", "sha256")


def opening_key(content: Any, author: Any, previous: Any, keys: Iterable[bytes]) -> bytes | None:
    """Find the key of a group that opens an envelope.

    Args:
        content: the content as it was signed, of any type; envelopes are base64 followed by `.box2`.
        author: see `context_of`.
        previous: likewise.
        keys: of 32 bytes each; the first `MAX_KEYS` are tried.

    Returns:
        The first that opens it; None if none does, or the content is no envelope of a classic feed.
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
    """Write parts one after another, each after its length."""
    return b"".join(len(part).to_bytes(2, "little") + part for part in parts)
