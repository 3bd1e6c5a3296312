"""Other structures, links and values for the documents of mutated lines."""

import json
import random
from typing import Any

import orjson

from hostile_lines import HOSTILE
from mutation_worlds import World, parsed

JUNK = [
    *(None, True, False, 0, 1, -1, 7, 1.5, 2**31 - 1, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 10**30),
    *(float("inf"), float("-inf"), -0.0, 1e21, 5e-324, "", "x", "\ud800", "\0", [], [None], [[]], [""], [7], {}),
    *({"": 1}, {"a": {}}, {"__proto__": None}, {"10": 1, "9": 2}, ["x", "x"], {"root": None, "previous": None}),
]
LENGTHS = [-1, 0, 1, 2, 3, 1.0, True, None, "1", 2**31 - 1, 2**31, 2**63]
ARRIVALS = [0, 1, -1, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**53 + 1, 1.0, True, None, "1", 10**30]
DEPTHS_OF_SETS = [0, -1, 1, 2, 2**53 - 1, 2**53, 1.0, 1.5, "1", None, True, 10**30]


class Documents:
    """Mutates documents of the world that it is in; ids of other worlds may occur in them."""

    def __init__(self, kind: str, rng: random.Random, roots: list[str]):
        self.kind = kind
        self.rng = rng
        self.roots = roots
        self.world: World = []
        self.ids: list[str] = []
        self.older_ids = ["%x"]

    def mutate(self, document: Any) -> None:
        """Change a document in one way."""
        self.rng.choice((self._tree, self._link, self._own, self._own))(document)

    def id_of(self, document: Any) -> str | None:
        """Return the id by which other lines refer to this one."""
        names = {"ssb": "key", "pzp": "id", "autobase": "writer", "event": "event"}
        found = document.get(names[self.kind])
        return found if type(found) is str else None

    def _spots(self, document: Any) -> list[tuple[Any, Any]]:
        """Return every place in a document: its container, and its key or index."""
        spots, containers = [], [document]
        for container in containers:
            keys = list(container) if type(container) is dict else range(len(container))
            for key in keys:
                spots.append((container, key))
                if type(container[key]) in (dict, list):
                    containers.append(container[key])
        return spots

    def _junk(self) -> Any:
        rng = self.rng
        roll = rng.random()
        if roll < 0.6:
            return json.loads(json.dumps(rng.choice(JUNK)))
        if roll < 0.8:
            return rng.choice(HOSTILE)
        if roll < 0.95:
            return self._any_id()
        return orjson.loads("[" * 50 + "]" * 50) if roll < 0.98 else "\u00e9" * rng.randrange(10_000)

    def _any_id(self) -> str:
        rng = self.rng
        return rng.choice(self.ids if rng.random() < 0.9 else self.older_ids)

    def _tree(self, document: Any) -> None:
        """Replace, remove, move, wrap, repeat or reorder values."""
        rng = self.rng
        spots = self._spots(document)
        if not spots:
            return
        container, key = rng.choice(spots)
        value = container[key]
        operation = rng.randrange(8)
        if operation == 0:
            container[key] = self._junk()
        elif operation == 1:
            del container[key]
        elif operation == 2 and type(container) is dict:
            names = [name for _, name in spots if type(name) is str]
            container[rng.choice([*names, *HOSTILE[:40]])] = container.pop(key)
        elif operation == 3:
            other = parsed(rng.choice(self.world))
            if other:
                within, place = rng.choice(self._spots(other))
                container[key] = within[place]
        elif operation == 4:
            within, place = rng.choice(spots)
            within[place] = json.loads(json.dumps(value))
        elif operation == 5:
            container[key] = rng.choice(([value], {"x": value}, [value, value], str(value)[:200]))
        elif operation == 6 and type(value) is list:
            more = [self._any_id() for _ in range(rng.choice((1, 2, 3, 300)))]
            container[key] = rng.choice((value * 2, value[::-1], value[1:], value + more, more))
        elif type(container) is dict:
            items = list(container.items())
            items = sorted(items) if rng.random() < 0.3 else rng.sample(items, len(items))
            container.clear()
            container.update(items)

    def _link(self, document: Any) -> None:
        """Replace an id by another one: of the same line, another line, another world, or a missing message."""
        rng = self.rng
        known = set(self.ids)
        spots = self._spots(document)
        linked = [(within, key) for within, key in spots if type(within[key]) is str and within[key] in known]
        named = [(within, key) for within, key in spots if type(key) is str and key in known]
        if linked and (not named or rng.random() < 0.7):
            container, key = rng.choice(linked)
            new = rng.choice((self._any_id(), self._any_id(), self.id_of(document), rng.choice(HOSTILE)))
            if type(container) is list and rng.random() < 0.5:
                container.insert(key, new)
            else:
                container[key] = new
        elif named:
            container, key = rng.choice(named)
            container[self._any_id()] = container.pop(key)
        else:
            self._own(document)

    def _own(self, document: Any) -> None:
        """Set other values that a log of this kind may have."""
        try:
            {"ssb": self._ssb, "pzp": self._pzp, "autobase": self._autobase, "event": self._event}[self.kind](document)
        except (KeyError, TypeError, AttributeError, IndexError):  # its shape has changed
            self._tree(document)

    def _some_ids(self) -> list[str]:
        return [self._any_id() for _ in range(self.rng.choice((0, 1, 1, 2, 3, 8)))]

    def _ssb(self, document: Any) -> None:
        rng = self.rng
        value = document["value"]
        content = value["content"]
        operation = rng.randrange(11)
        if operation < 3 and type(content) is dict:
            reply = {"root": self._any_id(), "previous": self._some_ids()}
            place = rng.choice((reply, {"root": None, "previous": None}))
            names = ("thread", "group", "epoch", "members", "feed", "ssb:legacy_thread", "x:y", rng.choice(HOSTILE))
            name = rng.choice(names)
            tangles = content.setdefault("tangles", {})
            tangles[name] = rng.choice((place, place, place, self._junk()))
            tangles[rng.choice(list(tangles))] = place
        elif operation == 3 and type(content) is dict:
            content |= {"root": self._any_id(), "branch": rng.choice((self._any_id(), self._some_ids(), self._junk()))}
        elif operation == 4:
            document["key"] = rng.choice((self._any_id(), self._any_id(), self._junk()))
        elif operation == 5:
            value["sequence"] = rng.choice(LENGTHS)
            value["previous"] = rng.choice((None, self._any_id(), self._junk()))
        elif operation == 6:
            rng.choice((document, value))["timestamp"] = rng.choice((self._junk(), rng.random() * 1e12))
        elif operation == 7 and type(content) is dict:
            kinds = ("group/init", "group/add-member", "group/exclude-member", "post", rng.choice(HOSTILE))
            content["type"] = rng.choice(kinds)
        elif operation == 8 and type(content) is dict:
            name = rng.choice(("secret", "oldSecrets", "recps", "excludes", "version", "creator", "root"))
            content[name] = rng.choice((self._junk(), content.get("secret"), [content.get("secret")], self._some_ids()))
        elif operation == 9:
            value["content"] = rng.choice(("AAAA.box", "AAAA.box2", "AAAA", self._junk()))
        else:  # an export that lost the order
            document["value"] = dict(sorted(value.items()))

    def _pzp(self, document: Any) -> None:
        rng = self.rng
        message = document.get("msg", document)
        metadata, data = message["metadata"], message["data"]
        operation = rng.randrange(9)
        if operation < 3:
            entries = list(metadata["tangles"].values())
            entry = rng.choice(entries)
            if rng.random() < 0.5:
                entry["depth"] = rng.choice((*DEPTHS_OF_SETS, entry["depth"] + 1, entry["depth"] - 1))
            else:
                ids = rng.choice((self._some_ids(), [*entry["prev"], self._any_id()]))
                entry["prev"] = rng.choice((ids, sorted(ids)))
        elif operation == 3:
            metadata["tangles"][self._any_id()] = {"depth": rng.randrange(1, 9), "prev": sorted(self._some_ids())}
        elif operation < 6 and type(data) is dict:
            name = rng.choice(("add", "del", "supersedes"))
            items = [*data.get(name, []), *self._some_ids(), self._junk()]
            data[name] = rng.choice((items, items[::-1], items[:1], self._junk()))
        elif operation == 6:
            message["data"] = rng.choice((None, "", "text", self._junk()))
        elif operation == 7:
            metadata["account"] = rng.choice((self._any_id(), "self", "any", self._junk()))
            metadata["accountTips"] = rng.choice((None, self._some_ids(), [metadata["account"]], self._junk()))
        elif rng.random() < 0.5:
            metadata["domain"] = rng.choice(("set_v1__follows", "account__account", "account__self", self._junk()))
        else:
            document["id"] = rng.choice((self._any_id(), self._any_id(), self._junk()))

    def _autobase(self, document: Any) -> None:
        rng = self.rng
        hears = lambda: [self._any_id(), rng.choice((*LENGTHS, *range(1, 30)))]  # noqa: E731
        if "indexers" in document:
            name = rng.choice(("indexers", "relayed", "start"))
            keys = [*(document.get(name) or []), *self._some_ids()]
            said = {key: rng.choice(LENGTHS) for key in keys} if name == "start" else keys
            document[name] = rng.choice((said, said, rng.sample(keys, len(keys) // 2), self._junk()))
            return
        operation = rng.randrange(8)
        if operation == 0:
            document["length"] = rng.choice((*LENGTHS, document["length"] + 1, document["length"] - 1))
        elif operation == 1:
            document["writer"] = rng.choice((self._any_id(), document["writer"].upper(), self._junk()))
        elif operation == 2:
            document["heads"] = [hears() for _ in range(rng.randrange(4))]
        elif operation == 3:
            document["heads"].append(hears())
        elif operation == 4:
            head = rng.choice(document["heads"])
            head[1] += rng.choice((-1, 1, 1, 5))
        elif operation == 5:
            document["batch"] = rng.choice((*LENGTHS, None))
        elif operation == 6:
            document["value"] = rng.choice((None, self._junk(), self._junk()))
        else:
            document["heads"] = [head for head in document["heads"] if rng.random() < 0.5]

    def _event(self, document: Any) -> None:
        rng = self.rng
        operation = rng.randrange(7)
        if operation == 0:
            document["arrival"] = rng.choice((*ARRIVALS, document["arrival"] + 1, document["arrival"] - 1))
        elif operation < 3:
            ids = rng.choice((self._some_ids(), [*document["after"], self._any_id()], [document["event"]]))
            document["after"] = rng.choice((ids, ids, ids * 2, [*ids, self._junk()], self._junk()))
        elif operation == 3:
            document["event"] = rng.choice((self._any_id(), self._any_id(), rng.choice(HOSTILE), self._junk()))
        elif operation == 4:
            of_a_tangle = f"thread:{rng.choice(self.roots)}"
            names = (of_a_tangle, of_a_tangle, "x:y:z", "ssb:log", rng.choice(HOSTILE), self._junk())
            document["timeline"] = rng.choice(names)
        elif operation == 5:
            document["author"] = rng.choice((None, self._any_id(), rng.choice(HOSTILE), self._junk()))
        else:
            document.pop("author", None)
