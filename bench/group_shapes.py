"""Made-up private groups, as the two models of groups read them; the same seed gives the same groups.

A group is written as peers write it. Its first epoch adds people. Then, repeatedly, a member excludes another, and a
new epoch follows, to which the remaining people are added again, one to three by a message. Each epoch has about as
many adds as the previous one, so some people are left out, or others join, who may have been excluded before. In a
fork, two epochs follow the same one, each after its own excludes; a merge follows both, and keeps the people that both
have.
In the group tangle, a message follows all heads that its writer knows; some writers do not know the last message yet.
"""

from __future__ import annotations

import random
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.private_group.foreign_excludes import FOREIGN_INPUT_SCHEMA as LINKS
from dbt_tangles.formats.ssb.group_claims import ADD, EPOCH_INIT, EXCLUDE, ROOT_INIT, GroupClaim
from dbt_tangles.formats.ssb.ids import sigil
from dbt_tangles.formats.ssb.redact import fingerprint
from dbt_tangles.kernel_runtime.row_schema import arrow_type

FORKS = 0.1  # of the epochs after the second, if there is one tip
MERGES = 0.5  # of the epochs, if there are two tips
LATE = 0.2  # of the adds are written without knowing the last message
NAMED = 3  # the most people that an add names
AGAIN = 0.05  # of the named people are already in the epoch
UNCONNECTED = 1 / 220  # of the adds: one in ten groups of 22
KEY_BYTES = 32

_STRINGS = pa.list_(pa.string())
#: The columns of `int_group_messages`, in its order.
MESSAGES = pa.schema(
    [
        ("message_id", pa.string()),
        ("author", pa.string()),
        ("sequence", pa.int32()),
        ("kind", pa.string()),
        ("invalid_reason", pa.string()),
        ("group_id", pa.string()),
        ("epoch_id", pa.string()),
        ("connected_root", pa.string()),
        ("is_connected", pa.bool_()),
        ("group_uri", pa.string()),
        ("group_root", pa.string()),
        ("previous_epochs", _STRINGS),
        ("key_fingerprint", pa.string()),
        ("feeds", _STRINGS),
        ("author_root", pa.string()),
        ("unchecked_count", pa.int32()),
        ("sealed_with", pa.string()),
    ]
)
GROUP_CLAIM_TYPE = arrow_type(GroupClaim)
#: The columns of `stg_ssb__lines` that the models read.
LINES = pa.schema([("message_id", pa.string()), ("group_claim", GROUP_CLAIM_TYPE), ("epoch_key", pa.binary())])
CHUNK = 100_000  # the number of messages made at a time


class Shape(NamedTuple):
    """The shape of groups.

    Attributes:
        groups: The number of groups.
        epochs: The epochs of each.
        adds: The adds of each.
        excludes: The excludes before each epoch but the first; after the last epoch there is one more.
        circle: The number of people that each group draws on.
        people: The number of people in all.
    """

    groups: int
    epochs: int
    adds: int
    excludes: int
    circle: int
    people: int

    def messages(self) -> int:
        """Count the messages of each group."""
        return self.epochs + self.adds + self.excludes * (self.epochs - 1) + 1


class Tables(NamedTuple):
    """The input of the models, with one row per message in each table: see `MESSAGES`, `LINES` and `LINKS`."""

    messages: pa.Table
    lines: pa.Table
    links: pa.Table


class _Node(NamedTuple):
    """A message in the group tangle: its id and its depth there."""

    id: str
    depth: int


class Draft(NamedTuple):
    """A message.

    Attributes:
        node: Its id and depth.
        previous: The messages that it lists in the group tangle; None for the root.
        kind: `root_init`, `epoch_init`, `add` or `exclude`.
        epoch_id: The epoch that it starts or refers to.
        previous_epochs: The epochs that an init follows.
        key: The secret of the epoch that an init starts.
        key_fingerprint: The fingerprint of that secret, or of the secret that an add hands out.
        feeds: The people who are added or excluded.
        is_connected: Whether it is connected to the root of the tangle that it extends.
    """

    node: _Node
    previous: list[str] | None
    kind: str
    epoch_id: str
    previous_epochs: list[str] | None = None
    key: bytes | None = None
    key_fingerprint: str | None = None
    feeds: tuple[str, ...] = ()
    is_connected: bool = True


class _Epoch:
    """An epoch while it is written.

    Attributes:
        node: Its init.
        parents: The epochs that it follows.
        key: Its secret.
        key_fingerprint: The fingerprint of the secret.
        members: The people who are added, in this order.
        heads: The heads of its part of the group tangle.
        known: The heads before the last message that all writers know.
    """

    def __init__(self, node: _Node, parents: list[_Epoch], key: bytes) -> None:
        self.node, self.parents, self.key = node, parents, key
        self.key_fingerprint = fingerprint(b64encode(key).decode())
        self.members: dict[str, None] = {}
        self.heads = self.known = [node]

    def init(self, after: list[_Node]) -> Draft:
        """Draft the message that starts it, on some heads."""
        kind = EPOCH_INIT if self.parents else ROOT_INIT
        followed = [parent.node.id for parent in self.parents] or None
        previous = [head.id for head in after] or None
        return Draft(self.node, previous, kind, self.node.id, followed, self.key, self.key_fingerprint)

    def add(self, message_id: str, feeds: tuple[str, ...], rng: random.Random) -> Draft:
        """Draft a message that adds people, on the heads that its writer knows."""
        is_late = self.known is not self.heads and rng.random() < LATE
        after = self.known if is_late else self.heads
        node = _on(after, message_id)
        if is_late:
            self.heads = [*self.heads, node]
        else:
            self.known, self.heads = self.heads, [node]
        is_connected = rng.random() >= UNCONNECTED
        previous = [head.id for head in after]
        return Draft(
            node,
            previous,
            ADD,
            self.node.id,
            key_fingerprint=self.key_fingerprint,
            feeds=feeds,
            is_connected=is_connected,
        )


def _on(heads: list[_Node], message_id: str) -> _Node:
    return _Node(message_id, max((head.depth for head in heads), default=-1) + 1)


class _Writers:
    """The writers of one group."""

    def __init__(self, shape: Shape, people: list[str], ids: Iterator[str], rng: random.Random) -> None:
        self.shape, self.ids, self.rng = shape, ids, rng
        self.circle = rng.sample(people, shape.circle)

    def write(self) -> Iterator[Draft]:
        """Draft all messages, each after the messages that it follows."""
        shape, rng = self.shape, self.rng
        each, more = divmod(shape.adds, shape.epochs)
        root = _Epoch(_Node(next(self.ids), 0), [], rng.randbytes(KEY_BYTES))
        yield root.init([])
        yield from self.adds(root, [], each + (more > 0))
        tips = [root]
        for number in range(1, shape.epochs):
            parents = self.parents(tips)
            base, others = parents[0], parents[1:]
            excluded: set[str] = set()
            heads = base.heads
            for _ in range(shape.excludes):
                draft = self.exclude(base, heads)
                yield draft
                excluded.update(draft.feeds)
                heads = [draft.node]
            heads = heads + [head for other in others for head in other.heads]
            epoch = _Epoch(_on(heads, next(self.ids)), parents, rng.randbytes(KEY_BYTES))
            yield epoch.init(heads)
            left = [
                feed for feed in base.members if feed not in excluded and all(feed in other.members for other in others)
            ]
            yield from self.adds(epoch, left, each + (number < more))
            tips = [*(tip for tip in tips if tip not in parents), epoch]
        yield self.exclude(tips[0], tips[0].heads)

    def parents(self, tips: list[_Epoch]) -> list[_Epoch]:
        """Choose the parents of the next epoch; there are at most two tips."""
        if len(tips) > 1:
            return tips if self.rng.random() < MERGES else tips[:1]
        if tips[0].parents and self.rng.random() < FORKS:
            return tips[0].parents
        return tips

    def adds(self, epoch: _Epoch, left: list[str], count: int) -> Iterator[Draft]:
        """Draft `count` adds, first of the people who remain from the previous epoch."""
        rng, members = self.rng, epoch.members
        rng.shuffle(left)
        for _ in range(count):
            feeds = {}
            for _ in range(rng.randint(1, NAMED)):
                if members and (len(members) == len(self.circle) or rng.random() < AGAIN):
                    feed = rng.choice([*members])
                elif left:
                    feed = left.pop()
                else:
                    feed = rng.choice(self.circle)
                    while feed in members:
                        feed = rng.choice(self.circle)
                members[feed] = feeds[feed] = None
            yield epoch.add(next(self.ids), tuple(feeds), rng)

    def exclude(self, epoch: _Epoch, heads: list[_Node]) -> Draft:
        """Draft a message that excludes a member."""
        feed = self.rng.choice([*epoch.members])
        node = _on(heads, next(self.ids))
        return Draft(node, [head.id for head in heads], EXCLUDE, epoch.node.id, feeds=(feed,))


def message_ids(rng: random.Random) -> Iterator[str]:
    """Draw an endless sequence of message ids."""
    while True:
        yield sigil(rng.randbytes(32))


def uri(kind: str, rng: random.Random) -> str:
    """Draw the URI of an object that is named by 32 bytes."""
    return f"ssb:{kind}/{urlsafe_b64encode(rng.randbytes(32)).decode()}"


def groups(shape: Shape, seed: int = 1) -> Iterator[list[Draft]]:
    """Write groups.

    Args:
        shape: The shape of the groups.
        seed: The seed of the random generator.

    Yields:
        The messages of each group, each after the messages that it follows, the root first.
    """
    rng = random.Random(seed)
    ids = message_ids(rng)
    people = [uri("feed/bendybutt-v1", rng) for _ in range(shape.people)]
    for _ in range(shape.groups):
        yield [*_Writers(shape, people, ids, rng).write()]


def tables(shape: Shape, seed: int = 1) -> Tables:
    """Write groups, and make the rows that the models read, by group, each message after the messages that it follows.

    Args:
        shape: The shape of the groups.
        seed: The seed of the random generator.
    """
    rng = random.Random(seed + 1)
    made: list[Tables] = []
    drafts: list[list[Draft]] = []
    at_a_time = max(CHUNK // shape.messages(), 1)
    for number, group in enumerate(groups(shape, seed), 1):
        drafts.append(group)
        if len(drafts) == at_a_time or number == shape.groups:
            made.append(_tables(drafts, rng))
            drafts = []
    return Tables(*(pa.concat_tables(parts) for parts in zip(*made, strict=True)))


def _tables(drafts: list[list[Draft]], rng: random.Random) -> Tables:
    messages: list[tuple] = []
    links: list[tuple] = []
    keys: list[bytes | None] = []
    for group in drafts:
        group_id, group_uri = group[0].node.id, uri("identity/group", rng)
        for sequence, draft in enumerate(group, 1):
            is_init = draft.key is not None
            is_root = draft.kind == ROOT_INIT
            of_epochs = group_id if is_init else draft.epoch_id
            messages.append(
                (
                    draft.node.id,
                    group[1].feeds[0],
                    sequence,
                    draft.kind,
                    None,
                    group_id,
                    draft.epoch_id,
                    of_epochs if draft.is_connected else None,
                    draft.is_connected,
                    None if is_root else group_uri,
                    group_id,
                    draft.previous_epochs,
                    draft.key_fingerprint,
                    draft.feeds,
                    group[1].feeds[0] if draft.kind == EPOCH_INIT else None,
                    0,
                    None,
                )
            )
            epochs = (draft.previous_epochs or []) if is_init else None
            excluded_epoch = draft.epoch_id if draft.kind == EXCLUDE else None
            links.append(
                (group_id, draft.node.id, draft.previous, True, draft.node.depth, epochs, excluded_epoch),
            )
            keys.append(draft.key)
    said = _table(messages, MESSAGES)
    return Tables(said, _lines(said, pa.array(keys, pa.binary())), _table(links, LINKS))


def _table(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema)


def _lines(messages: pa.Table, keys: pa.Array) -> pa.Table:
    """Make the lines that the messages were read from, with the columns that the models read."""
    said = {name: messages[name].combine_chunks() for name in messages.schema.names}
    nothing = pa.nulls(len(messages), pa.string())
    said["epoch_root"] = pc.if_else(pc.equal(said["kind"], EPOCH_INIT), said["group_id"], nothing)
    said["epoch_id"] = pc.if_else(keys.is_valid(), nothing, said["epoch_id"])
    fields = [said[field.name].cast(field.type) for field in GROUP_CLAIM_TYPE]
    claim = pa.StructArray.from_arrays(fields, fields=[*GROUP_CLAIM_TYPE])
    return pa.table([said["message_id"], claim, keys], LINES)
