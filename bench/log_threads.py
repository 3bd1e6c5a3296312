"""Grow threads of messages: a reply lists the tips that its author knows."""

import random
from collections import deque

LEGACY, NAMED, BOTH = range(3)


class Thread:
    """A growing thread.

    Attributes:
        root: The id of its first message.
        form: The kind of links that its messages carry.
        tips: The ids and depths of its latest messages.
        latest: The authors of the last few messages, each with the tips before its message.
        left: The number of replies still to come.
        pause: The average number of other posts between two of its own.
        size: Its number of messages.
    """

    __slots__ = ("form", "latest", "left", "pause", "root", "size", "tips")

    def __init__(self, root: str, form: int, left: int, pause: float, author: int):
        """Start a thread with its root."""
        self.root = root
        self.form = form
        self.left = left
        self.pause = pause
        self.tips = [(root, 0)]
        self.latest = deque([(author, [])], maxlen=4)
        self.size = 1

    def known_to(self, author: int, stale: float, draw: random.Random) -> list[tuple[str, int]]:
        """Return the tips that an author knows: the latest, or those before a few messages of others."""
        tips = self.tips
        if draw.random() < stale:
            behind = 1 + int(draw.random() * 3)
            for who, before in reversed(self.latest):
                if who == author or not before or not behind:
                    break
                tips = before
                behind -= 1
        return tips

    def add(self, author: int, key: str, known: list[tuple[str, int]]) -> int:
        """Add a message that lists the tips its author knew, and return its depth."""
        depth = 1 + max(tip[1] for tip in known)
        self.latest.append((author, self.tips))
        self.tips = [*(tip for tip in self.tips if tip not in known), (key, depth)]
        self.size += 1
        return depth
