"""Hostile SSB logs with the expected result of each line: one for builds that verify, one for builds that do not."""

import json
from itertools import product
from pathlib import Path
from typing import Any

from fixtures.ssb.author import Author, Message, to_line
from hostile_lines import HOSTILE, MAX_LINE_BYTES, Log, broken, random_bytes

ROOT_CLAIM = {"root": None, "previous": None}

LONE, OTHER_LONE = "\ud800", "\udfff"


def post(text: str = "", **fields: Any) -> dict[str, Any]:
    return {"type": "post", "text": text, **fields}


def raw(message: Message, old: bytes, new: bytes) -> bytes:
    """Print a message and change its text."""
    line = to_line(message)
    assert old in line
    return line.replace(old, new, 1)


def add_names(log, alice, bob):
    """Add names with a meaning in SQL, Jinja, Python or a terminal, in every place that takes a name."""
    # Texts, types and tangle names with a meaning in SQL, Jinja, Python or a terminal.
    for name in HOSTILE:
        root = alice.publish(post(name, tangles={name: ROOT_CLAIM}), 1)
        log.good(root, bob.publish(post(name, tangles={name: {"root": root["key"], "previous": [root["key"]]}}), 2))
        log.good(alice.publish({"type": f"{name[:40]} a type", name: {name: [name]}}, 3))
        log.good(
            alice.publish(post(tangles={"thread": {"root": name, "previous": [name]}}, root=name, branch=[name]), 4)
        )
    log.good(alice.publish(post(tangles={f"t{i}": ROOT_CLAIM for i in range(80)}), 1))
    log.good(alice.publish(post(tangles={"many": {"root": "%r", "previous": [f"%{i}" for i in range(400)]}}), 1))

    # Tangles named as legacy threads and feeds are or were, beside a legacy thread with the same root.
    names = ("legacy_thread", "feed", "ssb:legacy_thread", "ssb:feed", "ssb")
    root = alice.publish(post(tangles=dict.fromkeys(names, ROOT_CLAIM)), 1)
    replies = {name: {"root": root["key"], "previous": [root["key"]]} for name in names}
    log.good(root, alice.publish(post(root=root["key"], branch=root["key"], tangles=replies), 2))
    log.good(alice.publish(post(root=7, branch=7, tangles={"ssb:legacy_thread": 7}), 1))

    # Lone surrogates have no UTF-8 form; these two names become equal without them.
    log.good(alice.publish(post(LONE, tangles={LONE: ROOT_CLAIM, OTHER_LONE: ROOT_CLAIM}), 1))
    log.good(
        alice.publish(post(tangles={"t": {"root": "\udc00", "previous": ["\udc00", "\ud800"]}}, branch="\ud800"), 1)
    )
    log.good(alice.publish({"type": "\ud800\ud800\ud800", LONE: 1, OTHER_LONE: 2}, 1))
    log.good(alice.publish(post(root="\ud800", branch="\udfff"), 1))


def add_odd_claims(log, alice):
    """Add claims of a place in a tangle that are of the wrong type."""
    # Claims of the wrong type are ignored; the messages are usable.
    for odd in (None, 7, True, "x", [], {}, [None], {"root": 7}, {"a": 1}, {"root": None}, {"previous": []}):
        log.good(alice.publish(post(tangles=odd), 1), alice.publish(post(tangles={"thread": odd}), 1))
        log.good(alice.publish(post(tangles={"thread": {"root": "%r", "previous": odd}}), 1))
        log.good(alice.publish(post(tangles={"thread": {"root": odd, "previous": ["%r"]}}), 1))
        log.good(alice.publish(post(root=odd, branch=odd), 1), alice.publish(post(root="%r", branch=odd), 1))


def add_forms_of_lines(log, alice, plain):
    """Add messages whose lines repeat keys, or whose envelopes contradict their values."""
    # A repeated key keeps its place and takes the last value.
    twice = alice.publish(post("twice", tangles={"twice": ROOT_CLAIM}), 1)
    log.good(twice)
    log.good(raw(twice, b'"type":"post"', b'"type":"pest","type":"post"'), subject=twice["key"])
    log.good(raw(twice, b'"hash":"sha256"', b'"hash":"md5","hash":"sha256"'), subject=twice["key"])
    log.good(raw(twice, b'"twice":{', b'"twice":7,"twice":{'), subject=twice["key"])
    log.good(raw(twice, b'{"key":', b'{"value":{},"key":'), subject=twice["key"])
    log.bad("bad_signature", raw(twice, b'"type":"post"', b'"type":"post","type":"pest"'))

    # Envelopes are unsigned.
    for key in (b"null", b"7", b"{}", b'""', b'"%nonsense"', b'"\\ud800"', b'"\\u0000"', b"[[[]]]"):
        log.good(raw(plain, b'"' + plain["key"].encode() + b'"', key), subject=plain["key"])
    for time in (b"null", b'"yesterday"', b"{}", b"1e400", b"-1e400", b"-0", b"5e-324", b"1234567890" * 3):
        log.good(raw(plain, b'"timestamp":6', b'"timestamp":' + time), subject=plain["key"])
    for time in (-1, 0.5, 1e21, 5e-324, -1e300, 2**53):
        log.good(alice.publish(post("times", tangles={"times": ROOT_CLAIM}), time, 1))
    endless = raw(alice.publish(post("1e400"), float("inf"), 1), b'"timestamp":null', b'"timestamp":1e400')
    log.good(endless, subject=json.loads(endless)["key"])
    for sequence in (0, -1, 2**31 - 1, -(2**31)):
        log.good(
            alice.publish(post(), 1, sequence=sequence), alice.publish(post(), 2, sequence=sequence, previous=None)
        )


def add_odd_files(log, plain):
    """Add lines of all lengths and ends, in files of odd names."""
    # Lines up to the maximum length, and longer ones.
    log.good(to_line(plain).ljust(MAX_LINE_BYTES), file="long.jsonl", subject=plain["key"])
    log.bad("too_long", to_line(plain).ljust(MAX_LINE_BYTES + 1), file="long.jsonl")
    log.bad("too_long", raw(plain, b"envelopes", b"x" * 100_000_000), file="long.jsonl")
    log.good(plain, file="long.jsonl")
    log.bad("not_a_message", b"{}", file="long.jsonl")

    # Other ways to end lines, to begin files and to name them.
    log.good(*(to_line(plain) + b"\r" for _ in range(3)), file="crlf.jsonl", subject=plain["key"])
    log.bad("malformed_json", b"\r", file="crlf.jsonl")
    log.good(b"\xef\xbb\xbf" + to_line(plain), to_line(plain), file="bom.jsonl", subject=plain["key"])
    log.good(plain, file="folder/a=1/packed.jsonl.gz")
    log.bad("not_a_message", b"{}", file="folder/a=1/packed.jsonl.gz")
    log.good(plain, file='it\'s {{ 1/0 }} 100% "good" [?*].jsonl')
    log.bad("not_a_message", b"{}", file='it\'s {{ 1/0 }} 100% "good" [?*].jsonl')


def signed_log(folder: Path) -> Log:
    """Write a log for a build that verifies."""
    log = Log(folder)
    alice, bob = Author.from_seed("alice"), Author.from_seed("bob")
    broken(log)
    random_bytes(log)
    add_names(log, alice, bob)
    add_odd_claims(log, alice)
    plain = alice.publish(post("envelopes"), 5, 6)
    add_forms_of_lines(log, alice, plain)
    add_odd_files(log, plain)
    return log


HUGE = "%" + "x" * 999_999
COLON_ROOTS = [":".join(parts) for length in (1, 2) for parts in product(("", "25", "3A"), repeat=length)]
COLON_NAMES = ["".join(parts) for parts in product(("", "%", ":", "25", "3A"), repeat=3)]


def line(key: Any, content: Any, author: str = "@a", sequence: Any = 1, **fields: Any) -> bytes:
    value = {"author": author, "sequence": sequence, "content": content, **fields}
    return json.dumps({"key": key, "value": value, "timestamp": 1}).encode()


def reply(root: str, *previous: str, name: str = "thread") -> dict[str, Any]:
    return post(tangles={name: {"root": root, "previous": list(previous)}})


class UnsignedLog(Log):
    """A log with unverified ids."""

    def say(self, key: str, content: Any, stored: str | None = None, **fields: Any) -> None:
        """Add a message that should be usable, under the claimed or the given id."""
        self.good(line(key, content, **fields), subject=key if stored is None else stored)


def add_claimed_names(log):
    """Add ids and names that are long or have a special meaning."""
    for i, text in enumerate(HOSTILE):
        root, child = f"%{text}", f"%{text}/child"
        log.say(root, post(tangles={text: ROOT_CLAIM}), author=f"@{text}", previous=text)
        log.say(child, reply(root, root, root, name=text), author=f"@{text}", sequence=2)
        log.say(f"%legacy {i}", post(root=root, branch=[root]), author=f"@{text}", sequence=3)
    log.say("%\ud800", post(tangles={"surrogate \ud800": ROOT_CLAIM}), stored="%\ufffd")
    log.say(
        "%\ud800/child", reply("%\ud800", "%\ud800", name="surrogate \ud800"), stored="%\ufffd/child", author="@\ud800"
    )

    # Long ids and names.
    log.say(HUGE, post(tangles={"long id": ROOT_CLAIM}))
    log.say("%after a long id", reply(HUGE, HUGE, name="long id"))
    log.say("%long name", post(tangles={HUGE: ROOT_CLAIM}))
    log.say("%after a long name", reply("%long name", "%long name", name=HUGE))
    log.say("%long author", post(), author=HUGE)


def add_crowds(log, crowd):
    """Add many tangles, many previous and many siblings."""
    log.say("%many tangles", post(tangles={f"one of many {i}": ROOT_CLAIM for i in range(crowd)}))
    log.say("%root", post(tangles={"thread": ROOT_CLAIM}))
    log.say("%many previous", reply("%root", *(f"%unknown {i}" for i in range(crowd))))
    log.say("%repeated previous", reply("%root", *["%root"] * crowd))
    for i in range(500):
        log.say(f"%sibling {i}", reply("%root", "%root"))
    log.say("%merge", reply("%root", "%root", *(f"%sibling {i}" for i in range(500))))


def unsigned_log(folder: Path, crowd: int) -> Log:
    """Write a log for a build that takes ids as they are claimed."""
    log = UnsignedLog(folder)
    add_claimed_names(log)
    add_crowds(log, crowd)

    # Names and roots with colons, so that several splits are possible or the text looks escaped.
    for root in COLON_ROOTS:
        log.say(root, post(tangles=dict.fromkeys(COLON_NAMES, ROOT_CLAIM)))

    # A key twice, with two texts: the claimed id decides, independent of the author.
    log.good(line("%twice", post("1")), line("%twice", post("2"), author="@b"), subject="%twice")
    deep = b'"content":' + b"[" * 10_000 + b"]" * 10_000
    log.bad("bad_content", line("%deep", 7).replace(b'"content": 7', deep))
    log.bad("bad_author", line("%author", post(), author=7))
    log.bad("bad_sequence", line("%sequence", post(), sequence="1"), line("%sequence", post(), sequence=2**31))
    log.bad("missing_field", b'{"key":"%k","value":{"author":"@a","content":{}}}')
    return log
