"""Publish examples of SSB logs, really signed: feeds, and private groups upon them."""

from __future__ import annotations

import hashlib
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field

from dbt_tangles.ssb.author import Author, Message, to_line, to_uri

MIDNIGHT = 1_679_529_600_000  # 2023-03-23, in milliseconds; times below are seconds after it

NO_LINKS = {"root": None, "previous": None}

Twist = Callable[["Group", dict], None]
"""Changes a content of a group before it is signed."""

Shape = Callable[[Message, dict], Message]
"""How an exporter shows a signed message that it could decrypt, and that content."""


@dataclass
class Published:
    """A message of an example: its letter, its line and when it was received."""

    letter: str
    key: str
    line: bytes
    received: float
    in_log: bool


@dataclass
class Stage:
    """Where one example is published: its authors and messages, by name, and the fingerprints of its epochs' keys."""

    example: str
    salt: int
    authors: dict[str, Author] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)
    messages: dict[str, Published] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)

    def publish(
        self,
        letter: str,
        by: str,
        content: dict,
        asserted: float,
        received: float | None = None,
        in_log: bool = True,
        shape: Shape | None = None,
    ) -> str:
        """Publish a message under a letter and return its id.

        Args:
            letter: The message's name, unique in the example.
            by: The name of the author.
            content: The message's content.
            asserted: The author's time, in seconds after midnight.
            received: The time of receipt, two seconds later when it is not given.
            in_log: False for a message that was published but never reached the exported log.
            shape: Given for a message that is published encrypted: how the exporter shows it.
        """
        if letter in self.messages:
            raise ValueError(f"{self.example}: the letter {letter} is taken")
        author = self.authors.setdefault(by, Author.from_seed(f"{self.example}/{by}/{self.salt}"))
        received = asserted + 2 if received is None else received
        signed = content if shape is None else self._box2(letter)
        # Real peers write both whole and fractional milliseconds.
        message = author.publish(signed, MIDNIGHT + round(asserted * 1000), MIDNIGHT + received * 1000 + 0.25)
        shown = message if shape is None else shape(message, content)
        self.messages[letter] = Published(letter, message["key"], to_line(shown), received, in_log)
        return message["key"]

    def root_feed(self, name: str) -> str:
        """Return the made-up feed that stands for a person: groups name people by root feeds, which are not classic."""
        uri = "ssb:feed/bendybutt-v1/" + urlsafe_b64encode(_bytes(self.example, "feed", name)).decode()
        self.others[name] = uri
        return uri

    def _box2(self, letter: str) -> str:
        """Return what an encrypted content looks like; nothing is encrypted."""
        noise = b"".join(_bytes(self.example, "box2", letter, str(block)) for block in range(12))
        return b64encode(noise).decode() + ".box2"


def _bytes(*what: str) -> bytes:
    return hashlib.sha256("/".join(what).encode()).digest()


def closed(message: Message, content: dict) -> Message:
    """Show a message that the exporter could not decrypt."""
    return message


def opened_by_db2(message: Message, content: dict) -> Message:
    """Show a decrypted message as ssb-db2 does."""
    meta = {"private": True, "originalContent": message["value"]["content"], "encryptionFormat": "box2"}
    return {**message, "value": message["value"] | {"content": content}, "meta": meta}


def opened_by_db(message: Message, content: dict) -> Message:
    """Show a decrypted message as ssb-db does."""
    meta = {"private": True, "original": {"content": message["value"]["content"]}}
    return {**message, "value": message["value"] | {"content": content, "meta": meta}}


class Group:
    """Publishes the messages of a private group, as an exporter gives them back once they are decrypted.

    A method takes a `twist` to change the content by before it is signed, and `Stage.publish` what is left over.
    """

    def __init__(self, stage: Stage, keys: dict[str, list[str]] | None = None):
        """Start a group.

        Args:
            stage: Where to publish.
            keys: Of epochs whose secret matters: the first byte in hexadecimal, which decides which of two is less, and
                the name of what follows it; the epoch's own when it is not given.
        """
        self.stage = stage
        self.group_id = "ssb:identity/group/" + urlsafe_b64encode(_bytes(stage.example, "group")).decode()
        self._keys = keys or {}
        self._root_of: dict[str, str] = {}

    def sigil(self, letter: str) -> str:
        """Return a message's id as classic messages link to it."""
        return self.stage.messages[letter].key

    def uri(self, letter: str) -> str:
        """Return a message's id as peers demand it in the messages that make up a group."""
        return to_uri(self.sigil(letter))

    def entry(self, root: str, previous: str) -> dict:
        """Return what a message says about a tangle; `previous` holds letters."""
        return {"root": self.uri(root), "previous": [self.uri(p) for p in previous.split()]}

    def secret(self, epoch: str) -> str:
        """Return an epoch's key."""
        raw = _bytes(self.stage.example, "secret", epoch)
        if epoch in self._keys:
            first, name = (*self._keys[epoch], epoch)[:2]
            raw = bytes.fromhex(first) + _bytes(self.stage.example, "secret", name, str(self.stage.salt))[1:]
        self.stage.fingerprints[epoch] = hashlib.sha256(raw).hexdigest()
        return b64encode(raw).decode()

    def init(self, letter: str, by: str, at: float, **more) -> None:
        """Start the group: the root of its group and epoch tangles and of its first members tangle."""
        tangles = {"group": NO_LINKS, "epoch": NO_LINKS, "members": NO_LINKS}
        content = {"type": "group/init", "version": "v2", "secret": self.secret(letter), "tangles": tangles}
        self._publish(letter, letter, by, content, at, **more)

    def next_epoch(self, letter: str, by: str, at: float, *, group: str, epoch: str, creator: str, **more) -> None:
        """Start an epoch: a member of the group and epoch tangles, and the root of a members tangle of its own."""
        root = self._root_of[epoch.split()[0]]
        content = {
            "type": "group/init",
            "version": "v2",
            "secret": self.secret(letter),
            "recps": [self.group_id, self.stage.root_feed(creator)],
            "tangles": {"group": self.entry(root, group), "epoch": self.entry(root, epoch), "members": NO_LINKS},
        }
        self._publish(letter, root, by, content, at, **more)

    def add(self, letter: str, by: str, at: float, *, who: str, epoch: str, group: str, members: str, **more) -> None:
        """Add people to an epoch."""
        root = self._root_of[epoch]
        content = {
            "type": "group/add-member",
            "version": "v2",
            "secret": self.secret(epoch),
            "root": self.uri(root),
            "creator": self.stage.root_feed("Alice"),
            "recps": [self.group_id, *(self.stage.root_feed(name) for name in who.split())],
            "tangles": {"group": self.entry(root, group), "members": self.entry(epoch, members)},
        }
        self._publish(letter, root, by, content, at, **more)

    def exclude(
        self, letter: str, by: str, at: float, *, who: str, epoch: str, group: str, members: str, **more
    ) -> None:
        """Exclude people from an epoch."""
        root = self._root_of[epoch]
        content = {
            "type": "group/exclude-member",
            "excludes": [self.stage.root_feed(name) for name in who.split()],
            "recps": [self.group_id],
            "tangles": {"group": self.entry(root, group), "members": self.entry(epoch, members)},
        }
        self._publish(letter, root, by, content, at, **more)

    def post(self, letter: str, by: str, at: float, *, twist: Twist | None = None, **entries: str) -> None:
        """Publish a post to the group; `entries` are the letters that it lists, by tangle."""
        root = self._root_of[next(iter(entries.values())).split()[0]]
        tangles = {name: self.entry(root, previous) for name, previous in entries.items()}
        content = {"type": "post", "text": f"{letter}, to the group", "recps": [self.group_id], "tangles": tangles}
        self._publish(letter, root, by, content, at, twist=twist)

    def _publish(
        self, letter: str, root: str, by: str, content: dict, at: float, *, twist: Twist | None = None, **more
    ) -> None:
        if twist is not None:
            twist(self, content)
        self._root_of[letter] = root
        self.stage.publish(letter, by, content, at, **more)
