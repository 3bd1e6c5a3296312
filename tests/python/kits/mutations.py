"""Lines of logs, mutated: real lines with wrong bytes, odd JSON, other shapes and links to any message.

    lines = mutated("ssb", 20_000, seed=1)

A log is made of worlds: small consistent logs, each with names of its own, so that a fault in one leaves the others
intact. Worlds are mutated at different rates, because a graph with faults everywhere tests little but its rejects.

A line goes through these steps, most of which are skipped at random: its JSON gets another structure (`_tree`), other
links (`_link`), or other valid values of its kind of log (`_ssb`, `_pzp`, `_autobase`, `_event`); it gets the names of
its world, and is signed anew if signatures are verified; it is printed, and its text (`_text`) and bytes (`_bytes`) are
changed.
"""

import json
import random
import re
from typing import Any

import orjson

from dbt_tangles.formats.pzp.canonical import NoCanonicalFormError, canonical_bytes
from fixtures.pzp.author import Device, hash_of, id_of
from fixtures.ssb.author import Author
from hostile_lines import HOSTILE, MAX_LINE_BYTES
from mutation_values import (
    ARRIVALS,
    BYTES,
    DEPTHS,
    DEPTHS_OF_SETS,
    JUNK,
    LENGTHS,
    NO_NUMBERS,
    NO_STRINGS,
    NUMBERS,
    SHARED_NAMES,
    SPACES,
    STRINGS,
    TIES,
)
from mutation_worlds import World, dump, parsed, ssb_worlds, worlds_of

KINDS = ("ssb", "pzp", "autobase", "event")


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9eE]*|true|false|null|[][{},:]')
_KEY = re.compile(r'"(?:[^"\\]|\\.)*"(?=\s*:)')
_SSB_ID = re.compile(r"([%@]|message/classic/|identity/group/|feed/bendybutt-v1/)([A-Za-z0-9+/_-]{43})(?==)")
_PZP_ID = re.compile(r"(?<![1-9A-HJ-NP-Za-km-z])[1-9A-HJ-NP-Za-km-z]{40,46}(?![1-9A-HJ-NP-Za-km-z])")
_TO_BASE64, _TO_URL = str.maketrans("-_", "+/"), str.maketrans("+/", "-_")


def mutated(kind: str, count: int, seed: int | str, is_verified: bool = True) -> list[bytes]:
    """Make the lines of a log; the same for the same arguments.

    Args:
        kind: One of `KINDS`.
        count: How many lines.
        seed: Any number.
        is_verified: Whether changed messages are signed anew; otherwise a claimed id suffices.

    Returns:
        The lines in random order, each without a line feed. The first one is ordinary.
    """
    return _Log(kind, seed, is_verified).lines(count)


class _Log:
    """Makes the lines of a log."""

    def __init__(self, kind: str, seed: int | str, is_verified: bool):
        self.rng = random.Random(f"{kind} {seed} {is_verified}")
        self.kind = kind
        self.seed = seed
        self.is_verified = is_verified
        self.worlds = worlds_of(kind)
        self.roots = [document["key"] for document in map(parsed, ssb_worlds()[0]) if document and "key" in document]
        self.world: World = []
        self.ids: list[str] = []
        self.older_ids = ["%x"]
        self.tag = ""
        self.names: dict[str, str] = {}
        self.writers: dict[str, Any] = {}

    def lines(self, count: int) -> list[bytes]:
        """Make that many lines."""
        found = self._crafted()
        number = 0
        while len(found) < count:
            self._enter(number)
            rate = self.rng.choice((0.02, 0.1, 0.3, 0.8)) if number else 0.0
            for line in self.world:
                if self.rng.random() < 0.03 * rate:
                    continue  # a missing message
                made = self._line(line, rate)
                found += made.split(b"\n")
                if self.rng.random() < 0.02:
                    found += made.split(b"\n")
                if self.rng.random() < 0.1 * rate:  # beside it the original line, or another mutation of it
                    found += self._line(line, rate * self.rng.randrange(2)).split(b"\n")
            self.older_ids += self.rng.sample(self.ids, min(len(self.ids), 4))
            number += 1
        del found[count:]
        first = found.pop(next(at for at, line in enumerate(found) if line[:1] == b"{"))
        return [first, *self.rng.sample(found, len(found))]

    def _crafted(self) -> World:
        """Return lines that random mutations would hardly produce."""
        if self.kind == "event":
            return [dump({"timeline": "ties", "event": "e", "after": ["x"], "arrival": 1} | tie) for tie in TIES]
        if self.kind != "ssb" or self.is_verified:
            return []
        lines = []
        for number, (key, name, root) in enumerate(SHARED_NAMES, 1):
            content = {"type": "post", "tangles": {name: {"root": root, "previous": root and [root]}}}
            lines.append(dump({"key": key, "value": {"author": "@shared", "sequence": number, "content": content}}))
        return lines

    def _enter(self, number: int) -> None:
        """Start another world."""
        self.world = self.rng.choice(self.worlds) if number else self.worlds[0]
        if len(self.world) > 400:
            start = self.rng.randrange(len(self.world) - 300)
            self.world = self.world[:20] + self.world[start : start + 300]
        letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
        # The first world keeps its names, so that other logs can refer to its messages.
        self.tag = "".join(letters[number // 24**place % 24] for place in range(4)) if number else ""
        self.names, self.writers = {}, {}
        documents = list(filter(None, map(parsed, self.world)))
        self.ids = list(dict.fromkeys(filter(None, map(self._id, documents)))) or ["x"]
        if self.kind == "pzp" and self.is_verified:
            for document in documents:
                message = document.get("msg", document)
                key = message.get("sigkey") if type(message) is dict else None
                if type(key) is str and key not in self.names:
                    self.writers[key] = Device.from_name(f"{self.seed} {self.tag} {key}")
                    self.names[key] = self.writers[key].key

    def _id(self, document: Any) -> str | None:
        """Return the id by which other lines refer to this one."""
        names = {"ssb": "key", "pzp": "id", "autobase": "writer", "event": "event"}
        found = document.get(names[self.kind])
        return found if type(found) is str else None

    def _line(self, line: bytes, rate: float) -> bytes:
        rng = self.rng
        document = parsed(line)
        if document is not None:
            while rng.random() < rate:
                rng.choice((self._tree, self._link, self._own, self._own))(document)
            named = self._named(document)
            text = json.dumps(named, ensure_ascii=rng.random() < 0.1, separators=(",", ":"))
            line = text.replace("Infinity", "1e999").encode("utf-8", "surrogatepass")
            if rng.random() < rate / 3:
                line = self._text(text).encode("utf-8", "surrogatepass")
        if rng.random() < rate / 3:
            line = self._bytes(line)
        return line

    # -----------------------------------------------------------------------------------------------------------------
    # Names and signatures

    def _named(self, document: Any) -> Any:
        """Give a document the names of this world."""
        if not self.tag:
            return document
        if self.kind in ("autobase", "event"):
            name = "base" if self.kind == "autobase" else "timeline"
            if type(document.get(name)) is str and not document[name].startswith("thread:"):
                document[name] += f" {self.tag}"
            return document
        try:
            if self.is_verified:
                return self._signed_ssb(document) if self.kind == "ssb" else self._signed_pzp(document)
            text = json.dumps(document)
        except (NoCanonicalFormError, TypeError, ValueError, AttributeError, KeyError):
            return document  # a value without a canonical form, so it cannot be signed
        if self.kind == "ssb":
            return json.loads(_SSB_ID.sub(lambda found: found[1] + self.tag + found[2][4:], text))
        return json.loads(_PZP_ID.sub(lambda found: self.tag + found[0][4:], text))

    def _signed_ssb(self, document: Any) -> Any:
        """Sign a message as one of this world's authors, as the next in the author's new chain."""
        value = document["value"]
        if "meta" in document or "meta" in value or "cyphertext" in value or self.rng.random() < 0.03:
            return document

        def rename(found: re.Match[str]) -> str:
            digest = self.names.get(found[2].translate(_TO_BASE64), found[2])
            return found[1] + (digest.translate(_TO_URL) if found[1].endswith("/") else digest)

        content = json.loads(_SSB_ID.sub(rename, json.dumps(value["content"])))
        author = self.writers.get(value["author"])
        if author is None:
            author = self.writers[value["author"]] = Author.from_seed(f"{self.seed} {self.tag} {value['author']}")
        place = {}
        if self.rng.random() < 0.01:
            place = {"sequence": value["sequence"], "previous": value["previous"]}
        message = author.publish(content, value["timestamp"], document.get("timestamp"), **place)
        if type(document.get("key")) is str:
            self.names[document["key"][1:44]] = message["key"][1:44]
        message = {**document, **message}
        return message["value"] if self.rng.random() < 0.05 else message

    def _signed_pzp(self, document: Any) -> Any:
        """Sign a message with one of this world's keys."""
        message = document.get("msg", document)
        if self.rng.random() < 0.03:
            return document
        named = json.loads(_PZP_ID.sub(lambda found: self.names.get(found[0], found[0]), json.dumps(message)))
        metadata, data = named["metadata"], named["data"]
        if self.rng.random() < 0.97:
            if data is not None:
                metadata |= {"dataHash": hash_of(data), "dataSize": len(canonical_bytes(data))}
            for entry in metadata["tangles"].values():
                entry["prev"].sort()
        device = self.writers.get(message["sigkey"])
        signed = named if device is None else device.sign(metadata, data)
        new = id_of(signed)
        if "id" in document:
            self.names[document["id"]] = new
        return {"id": new, "msg": signed} if "msg" in document else signed

    # -----------------------------------------------------------------------------------------------------------------
    # Structure

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
            new = rng.choice((self._any_id(), self._any_id(), self._id(document), rng.choice(HOSTILE)))
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

    # -----------------------------------------------------------------------------------------------------------------
    # Text and bytes

    def _text(self, text: str) -> str:
        """Change a token, the space between tokens, or the whole text."""
        rng = self.rng
        operation = rng.randrange(9)
        tokens = list((_KEY if operation == 0 else _TOKEN).finditer(text))
        if operation == 8 or not tokens:
            other = rng.choice(self.world).decode("utf-8", "replace")
            return rng.choice((text + other, other, f"[{text}]", f"{text},", f"\ufeff{text}", f" {text}\t", text * 2))
        start, end = rng.choice(tokens).span()
        token = text[start:end]
        if operation == 0:  # the same key twice: the last counts
            value = rng.choice((*NUMBERS[:3], *STRINGS[:3], "null", "{}", "[]"))
            token = f"{token}:{value},{token}"
        elif operation == 1:
            token = rng.choice(NUMBERS if rng.random() < 0.8 else NO_NUMBERS)
        elif operation == 2:
            token = rng.choice(STRINGS if rng.random() < 0.8 else NO_STRINGS)
        elif operation == 3:  # the same string, or a broken one
            token = "".join(f"\\u{ord(one):04x}" if one.isalnum() and ord(one) < 2**16 else one for one in token)
        elif operation == 4:
            token = rng.choice((rng.choice(SPACES[:4]), rng.choice(SPACES))) + token
        elif operation == 5:
            depth = rng.choice(DEPTHS) if rng.random() < 0.5 else 2
            opened, closed = rng.choice((("[", "]"), ('{"a":', "}")))
            token = opened * depth + ("1" if rng.random() < 0.2 else token) + closed * (depth - (rng.random() < 0.1))
        elif operation == 6:
            token = rng.choice(tokens)[0]
        else:
            length = rng.choice((10, 10, 1_000, 9_000, 90_000))
            token = rng.choice(('"' + "x" * length + '"', "1" * (length // 9), "[7" + ',"y"' * (length // 9) + "]"))
        return text[:start] + token + text[end:]

    def _bytes(self, line: bytes) -> bytes:
        """Flip, drop, double, insert or move bytes; truncate the line or make it too long."""
        rng = self.rng
        place = rng.randrange(len(line) + 1)
        length = rng.choice((1, 1, 2, 8, 50))
        before, piece, after = line[:place], line[place : place + length], line[place + length :]
        operation = rng.randrange(9)
        if operation == 0:
            return before + bytes(byte ^ 1 << rng.randrange(8) for byte in piece) + after
        if operation == 1:
            return before + after
        if operation == 2:
            return before + piece * rng.choice((2, 3)) + after
        if operation < 5:
            return before + rng.choice(BYTES) + rng.choice((piece, b"")) + after
        if operation == 5:
            return before if rng.random() < 0.5 else after
        if operation == 6:
            return before + rng.randbytes(length) + after
        if operation == 7:
            return after + piece + before if rng.random() < 0.1 else before + rng.choice(BYTES) * length + after
        return rng.choice((b"", b" ", b"\r", line + b"\r", b"null")) if rng.random() < 0.99 else self._too_long(line)

    def _too_long(self, line: bytes) -> bytes:
        return line + b" " * (MAX_LINE_BYTES + self.rng.choice((0, 1)) - len(line))
