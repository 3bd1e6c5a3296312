"""Publish really signed SSB classic messages.

Fixtures, tests and benchmarks need feeds whose signatures and ids hold, so that they pass the same gate as a log that a
peer exported. An :class:`Author` is one feed: an ed25519 key and the state of its chain.

    alice = Author.from_seed("alice")
    hello = alice.publish({"type": "post", "text": "hello"}, asserted_at=1500000000000)
    line = to_line(hello)  # one line of a createLogStream export

An author signs what it is given: whether a message is valid (its length, its content type) is for the check to say,
which is what lets tests publish invalid ones.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import b64encode
from typing import Any

import orjson
from nacl.bindings import crypto_sign, crypto_sign_seed_keypair

from dbt_tangles.ssb.canonical import canonical_text, plain_text

Message = dict[str, Any]
"""A message as createLogStream gives it: `key`, `value` and the receive `timestamp`."""

_UNSET: Any = object()


def to_line(message: Message) -> bytes:
    """Return the message as one JSON line, without the line's end."""
    try:
        return orjson.dumps(message)
    except TypeError:  # lone surrogates have no UTF-8 form and must be escaped
        return json.dumps(message, separators=(",", ":")).encode()


def to_uri(message_id: str, kind: str = "classic") -> str:
    """Return a sigil message id in its URI form, `ssb:message/classic/...` or `ssb:message/sha256/...`."""
    digest = message_id[1 : -len(".sha256")]
    return f"ssb:message/{kind}/" + digest.replace("+", "-").replace("/", "_")


def box(payload: bytes) -> str:
    """Return bytes dressed as the content of an encrypted message (nothing is encrypted)."""
    return b64encode(payload).decode() + ".box"


class Author:
    """One feed: a key, and the sequence and id of the last message that was published with it.

    Attributes:
        feed_id: The feed's id, `@....ed25519`.
        sequence: The sequence of the latest message; 0 before the first.
        latest_id: The id of the latest message; None before the first.
    """

    __slots__ = ("_hmac_key", "_secret_key", "feed_id", "latest_id", "sequence")

    def __init__(self, seed: bytes, hmac_key: bytes | None = None):
        """Start an empty feed.

        Args:
            seed: The 32 bytes that the key is derived from.
            hmac_key: The 32 bytes of a network key, for networks that sign an authenticator of the text, not the text.
        """
        public_key, self._secret_key = crypto_sign_seed_keypair(seed)
        self._hmac_key = hmac_key
        self.feed_id = "@" + b64encode(public_key).decode() + ".ed25519"
        self.sequence = 0
        self.latest_id: str | None = None

    @classmethod
    def from_seed(cls, seed: bytes | int | str, hmac_key: bytes | None = None) -> Author:
        """Return the author of a seed of any kind and length: the same seed always gives the same key."""
        raw = seed if isinstance(seed, bytes) else str(seed).encode()
        return cls(hashlib.sha256(b"dbt_tangles author\0" + raw).digest(), hmac_key)

    def publish(
        self,
        content: dict[str, Any] | str,
        asserted_at: float,
        received_at: float | None = None,
        *,
        sequence: int | None = None,
        previous: str | None = _UNSET,
    ) -> Message:
        """Sign the feed's next message, or one on an explicit place.

        With `sequence` or `previous` given the message goes where they say (a fork, a gap, a bad link) and the feed's
        own state stays as it was.

        Args:
            content: An object with a `type`, or the string of an encrypted message.
            asserted_at: The author's timestamp, in milliseconds.
            received_at: The receive timestamp, in milliseconds; the author's own when it is not given.
            sequence: An explicit sequence.
            previous: An explicit id of the message before, or None for none.

        Returns:
            The message; :func:`to_line` makes a line of it.
        """
        on_feed = sequence is None and previous is _UNSET
        value = {
            "previous": self.latest_id if previous is _UNSET else previous,
            "sequence": self.sequence + 1 if sequence is None else sequence,
            "author": self.feed_id,
            "timestamp": asserted_at,
            "hash": "sha256",
            "content": content,
        }
        message = self.sign(value, asserted_at if received_at is None else received_at)
        if on_feed:
            self.sequence = value["sequence"]
            self.latest_id = message["key"]
        return message

    def sign(self, value: dict[str, Any], received_at: float) -> Message:
        """Sign a value as it stands (its members and their order included) and put it in its envelope.

        Args:
            value: The message's value without `signature`; the signature is added to it.
            received_at: The receive timestamp, in milliseconds.
        """
        text = plain_text(value) or canonical_text(value).encode()
        signed = text if self._hmac_key is None else hmac.digest(self._hmac_key, text, "sha512")[:32]
        # What crypto_sign returns starts with the signature's 64 bytes; the text follows.
        signature = b64encode(crypto_sign(signed, self._secret_key)[:64]) + b".sig.ed25519"
        value["signature"] = signature.decode()
        # The signature is the last member, so the text with it needs no second printing.
        hashed = b'%b,\n  "signature": "%b"\n}' % (text[:-2], signature)
        if not hashed.isascii():
            # Ids hash the low byte of each UTF-16 code unit, which for ASCII is the text's own bytes.
            hashed = hashed.decode().encode("utf-16-le")[::2]
        key = "%" + b64encode(hashlib.sha256(hashed).digest()).decode() + ".sha256"
        return {"key": key, "value": value, "timestamp": received_at}

    def fork(self, after: Message | None = None) -> Author:
        """Return a second writer with the same key, as a device restored from an old backup would be.

        Args:
            after: The message that the copy believes to be the latest; None for an empty feed.
        """
        copy = object.__new__(Author)
        copy._secret_key = self._secret_key
        copy._hmac_key = self._hmac_key
        copy.feed_id = self.feed_id
        copy.sequence = after["value"]["sequence"] if after else 0
        copy.latest_id = after["key"] if after else None
        return copy
