"""Computes writer faults from their definitions: short, slow and independent of the kernel."""

DEFAULTS = {"prev": [], "depth": 0, "is_entry": True, "add": [], "del": [], "supersedes": []}


class NaiveFaults:
    """One set: messages in reduction order, which refer to each other by position."""

    def __init__(self, messages: list[dict]):
        self.messages = [DEFAULTS | message for message in messages]
        self.known: list[set[int]] = []
        for message in self.messages:
            self.known.append({y for p in message["prev"] for y in {p} | self.known[p]})

    def touched(self, x: int) -> list[str]:
        """Return the distinct items that a message adds or deletes."""
        message = self.messages[x]
        return list(dict.fromkeys(message["add"] + message["del"])) if message["is_entry"] else []

    def superseded(self, x: int) -> set[int]:
        """Return the earlier messages that a message supersedes."""
        message = self.messages[x]
        return {y for y in message["supersedes"] if 0 <= y < x} if message["is_entry"] else set()

    def heads(self, x: int, item: str) -> list[int]:
        """Return the deepest known messages on an item."""
        touching = [y for y in sorted(self.known[x]) if item in self.touched(y)]
        deepest = max((self.messages[y]["depth"] for y in touching), default=None)
        return [y for y in touching if self.messages[y]["depth"] == deepest]

    def must(self, x: int) -> list[tuple[int, str, str, list[int]]]:
        """Return the faults of a message by the first rule."""
        heads = {item: self.heads(x, item) for item in self.touched(x)}
        return [
            (x, "must", item, deepest)
            for item, deepest in heads.items()
            if deepest and not self.superseded(x) & set(deepest)
        ]

    def should(self, x: int) -> list[tuple[int, str, str, list[int]]]:
        """Return the faults of a message by the second rule."""
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

    def standing(self, x: int) -> list[tuple[int, str, str, list[int]]]:
        """Return the faults of a message by the third rule: it supersedes known messages that hold other items."""
        found = []
        for y in dict.fromkeys(y for y in self.messages[x]["supersedes"] if y in self.superseded(x)):
            for item in self.touched(y):
                last = max((z for z in self.known[x] if item in self.touched(z)), default=None)
                if last == y and item not in self.messages[y]["del"] and item not in self.touched(x):
                    found.append((x, "supersedes_standing_item", item, [y]))
        return found

    def backlinks(self, x: int) -> list[tuple[int, str, None, list[int]]]:
        """Return the known messages at the backlink depth that a message does not list."""
        depth = self.messages[x]["depth"]
        wanted = backlink_depth(depth)
        known = [y for y in sorted(self.known[x]) if self.messages[y]["depth"] == wanted]
        left = [y for y in known if y not in self.messages[x]["prev"]]
        return [(x, "lipmaa_left_out", None, left)] if left and wanted < depth - 1 else []

    def later(self, x: int) -> list[tuple[int, str, None, list[int]]]:
        """Return the later messages that a message supersedes, and that no message after them supersedes."""
        count = len(self.messages)
        named = self.messages[x]["supersedes"] if self.messages[x]["is_entry"] else []
        left = sorted(
            {
                y
                for y in named
                if x < y < count and self.messages[y]["is_entry"]
                if not any(y in self.superseded(z) for z in range(y + 1, count))
            }
        )
        return [(x, "supersedes_later_message", None, left)] if left else []

    def all_faults(self) -> list[tuple]:
        """Return message, rule, item and omitted messages of all faults, in order of the messages."""
        rules = (self.must, self.should, self.standing, self.backlinks, self.later)
        return [fault for x in range(len(self.messages)) for rule in rules for fault in rule(x)]


def backlink_depth(depth: int) -> int | None:
    """Return the backlink depth of a message, or None for a root.

    A tree is three smaller trees and a top node. A top node links to the end of the first of the three. Any other
    node links to the node before the largest tree that ends with it.
    """
    if depth < 1:
        return None
    return _skip(depth + 1) - 1


def _skip(number: int) -> int:
    trees = [1]
    while trees[-1] < number:
        trees.append(3 * trees[-1] + 1)
    if trees[-1] == number:
        return trees[-2]
    offset, rest = 0, number
    while (tree := max(size for size in trees if size <= rest)) < rest:
        offset, rest = offset + tree, rest - tree
    return offset
