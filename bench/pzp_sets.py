"""Made-up pzp sets of writers who follow the rules; the same seed gives the same sets.

A set grows in rounds. At the beginning of a round every device of the account knows everything. Some devices then write
a few messages each, without hearing of the others. The first messages of the next round merge these branches.

A message adds one item or deletes one. Like the peer's messages, it lists the tips that its writer knows and all
messages at one lower depth (a lipmaa link). It supersedes the item roots of its own item and of all deleted items: the
messages about the item that no other known message about it follows. A device does not list messages again that its
earlier addition superseded.

Half of the touched items were touched recently, so devices disagree about an item now and then.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.set import INPUT_SCHEMA
from dbt_tangles.formats.pzp import base58

DOMAIN = "set_v1__follows"
DEVICES = 4
WRITES = 0.5  # of the devices write in a round
GOES_ON = 0.67  # of the writers add another message in the round
DELETES = 0.4
ADDS_AGAIN = 0.3  # of the additions repeat a deleted item
LATELY = 16

#: The columns of `int_set_entries`, in its order.
COLUMNS = (
    *("set_id", "message_id", "account", "domain", "is_moot", "depth", "prev", "defect", "reject_reason"),
    *("is_key_authorised", "awaited_ids", "has_data", "is_set_shape", "add", "del", "supersedes", "has_root"),
)
ENTRIES = pa.schema([INPUT_SCHEMA.field(name) for name in COLUMNS])


class Draft(NamedTuple):
    """A message of a set before it has an id."""

    device: int  # The writing device
    depth: int  # Its depth
    prev: list[str]  # Ids, in the order of code units
    add: list[str]  # Items
    deleted: list[str]  # Items
    supersedes: list[str]  # Ids


def collation_key(message_id: str) -> tuple[str, str]:
    """Sort key in the order of reductions."""
    return message_id.lower(), message_id.swapcase()


@cache
def lipmaa(number: int) -> int:
    """Return the target of a number's lipmaa link, both counted from 1.

    Source: bamboo, whose links pzp-db 1.0.4 takes over.
    """
    size, power, rest = 1, 3, number
    while size < number:
        power *= 3
        size = (power - 1) // 2
    power //= 3
    if size != number:
        while rest:
            size = (power - 1) // 2
            power //= 3
            rest %= size
        if size != power:
            power = size
    return number - power


class _Bag:
    """A collection of items to draw from."""

    def __init__(self) -> None:
        self._items: list[str] = []
        self._place: dict[str, int] = {}

    def __contains__(self, item: str) -> bool:
        return item in self._place

    def put(self, item: str) -> None:
        if item not in self._place:
            self._place[item] = len(self._items)
            self._items.append(item)

    def drop(self, item: str) -> None:
        place = self._place.pop(item, None)
        if place is not None:
            last = self._items.pop()
            if last != item:
                self._items[place] = last
                self._place[last] = place

    def draw(self, rng: random.Random) -> str | None:
        count = len(self._items)
        if not count:
            return None
        return self._items[count - 1 - int(rng.random() * (min(count, LATELY) if rng.random() < 0.5 else count))]


class _Writer:
    """A device within a round.

    Attributes:
        open: By item, the roots of deletions that the device has not superseded yet.
    """

    def __init__(self, device: int, known: _Set) -> None:
        self.device, self._known = device, known
        self.open: dict[str, list[str]] = {}
        self.begin()

    def begin(self) -> None:
        """Begin a round."""
        self.last: dict[str, str] = {}  # by item, its last message about it
        self.is_present: dict[str, bool] = {}  # the items it changed
        self.own: list[str] = []

    def draft(self, rng: random.Random, items: Iterator[str]) -> Draft:
        """Draft a message."""
        known = self._known
        depth = known.depth + len(self.own) + 1
        level = lipmaa(depth + 1) - 1
        if level <= known.depth:
            prev = {*known.at_depth[level], *(self.own[-1:] or known.tips)}
        else:
            prev = {self.own[-1], self.own[level - known.depth - 1]}
        item, deletes = self._pick(rng, items)
        supersedes = list(known.roots.get(item, ()))
        for absent, roots in self.open.items():
            if absent != item:
                supersedes += roots
        add, deleted = ([], [item]) if deletes else ([item], [])
        return Draft(self.device, depth, sorted(prev), add, deleted, supersedes)

    def _pick(self, rng: random.Random, items: Iterator[str]) -> tuple[str, bool]:
        """Draw an item that the writer has not touched in this round, and whether to delete it."""
        deletes = rng.random() < DELETES
        if deletes or rng.random() < ADDS_AGAIN:
            item = (self._known.present if deletes else self._known.absent).draw(rng)
            if item is not None and item not in self.is_present:
                return item, deletes
        return next(items), False

    def wrote(self, draft: Draft, message_id: str) -> None:
        """Record a message that the device wrote."""
        self.own.append(message_id)
        for item in draft.add:
            self.open.clear()
            self.last[item], self.is_present[item] = message_id, True
        for item in draft.deleted:
            self.open[item] = [message_id]
            self.last[item], self.is_present[item] = message_id, False


class _Set:
    """The common knowledge of all devices at the beginning of a round.

    Attributes:
        depth: The greatest depth.
        tips: The messages that no message lists.
        at_depth: The messages of each depth.
        roots: By item, the messages about it that no other message about it follows.
        present: The items.
        absent: Items that were present once.
    """

    def __init__(self, root: str) -> None:
        self.depth = 0
        self.tips = [root]
        self.at_depth = [[root]]
        self.roots: dict[str, list[str]] = {}
        self.present, self.absent = _Bag(), _Bag()

    def merge(self, writers: list[_Writer], others: list[_Writer], written: list[tuple[Draft, str]]) -> None:
        """Tell all devices the messages of a round."""
        self.tips = [writer.own[-1] for writer in writers]
        self.depth += max(len(writer.own) for writer in writers)
        self.at_depth.extend([] for _ in range(self.depth + 1 - len(self.at_depth)))
        for draft, message_id in written:
            self.at_depth[draft.depth].append(message_id)
        if len(writers) > 1:
            written = sorted(written, key=lambda each: (each[0].depth, collation_key(each[1])))
        touched = {}
        for draft, _ in written:
            for items, is_present in ((draft.add, True), (draft.deleted, False)):
                touched.update(dict.fromkeys(items, is_present))
        for item, is_present in touched.items():
            lasts = [(writer, writer.last[item]) for writer in writers if item in writer.last]
            self.roots[item] = [message_id for _, message_id in lasts]
            gone, come = (self.absent, self.present) if is_present else (self.present, self.absent)
            gone.drop(item)
            come.put(item)
            for device in (*writers, *others):
                heard = [message_id for writer, message_id in lasts if writer is not device]
                own = device.open.pop(item, []) if device.is_present.get(item) is False else []
                device.open.pop(item, None)
                if not is_present and own + heard:
                    device.open[item] = own + heard


def grow(
    count: int,
    root: str,
    name: Callable[[Draft], str],
    items: Iterator[str],
    rng: random.Random,
) -> Iterator[tuple[Draft, str]]:
    """Write the messages of a set.

    Args:
        count: The number of messages without the root.
        root: The id of the root.
        name: Returns the id of a message.
        items: New items.
        rng: The random generator.

    Yields:
        Messages and their ids, each after the messages that it lists.
    """
    known = _Set(root)
    everybody = [_Writer(device, known) for device in range(DEVICES)]
    while count:
        writers = [each for each in everybody if rng.random() < WRITES] or [rng.choice(everybody)]
        others = [each for each in everybody if each not in writers]
        written = []
        for writer in writers:
            while count:
                draft = writer.draft(rng, items)
                message_id = name(draft)
                writer.wrote(draft, message_id)
                written.append((draft, message_id))
                yield draft, message_id
                count -= 1
                if rng.random() >= GOES_ON:
                    break
        writers = [writer for writer in writers if writer.own]
        known.merge(writers, others, written)
        for writer in writers:
            writer.begin()


def names(count: int, seed: int) -> list[str]:
    """Draw names in the form of ids: 32 random bytes in base58."""
    raw = np.random.default_rng([seed, count]).bytes(32 * count)
    return base58.encode([raw[at : at + 32] for at in range(0, len(raw), 32)]).to_pylist()


def table(sets: int, messages: int, seed: int = 1) -> pa.Table:
    """Make rows of `int_set_entries`.

    Args:
        sets: The number of sets.
        messages: The number of messages in each, the root included.
        seed: The seed of the random generator.

    Returns:
        The rows, by set, each message after the messages that it lists.
    """
    rng = random.Random(seed)
    ids = iter(names(sets * messages, seed))
    accounts = names(max(sets // 10, 1), seed + 1)
    items = cycle(names(max(messages, 10_000), seed + 2))
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    put = [columns[name].append for name in COLUMNS]

    def add(*row: Any) -> None:
        for each, value in zip(put, row, strict=True):
            each(value)

    for number in range(sets):
        root, account = next(ids), accounts[number % len(accounts)]
        add(root, root, account, DOMAIN, True, None, None, None, None, None, None, False, False, None, None, [], True)
        for draft, message_id in grow(messages - 1, root, lambda _: next(ids), items, rng):
            add(
                *(root, message_id, account, DOMAIN, False, draft.depth, draft.prev, None, None),
                *(True, None, True, True, draft.add, draft.deleted, draft.supersedes, True),
            )
    return pa.table(columns, schema=ENTRIES)
