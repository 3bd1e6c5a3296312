"""What writers left out, straight from the definitions: short, slow, and sharing no code with the kernel."""

from __future__ import annotations

DEFAULTS = {"prev": [], "depth": 0, "is_entry": True, "add": [], "del": [], "supersedes": []}


class NaiveFaults:
    """One set: its messages in reduction order, who name each other by their places."""

    def __init__(self, messages: list[dict]):
        self.messages = [DEFAULTS | message for message in messages]
        self.known: list[set[int]] = []
        for message in self.messages:
            self.known.append({y for p in message["prev"] for y in {p} | self.known[p]})

    def touched(self, x: int) -> list[str]:
        """The items that a message adds or deletes, each once."""
        message = self.messages[x]
        return list(dict.fromkeys(message["add"] + message["del"])) if message["is_entry"] else []

    def superseded(self, x: int) -> set[int]:
        """The earlier messages that a message supersedes."""
        message = self.messages[x]
        return {y for y in message["supersedes"] if 0 <= y < x} if message["is_entry"] else set()

    def heads(self, x: int, item: str) -> list[int]:
        """Of the known messages on an item, the deepest."""
        touching = [y for y in sorted(self.known[x]) if item in self.touched(y)]
        deepest = max((self.messages[y]["depth"] for y in touching), default=None)
        return [y for y in touching if self.messages[y]["depth"] == deepest]

    def faults(self) -> list[tuple[int, str, str, list[int]]]:
        """Message, rule, item and what was left out, in order."""
        return [fault for x in range(len(self.messages)) for fault in [*self.must(x), *self.should(x)]]

    def must(self, x: int) -> list[tuple[int, str, str, list[int]]]:
        """The faults of a message by the first rule."""
        heads = {item: self.heads(x, item) for item in self.touched(x)}
        return [
            (x, "must", item, deepest)
            for item, deepest in heads.items()
            if deepest and not self.superseded(x) & set(deepest)
        ]

    def should(self, x: int) -> list[tuple[int, str, str, list[int]]]:
        """The faults of a message by the second rule."""
        if not self.messages[x]["is_entry"] or not self.messages[x]["add"]:
            return []
        done = self.superseded(x).union(*(self.superseded(y) for y in self.known[x]))
        found = {}
        for y in sorted(self.known[x]):
            for item in self.touched(y):
                if item not in found:
                    found[item] = [d for d in self.heads(x, item) if item in self.messages[d]["del"] and d not in done]
        rows = [(x, "should", item, left) for item, left in found.items() if left]
        return sorted(rows, key=lambda row: (row[3][0], self.touched(row[3][0]).index(row[2])))
