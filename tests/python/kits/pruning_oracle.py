"""What may go of one set, by trying it: every way to prune, and every next message by who keeps the rules.

A set is a list of messages in reduction order, the root first, that name each other by their places: `depth`, `prev`,
`add`, `del`. All of it is plain and slow, and none of it is shared with the kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from faults_oracle import backlink_depth

KEEP, ERASE, DELETE = "keep", "erase", "delete"
FRESH = "an item of nobody"


class Next:
    """A next message.

    Attributes:
        place: Behind how many messages of the set it sorts.
        prev: What it lists.
        item: The one item that it touches.
        adds: Whether it adds it.
    """

    __slots__ = ("adds", "item", "place", "prev")

    def __init__(self, place: int, prev: set[int], item: str, adds: bool):
        """Take them over."""
        self.place, self.prev, self.item, self.adds = place, prev, item, adds


class SmallSet:
    """A set of a few messages."""

    def __init__(self, messages: list[dict]):
        """Find what each message knows."""
        self.messages = messages
        self.known: list[set[int]] = []
        for message in messages:
            self.known.append({y for p in message["prev"] for y in {p} | self.known[p]})

    def items(self, actions: list[str], more: Next | None = None) -> frozenset[str]:
        """What is in the set when messages have gone, and one came, or was refused as nothing it lists is there."""
        found: set[str] = set()
        is_taken = more is not None and any(actions[p] != DELETE for p in more.prev)
        for x in range(len(self.messages) + 1):
            if is_taken and more.place == x:
                found = found | {more.item} if more.adds else found - {more.item}
            if x < len(self.messages) and actions[x] == KEEP:
                found = (found | set(self.messages[x]["add"])) - set(self.messages[x]["del"])
        return frozenset(found)

    def next_messages(self) -> Iterator[Next]:
        """Every message with one item by a writer who knows part of the set, with all that this part follows.

        Which of them it supersedes makes no difference to any item. Where depths are equal its id may sort anywhere.
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
        """Whether no item is another, now or after any next message, and what is left can be handed to a new peer."""
        whole = [KEEP] * len(self.messages)
        left = [message for message, action in zip(self.messages, actions, strict=True) if action != DELETE]
        return (
            self.items(actions) == self.items(whole)
            and all(not message["prev"] or any(actions[p] != DELETE for p in message["prev"]) for message in left)
            and all(self.items(actions, more) == self.items(whole, more) for more in self.next_messages())
        )

    def ways(self) -> Iterator[list[str]]:
        """Every way to prune; the root stays."""
        for rest in product((KEEP, ERASE, DELETE), repeat=len(self.messages) - 1):
            yield [KEEP, *rest]
