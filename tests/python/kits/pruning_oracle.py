"""Pruning of one set by trial: every way to prune, and every next message of a writer that keeps the rules.

A set is a list of messages in reduction order, the root first, that name each other by place: `depth`, `prev`, `add`,
`del`. The code is slow and independent of the kernels.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from faults_oracle import NaiveFaults, backlink_depth

KEEP, ERASE, DELETE = "keep", "erase", "delete"
FRESH = "an item of nobody"


class Next(NamedTuple):
    """A next message, which sorts behind `place` messages of the set and adds or deletes one item."""

    place: int
    prev: set[int]
    item: str
    adds: bool


class SmallSet:
    """A set of a few messages."""

    def __init__(self, messages: list[dict]):
        self.messages, self.known = messages, NaiveFaults(messages).known

    def items(self, actions: list[str], more: Next | None = None) -> frozenset[str]:
        """Return the items after pruning and the arrival of a message, refused if its previous ones are unknown."""
        found: set[str] = set()
        is_taken = more is not None and any(actions[p] != DELETE for p in more.prev)
        for x in range(len(self.messages) + 1):
            if is_taken and more.place == x:
                found = found | {more.item} if more.adds else found - {more.item}
            if x < len(self.messages) and actions[x] == KEEP:
                found = (found | set(self.messages[x]["add"])) - set(self.messages[x]["del"])
        return frozenset(found)

    def next_messages(self) -> Iterator[Next]:
        """Yield every message with one item by a writer that knows part of the set, with all ancestors of that part.

        Its `supersedes` does not affect any item. Among equal depths, its id may sort anywhere.
        """
        count = len(self.messages)
        depths = [message["depth"] for message in self.messages]
        names = {item for message in self.messages for item in message["add"] + message["del"]} | {FRESH}
        for chosen in product((False, True), repeat=count - 1):
            part = {0} | {x for x, is_in in enumerate(chosen, 1) if is_in}
            if any(not self.known[x] <= part for x in part):
                continue
            depth = max(depths[x] for x in part) + 1
            tips = {x for x in part if not any(x in self.messages[y]["prev"] for y in part)}
            prev = tips | {x for x in part if depths[x] == backlink_depth(depth)}
            first, last = sum(d < depth for d in depths), sum(d <= depth for d in depths)
            for place, item, adds in product(range(first, last + 1), sorted(names), (True, False)):
                yield Next(place, prev, item, adds)

    def is_safe(self, actions: list[str]) -> bool:
        """Return whether every item stays the same, now and after any next message, and a new peer accepts the rest."""
        whole = [KEEP] * len(self.messages)
        left = [message for message, action in zip(self.messages, actions, strict=True) if action != DELETE]
        return (
            self.items(actions) == self.items(whole)
            and all(not message["prev"] or any(actions[p] != DELETE for p in message["prev"]) for message in left)
            and all(self.items(actions, more) == self.items(whole, more) for more in self.next_messages())
        )

    def ways(self) -> Iterator[list[str]]:
        """Yield every way to prune; the root stays."""
        for rest in product((KEEP, ERASE, DELETE), repeat=len(self.messages) - 1):
            yield [KEEP, *rest]
