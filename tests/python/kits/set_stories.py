"""Hostile pzp sets as lines of a log, with the expected result of each line and message.

`fixtures/pzp` has an example of each rule; these are values, links, names and copies that programs get wrong.
"""

import json
from functools import partial

from fixtures.pzp.author import Account, Device, hash_of, id_of, to_line
from hostile_lines import MAX_LINE_BYTES, ODD, broken, random_bytes
from set_builds import FOLLOWS, MAX, Feed, HostileLog, says, units

# The names that are allowed in a domain.
LEGAL = {"", "null", "None", "NaN", "0", "1", "thread", "Thread", "THREAD", "ff"}
LEGAL |= {"__proto__", "__this_round__", "constructor"}
LOST = hash_of("never published")


def add_items(log):
    """Add entries of all kinds to a set: equal values, and objects and arrays, which are equal to no other entry."""
    feed = Feed(log, "items")
    junk = [1, 1.0, "1", None, "null", True, "true", {}, {}, [], [[]], [1], "", "\0", "\x001", 2**53, 2**53 + 1, 2**70]
    feed.write("A", data=says([*junk, -0.0, 0, "é", "e\u0301", {"b": 1, "a": [None]}]))
    feed.write("B", "A", says([], [{}, [], 1, "\0", "true", "nothing", None], junk))
    feed.write("C", "B", says(ODD, supersedes=[*ODD, LOST, feed.root, None, 7, {}, [feed.ids["A"]]]))
    feed.write("D", "C", says(ODD[:3], ODD[:2]))
    feed.write("E", "D", says([1, None], supersedes=feed.named("C", "C", "D")))

    feed = Feed(log, "many")
    many = [f"{number:05}" for number in range(10_000)]
    feed.write("A", data=says(many, supersedes=[f"%{number}" for number in range(10_000)]))
    feed.write("B", "A", says([], many[1:], [feed.ids["A"]] * 10_000))
    feed.write("C", sorted([*feed.named("B"), *many]), says([], [{}] * 1000), depth=3)

    # Nested deeper than any stack; orjson and json cannot print them.
    feed = Feed(log, "deep")
    deep = 1
    for _ in range(5000):
        deep = [deep]
    message = feed.sign("A", data=says([deep]))
    feed.expect(message)
    line = to_line(message | {"data": says(["?"])}).replace(b'"?"', b"[" * 5000 + b"1" + b"]" * 5000)
    log.good(line, subject=id_of(message))

    # Data that cannot be hashed differs from the hashed data.
    feed = Feed(log, "unprintable")
    for number, text in enumerate([b'"\\ud800"', b"1e400", b"-1e400", b'{"\\udfff":1}']):
        message = feed.sign(f"{number}")
        log.bad("data_hash_mismatch", to_line(message).replace(b'"add":["%d"]' % number, b'"add":[' + text + b"]"))
        feed.expect(message, "data_hash_mismatch")


def add_places(log):
    """Add wrong depths and links."""
    feed = Feed(log, "depths")
    feed.write("A")
    feed.write("float", "A", depth=2.0)
    feed.write("gap", "A", reason="depth_gap", depth=MAX)
    feed.write("same", "A", reason="prev_not_lower", depth=1)
    feed.write("lower", "A, float", reason="prev_not_lower", depth=2)
    feed.write("after a refused one", feed.named("gap"), reason="no_known_prev", depth=3)
    feed.write("beside a refused one", sorted(feed.named("A", "gap")), depth=2, reason=None)
    feed.write("far", sorted([feed.ids["A"], LOST]), depth=1000)
    feed.write("last", sorted([feed.ids["far"], LOST]), depth=MAX)
    feed.write("behind the last", "last", reason="prev_not_lower", depth=MAX)
    feed.refuse("bad_depth", "too far", "last", depth=MAX + 1)
    feed.write("held", [LOST], reason="no_known_prev", held=True, depth=7)
    feed.write("after a held one", "held", depth=8)

    feed = Feed(log, "links")
    feed.write("A")
    a = feed.ids["A"]
    feed.write("odd", sorted([a, *ODD], key=units), depth=2)
    feed.write("many", sorted([a, *(f"%{number}" for number in range(10_000))]), depth=2)
    # A message of another set is missing in this one.
    feed.write("astray", log.feeds["items"].named("A"), reason="no_known_prev", held=True, depth=2)


def add_roots(log):
    """Add roots that look like those of sets: of a feed of another kind, and of an account."""
    feed = Feed(log, "dict", domain="dict_v1__profile")
    feed.write("A", reason="other_domain", domain=FOLLOWS)
    log.good(feed.sign("B"))
    account = Account(Device.from_name("laptop"), "root of a set")
    log.good(*account.messages.values())
    tangles = {account.id: {"depth": 1, "prev": [account.id]}}
    message = Device.from_name("laptop").write(says(["x"]), tangles, "a", FOLLOWS)
    log.good(message)
    log.astray[account.id] = {id_of(message): ("not_a_feed", False), account.id: ("not_a_feed", False)}


def add_names(log):
    """Add odd names wherever a name is allowed."""
    for text in ODD:
        feed = Feed(log, f"account {text}", account=text, is_rooted=False)
        log.good(to_line(feed.moot, text), subject=feed.root)
        feed.expect(feed.moot)
        message = feed.sign("A", data=says([text], supersedes=[text]), tips=[text])
        log.good(to_line(message, text), subject=id_of(message))
        feed.expect(message)
        # The root of any domain is one.
        feed = Feed(log, f"domain {text}", account=text, domain=f"set_v1__{text}")
        (feed.write if text in LEGAL else partial(feed.refuse, "bad_domain"))("A")

    feed = Feed(log, "roots")
    message = feed.write("A", tangles={text: {"depth": 1, "prev": [text]} for text in ODD})
    log.astray |= {text: {id_of(message): ("missing_root", False)} for text in ODD}

    # Lone surrogates and infinite numbers lack a canonical form, so values with them have no id.
    line = to_line(feed.sign("no id"))
    for old, new in ((FOLLOWS.encode(), b"\\ud800"), (feed.root.encode(), b"\\udfff"), (b'"v":4', b'"v":4e999')):
        assert old in line
        log.bad("no_id", line.replace(old, new))


def add_copies(log):
    """Add a set with incomplete, changed and re-signed copies of its messages."""
    laptop, stranger = map(Device.from_name, ("laptop", "stranger"))
    account = Account(laptop, "writers")
    log.good(*account.messages.values())
    feed = Feed(log, "copies", account.id, laptop, domain="set_v1__copies")

    def copies(name, *kinds, reason=None):
        """Publish copies of one message: sound, erased, signed again by the stranger, or unusable."""
        message = feed.sign(name, tips=account.tips)
        again = stranger.sign(message["metadata"], message["data"])
        for kind in kinds:
            copy = again if kind.startswith("stranger") else message
            copy = copy | ({"data": None} if kind.endswith("erased") else {})
            if kind == "changed":
                log.bad("data_hash_mismatch", to_line(message | {"data": says(["mallory"])}))
            elif kind == "damaged":
                log.bad("bad_signature", to_line(message | {"sig": again["sig"]}))
            else:
                log.good(copy)
        feed.expect(message, reason)

    copies("full", "erased", "full", "erased")
    copies("erased", "erased")
    copies("signed by a stranger", "stranger", "full", "stranger erased")
    copies("stranger has the data", "stranger", "erased")
    copies("strangers only", "stranger", "stranger erased", reason="unauthorised_key")
    copies("damaged", "changed", "damaged", "full", "changed", "damaged")
    copies("erased and changed", "changed", "erased")
    copies("damaged only", "changed", "damaged", reason="bad_signature")


def add_lines(log):
    """Add a message with several spellings and envelopes, and copies that differ in the signature."""
    feed = Feed(log, "lines")
    message = feed.write("A")
    name, line = feed.ids["A"], to_line(message)
    assert b'"depth":1' in line
    log.good(line.replace(b'"depth":1', b'"depth":"x","depth":1'), subject=name)  # the last value counts
    for envelope in (None, 7, {}, [], "'; --", "\0", LOST, "\ud800"):
        log.good(json.dumps({"ts": 1e300, "id": envelope, "msg": message}).encode(), subject=name)
    log.good(to_line({"id": name, "msg": message} | {"more": [ODD]}), subject=name)
    log.good(to_line(message | {"more": "'; --", "id": {}}), subject=name)
    log.bad("missing_signature", to_line(message | {"sig": None}))
    log.bad("bad_signature", to_line(message | {"sigkey": Device.from_name("nobody").key}))
    log.good(line.ljust(MAX_LINE_BYTES), line + b"\r", b" \t" + line + b" ", subject=name)
    log.bad("too_long", line.ljust(MAX_LINE_BYTES + 1))


def hostile_log(folder):
    """Write the whole log, some of it twice."""
    log = HostileLog(folder)
    broken(log)
    random_bytes(log)
    for add in (add_items, add_places, add_roots, add_names, add_copies, add_lines):
        add(log)
    log.repeat(5)
    return log
