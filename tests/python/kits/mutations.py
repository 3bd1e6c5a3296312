"""Lines of logs, mutated: real lines with wrong bytes, odd JSON, other shapes and links to any message.

    lines = mutated("ssb", 20_000, seed=1)

A log is made of worlds: small consistent logs, each with names of its own, so that a fault in one leaves the others
intact. Worlds are mutated at different rates, because a graph with faults everywhere tests little but its rejects.

A line goes through these steps, most of which are skipped at random: its JSON gets another structure, other links, or
other valid values of its kind of log; it gets the names of its world, and is signed anew if signatures are verified; it
is printed, and its text and bytes are changed.
"""

import json
import random
import re
from typing import Any

from dbt_tangles.formats.json.printing import CANON, NoCanonicalFormError, sorted_bytes
from fixtures.pzp.author import Device, hash_of, id_of
from fixtures.ssb.author import Author
from mutation_documents import Documents
from mutation_texts import mutated_bytes, mutated_text
from mutation_worlds import World, dump, parsed, ssb_worlds, worlds_of

# Lines that differ, or are equal, only in fields that a table might ignore.
SHARED_NAMES = [("y:z", "x", None), ("z", "x:y", None), ("after y:z", "x", "y:z"), ("after z", "x:y", "z")]
TIES = [{}, {"author": ""}, {"author": None}, {"after": [], "author": "x"}]

KINDS = ("ssb", "pzp", "autobase", "event")


_SSB_ID = re.compile(r"([%@]|message/classic/|identity/group/|feed/bendybutt-v1/)([A-Za-z0-9+/_-]{43})(?==)")
_PZP_ID = re.compile(r"(?<![1-9A-HJ-NP-Za-km-z])[1-9A-HJ-NP-Za-km-z]{40,46}(?![1-9A-HJ-NP-Za-km-z])")
_TO_BASE64, _TO_URL = str.maketrans("-_", "+/"), str.maketrans("+/", "-_")


def mutated(kind: str, count: int, seed: int | str, is_verified: bool = True) -> list[bytes]:
    """Make the lines of a log in random order, the same for the same arguments; the first one is ordinary."""
    return _Log(kind, seed, is_verified).lines(count)


class _Log:
    """Makes the lines of a log."""

    def __init__(self, kind: str, seed: int | str, is_verified: bool):
        self.rng = random.Random(f"{kind} {seed} {is_verified}")
        self.kind = kind
        self.seed = seed
        self.is_verified = is_verified
        self.worlds = worlds_of(kind)
        roots = [document["key"] for document in map(parsed, ssb_worlds()[0]) if document and "key" in document]
        self.documents = Documents(kind, self.rng, roots)
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
            for line in self.documents.world:
                if self.rng.random() < 0.03 * rate:
                    continue  # a missing message
                made = self._line(line, rate)
                found += made.split(b"\n")
                if self.rng.random() < 0.02:
                    found += made.split(b"\n")
                if self.rng.random() < 0.1 * rate:  # beside it the original line, or another mutation of it
                    found += self._line(line, rate * self.rng.randrange(2)).split(b"\n")
            self.documents.older_ids += self.rng.sample(self.documents.ids, min(len(self.documents.ids), 4))
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
        self.documents.world = self.rng.choice(self.worlds) if number else self.worlds[0]
        if len(self.documents.world) > 400:
            start = self.rng.randrange(len(self.documents.world) - 300)
            self.documents.world = self.documents.world[:20] + self.documents.world[start : start + 300]
        letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
        # The first world keeps its names, so that other logs can refer to its messages.
        self.tag = "".join(letters[number // 24**place % 24] for place in range(4)) if number else ""
        self.names, self.writers = {}, {}
        documents = list(filter(None, map(parsed, self.documents.world)))
        self.documents.ids = list(dict.fromkeys(filter(None, map(self.documents.id_of, documents)))) or ["x"]
        if self.kind == "pzp" and self.is_verified:
            for document in documents:
                message = document.get("msg", document)
                key = message.get("sigkey") if type(message) is dict else None
                if type(key) is str and key not in self.names:
                    self.writers[key] = Device.from_name(f"{self.seed} {self.tag} {key}")
                    self.names[key] = self.writers[key].key

    def _line(self, line: bytes, rate: float) -> bytes:
        rng = self.rng
        document = parsed(line)
        if document is not None:
            while rng.random() < rate:
                self.documents.mutate(document)
            named = self._named(document)
            text = json.dumps(named, ensure_ascii=rng.random() < 0.1, separators=(",", ":"))
            line = text.replace("Infinity", "1e999").encode("utf-8", "surrogatepass")
            if rng.random() < rate / 3:
                line = mutated_text(rng, self.documents.world, text).encode("utf-8", "surrogatepass")
        if rng.random() < rate / 3:
            line = mutated_bytes(rng, line)
        return line

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
                metadata |= {"dataHash": hash_of(data), "dataSize": len(sorted_bytes(data, CANON))}
            for entry in metadata["tangles"].values():
                entry["prev"].sort()
        device = self.writers.get(message["sigkey"])
        signed = named if device is None else device.sign(metadata, data)
        new = id_of(signed)
        if "id" in document:
            self.names[document["id"]] = new
        return {"id": new, "msg": signed} if "msg" in document else signed
