"""Publish really signed pzp messages.

Fixtures, tests and benchmarks need logs whose signatures and ids hold, so that they pass the same gate as a log that a
peer exported. A :class:`Device` is a key; an :class:`Account` is the tangle that says which keys are its own.

    phone = Device.from_name("phone")
    alice = Account(phone)
    moot = moot_of(alice.id, "set_v1__follows", phone)
    root = id_of(moot)
    entry = {root: {"depth": 1, "prev": [root]}}
    message = phone.write({"add": ["bob"], "del": [], "supersedes": []}, entry, alice.id, "set_v1__follows", alice.tips)
    line = to_line(message, id_of(message))

All of them write what they are told to: whether a message is valid is for the check to say, which is what lets tests
publish invalid ones.

Source: pzp-db 1.0.4, msg v4 and account tangles. An addition of a key carries no consent of that key here: nothing in
this project asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha512
from typing import Any

from nacl.bindings import crypto_sign, crypto_sign_seed_keypair

from dbt_tangles.pzp import base58
from dbt_tangles.pzp.canonical import canonical_bytes
from dbt_tangles.pzp.rules import SELF

Message = dict[str, Any]
"""A message as peers exchange it: `data`, `metadata`, `sigkey` and `sig`."""

ACCOUNT_DOMAIN = "account__account"
#: What the first key of an account may do.
ALL_POWERS = ("add", "del", "external-encryption", "internal-encryption")

_VERSION = 4
_SIGNED_TAG = b":msg-v4:"
_SEED_BYTES, _HASH_BYTES, _SIGNATURE_BYTES = 32, 32, 64


def base58_of(raw: bytes) -> str:
    """Write one byte string in base58."""
    return base58.encode_one(raw)


def hash_of(value: Any) -> str:
    """Return the hash of a value's canonical text."""
    return _hash(canonical_bytes(value))


def id_of(message: Message) -> str:
    """Return the id of a message."""
    return hash_of(message["metadata"])


def moot_of(account: str, domain: str, device: Device) -> Message:
    """Return the root of an account's feed in a domain: whichever device makes it, its id is the same."""
    return device.sign(_metadata(account, None, {}, domain), None)


def to_line(message: Message, message_id: str | None = None) -> bytes:
    """Return a line without its end: the message in an envelope with its id, or bare if none is given."""
    document = message if message_id is None else {"id": message_id, "msg": message}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


class Device:
    """One ed25519 key.

    Attributes:
        key: The public half as messages have it.
    """

    __slots__ = ("_secret_key", "key")

    def __init__(self, seed: bytes):
        """Derive the key from 32 bytes."""
        public_key, self._secret_key = crypto_sign_seed_keypair(seed)
        self.key = base58_of(public_key)

    @classmethod
    def from_name(cls, name: str) -> Device:
        """Return the device of a name: the same name always gives the same key."""
        return cls(sha512(name.encode()).digest()[:_SEED_BYTES])

    def write(
        self,
        data: Any,
        tangles: dict[str, Any],
        account: str,
        domain: str,
        account_tips: Sequence[str] | None = None,
        **metadata: Any,
    ) -> Message:
        """Sign a message.

        Args:
            data: What it says, whatever that is; None for nothing.
            tangles: By root, `depth` and `prev` (which messages have in the order of code units).
            account: The writer's account.
            domain: The domain of the feed.
            account_tips: The messages of the account that the writer knew last; None for none.
            metadata: Fields of the metadata that are to be otherwise, a wrong `dataSize` for instance.
        """
        tips = None if account_tips is None else list(account_tips)
        fields = _metadata(account, tips, tangles, domain)
        if data is not None:
            text = canonical_bytes(data)
            fields |= {"dataHash": _hash(text), "dataSize": len(text)}
        return self.sign(fields | metadata, data)

    def sign(self, metadata: dict[str, Any], data: Any) -> Message:
        """Sign metadata as they stand; the data are put beside them unseen."""
        # What crypto_sign returns starts with the signature; the text follows.
        signed = crypto_sign(_SIGNED_TAG + canonical_bytes(metadata), self._secret_key)
        signature = base58_of(signed[:_SIGNATURE_BYTES])
        return {"data": data, "metadata": metadata, "sigkey": self.key, "sig": signature}


class Account:
    """An account, which is a tangle: its root brings a first key, and a chain of messages adds keys and deletes keys.

    Attributes:
        id: The id of its root, which is the account's name in the messages of feeds.
        messages: All of its messages, by id, the root first.
    """

    __slots__ = ("_first", "id", "messages")

    def __init__(self, device: Device, nonce: str = ""):
        """Start an account.

        Args:
            device: The first key, which may do everything.
            nonce: Makes a key's account another one.
        """
        data = {
            "action": "add",
            "key": _key(device, "shs-and-sig"),
            "nonce": nonce,
            "powers": list(ALL_POWERS),
        }
        root = device.write(data, {}, SELF, ACCOUNT_DOMAIN)
        self._first = device
        self.id = id_of(root)
        self.messages = {self.id: root}

    @property
    def tips(self) -> list[str]:
        """What a message says that was written now by one who knows all of the account."""
        return [next(reversed(self.messages))]

    def add(self, device: Device, powers: Sequence[str] = (), by: Device | None = None) -> str:
        """Add a key that signs; `by` whom is the first device if it is not said. Return the message's id."""
        return self._change({"action": "add", "key": _key(device, "sig"), "powers": list(powers)}, by)

    def delete(self, device: Device, by: Device | None = None) -> str:
        """Delete a key; `by` whom is the first device if it is not said. Return the message's id."""
        return self._change({"action": "del", "key": _key(device, "sig")}, by)

    def _change(self, data: dict[str, Any], by: Device | None) -> str:
        entry = {self.id: {"depth": len(self.messages), "prev": self.tips}}
        message = (by or self._first).write(data, entry, SELF, ACCOUNT_DOMAIN)
        message_id = id_of(message)
        self.messages[message_id] = message
        return message_id


def _hash(text: bytes) -> str:
    return base58_of(sha512(text).digest()[:_HASH_BYTES])


def _key(device: Device, purpose: str) -> dict[str, str]:
    return {"purpose": purpose, "algorithm": "ed25519", "bytes": device.key}


def _metadata(account: str, tips: list[str] | None, tangles: dict[str, Any], domain: str) -> dict[str, Any]:
    """Return the metadata of a message without data."""
    return {
        "dataHash": None,
        "dataSize": 0,
        "account": account,
        "accountTips": tips,
        "tangles": tangles,
        "domain": domain,
        "v": _VERSION,
    }
