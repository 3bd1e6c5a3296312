"""The reduction of one set by its definitions: short, slow, and independent of the kernels."""

from functools import cmp_to_key

DEFAULTS = {
    "set_id": "root",
    "account": "me",
    "domain": "set_v1__s",
    "depth": 1,
    "prev": [],
    "is_moot": False,
    "has_data": True,
    "is_set_shape": True,
    "add": [],
    "del": [],
    "supersedes": [],
}


def compare_ids(a: str, b: str) -> int:
    """Compare as ICU's root collation compares base58: letters without case, then lower before upper."""
    for x, y in zip(a.lower(), b.lower(), strict=False):
        if x != y:
            return -1 if x < y else 1
    if len(a) != len(b):
        return len(a) - len(b)
    for x, y in zip(a, b, strict=True):
        if x != y:
            return -1 if x.islower() else 1
    return 0


class NaiveSet:
    """One set, given as rows of `reduce_sets`."""

    def __init__(self, rows: list[dict], ghost_span: int = 32):
        self.span = ghost_span
        self.rows = {row["message_id"]: row for row in rows}
        self.moot = next((row["message_id"] for row in rows if row["is_moot"]), None)
        self.sorted = sorted(self.rows, key=cmp_to_key(lambda a, b: self.depth(a) - self.depth(b) or compare_ids(a, b)))
        self.order = self.sorted if self.moot is not None else []

    def depth(self, message: str) -> int:
        """Declared depth; the root's is 0."""
        return 0 if message == self.moot else self.rows[message]["depth"]

    def prev(self, message: str) -> list[str]:
        """Return the listed messages that are present."""
        return [] if message == self.moot else [p for p in self.rows[message]["prev"] or [] if p in self.rows]

    def tips(self) -> list[str]:
        """Return the messages that are not listed as previous."""
        listed = {p for message in self.rows for p in self.prev(message)}
        return sorted(set(self.order) - listed)

    def items(self) -> dict[str, str]:
        """Return the present items in insertion order, each with the message that inserted it."""
        present: dict[str, str] = {}
        for message in self.order:
            row = self.rows[message]
            if row["is_set_shape"]:
                for item in row["add"] or []:
                    present.setdefault(item, message)
                for item in row["del"] or []:
                    present.pop(item, None)
        return present

    def item_roots(self) -> list[str]:
        """Return the messages with data that are not superseded by a later message, in order."""
        roots: list[str] = []
        for message in self.order:
            row = self.rows[message]
            if row["has_data"]:
                roots = [root for root in roots if root not in (row["supersedes"] or [])] + [message]
        return roots

    def item_roots_by_document(self) -> list[str]:
        """Return the messages with data that no other message with data supersedes, in order."""
        rows = {message: self.rows[message] for message in self.order if self.rows[message]["has_data"]}
        return [
            message
            for message in rows
            if not any(message in (row["supersedes"] or []) for other, row in rows.items() if other != message)
        ]

    def min_required_depth(self) -> int | None:
        """Return the least depth of an item root; 0 without the set's root, None without item roots."""
        if self.moot is None:
            return 0
        return min((self.depth(root) for root in self.item_roots()), default=None)

    def is_entry(self, message: str) -> bool:
        """Say whether a message adds or deletes, and is by the set's own account."""
        row = self.rows[message]
        return row["is_set_shape"] and (self.moot is None or row["account"] == self.rows[self.moot]["account"])

    def precedes(self, a: str, b: str) -> bool:
        """Say whether a path of links through entries leads from b to a."""
        if self.moot is None:
            return False
        seen, stack = set(), [b]
        while stack:
            message = stack.pop()
            for p in self.prev(message):
                if p not in seen and self.is_entry(p) and self.order.index(p) < self.order.index(message):
                    seen.add(p)
                    stack.append(p)
        return a != b and a in seen

    def standing(self) -> dict[str, list[str]]:
        """Return the live messages of each item: they touch it, and their descendants do not."""
        touching: dict[str, list[str]] = {}
        for message in self.sorted:
            row = self.rows[message]
            if self.is_entry(message):
                for item in dict.fromkeys((row["add"] or []) + (row["del"] or [])):
                    touching.setdefault(item, []).append(message)
        return {
            item: [x for x in messages if not any(self.precedes(x, y) for y in messages)]
            for item, messages in touching.items()
        }

    def max_depth(self) -> int:
        """Return the largest declared depth."""
        return max(self.depth(message) for message in self.rows)

    def squeeze_potential(self) -> int | None:
        """Return the depths between the oldest live message and the deepest message."""
        depths = [self.depth(x) for roots in self.standing().values() for x in roots]
        return self.max_depth() - min(depths) if depths else None

    def path_to_root(self, message: str) -> list[str]:
        """Return the shortest path: repeatedly the lowest previous message."""
        path = []
        while below := [p for p in self.prev(message) if self.order.index(p) < self.order.index(message)]:
            message = min(below, key=self.order.index)
            path.append(message)
        return path

    def purposes(self) -> dict[str, str]:
        """Return the purpose of each message."""
        needed = self.min_required_depth()
        if needed is None:
            return dict.fromkeys(self.rows, "none")
        if self.moot is None:
            return dict.fromkeys(self.rows, "goal")
        trail = {x for m in self.rows if self.depth(m) == needed for x in self.path_to_root(m)}
        purposes = {}
        for message in self.rows:
            depth = self.depth(message)
            if depth >= needed:
                purposes[message] = "goal"
            elif message in trail or message == self.moot:
                purposes[message] = "trail"
            else:
                purposes[message] = "ghost" if depth >= needed - self.span else "none"
        return purposes

    def summary(self) -> dict:
        """Return the row of the set."""
        needed = self.min_required_depth()
        return {
            "max_depth": self.max_depth(),
            "items": list(self.items()),
            "item_roots": self.item_roots(),
            "min_required_depth": needed,
            "min_ghost_depth": None if needed is None else max(0, needed - self.span),
            "squeeze_potential": self.squeeze_potential(),
            "tips": self.tips(),
        }

    def messages(self) -> dict[str, dict]:
        """Return the row of each message."""
        roots, tips, purposes = set(self.item_roots()), set(self.tips()), self.purposes()
        by_document = set(self.item_roots_by_document())
        place = {message: k for k, message in enumerate(self.order)}
        return {
            message: {
                "position": place.get(message),
                "is_item_root": message in roots,
                "is_item_root_by_document": message in by_document,
                "purpose": purposes[message],
                "is_tip": message in tips,
            }
            for message in self.rows
        }
