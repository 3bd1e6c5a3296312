"""Writes hostile private groups as lines of a log, with the expected result of each line.

The lines are groups written as stories, lines of all forms, and messages of each kind with junk in each field.
"""

import json
import random
from base64 import b64decode, b64encode

from fixtures.ssb.author import Author
from fixtures.ssb.author import to_line as signed_line
from group_kit import (
    NULL,
    add,
    epoch_init,
    exclude,
    feed,
    group,
    key_of,
    message_id,
    place,
    root_init,
    to_line,
    uri,
)
from group_mutants import JUNK, REMOVED, mutated
from hostile_lines import HOSTILE, MAX_LINE_BYTES

# More messages than a finding lists.
CROWD, LISTED = 120, 100
CROWDED = [f"E{number}" for number in range(CROWD)]
# The expected result of a message: kind, reason, group and epoch.
INVALID = (None, None)


class GroupLog:
    """Lines, with their expected results.

    Attributes:
        lines: All lines.
        expected: By message id, the kind, reason, group and epoch of `group_messages`.
        others: Ids of usable messages outside groups.
        names: The short name of each message id.
        findings: The expected findings by group: finding, epoch, feed and messages, all by name.
    """

    def __init__(self):
        """Start without lines."""
        self.lines, self.expected, self.others, self.names, self.findings = [], {}, set(), {}, {}

    def say(self, name, content, kind, reason=None, at=INVALID, *, key=None, **envelope):
        """Add a message with an expected row; `at` names its group and epoch."""
        self.names[message_id(name)] = name
        self.expected[message_id(name)] = (kind, reason, *(one and message_id(one) for one in at))
        self.lines.append(to_line(key or uri(name), content, **envelope))

    def other(self, name, content, **envelope):
        """Add a usable message that is not in `group_messages`."""
        self.names[message_id(name)] = name
        self.others.add(message_id(name))
        self.lines.append(to_line(uri(name), content, **envelope))

    def raw(self, *lines):
        """Add lines without a usable message."""
        self.lines += lines


class Story:
    """A group under construction. Message names are local to the story; feed names are global.

    In the group tangle, each message follows the messages named by `seen`, by default the last message.
    """

    def __init__(self, log, name, key=None):
        """Write the root of the group, named R."""
        self.log, self.name, self.last = log, name, "R"
        self.keys = {"R": key or key_of(name)}
        log.say(self.full("R"), root_init(self.keys["R"]), "root_init", None, [self.full("R")] * 2)
        log.findings[message_id(self.full("R"))] = set()

    def full(self, name):
        """Return the global name of a message; a name with a slash is already global."""
        return name if "/" in name else f"{self.name}/{name}"

    def by_id(self, names):
        """Sort names, given in one string, by message id."""
        return ", ".join(sorted(names.split(", "), key=lambda name: message_id(self.full(name))))

    def uris(self, names):
        """Return the URIs of names, given as one string."""
        return [uri(self.full(one)) for one in names.split(", ")]

    def in_group(self, seen=None):
        """Return the fields of the group tangle."""
        return place(uri(self.full("R")), *self.uris(seen or self.last))

    def epoch(self, name, after="R", key=None, seen=None, reason=None, **changes):
        """Start an epoch."""
        self.keys[name] = key or key_of(self.full(name))
        content = epoch_init(self.keys[name], self.in_group(seen), place(uri(self.full("R")), *self.uris(after)))
        self._say(name, content | changes, "epoch_init", reason, name)

    def add(self, name, epoch, feeds, after=None, seen=None, reason=None, **changes):
        """Add feeds, by names in one string, to an epoch."""
        members = place(uri(self.full(epoch)), *self.uris(after or epoch))
        content = add(self.keys[epoch], self.in_group(seen), members, map(feed, feeds.split(", ")))
        self._say(name, content | changes, "add", reason, epoch)

    def exclude(self, name, epoch, feeds, after=None, seen=None, reason=None, **changes):
        """Exclude feeds in an epoch."""
        members = place(uri(self.full(epoch)), *self.uris(after or epoch))
        content = exclude(self.in_group(seen), members, map(feed, feeds.split(", ")))
        self._say(name, content | changes, "exclude", reason, epoch)

    def _say(self, name, content, kind, reason, epoch):
        at = (None, None) if reason and not reason.startswith("un") else (self.full("R"), self.full(epoch))
        if reason in ("unknown_key", "unknown_tangle"):
            at = (None, None)
        self.log.say(self.full(name), content, kind, reason, at)
        self.last = name

    def finds(self, finding, epoch, feed_name, messages):
        """State an expected finding."""
        epoch = epoch and message_id(self.full(epoch))
        ids = tuple(message_id(self.full(one)) for one in messages.split(", "))
        feed_id = feed_name and feed(feed_name)
        self.log.findings[message_id(self.full("R"))].add((finding, epoch, feed_id, ids))


def tell_of_findings(log):
    """Write small groups, each with stated findings."""
    story = Story(log, "well")
    story.add("A", "R", "a, b")
    story.exclude("X", "R", "b", after="A")
    story.epoch("E")
    story.add("B", "E", "a")

    story = Story(log, "return")
    story.add("A", "R", "a, b, c")
    story.exclude("X", "R", "b", after="A")
    story.epoch("E")
    story.add("B", "E", "a, c")
    story.add("again", "E", "b", after="B")
    story.exclude("Y", "E", "c", after="again")
    story.epoch("F", after="E")
    story.add("C", "F", "a")
    story.finds("returned_though_excluded", "E", "b", "again")
    story.finds("dropped_after_return", "F", "b", "X, again, F")

    story = Story(log, "fork")
    story.add("A", "R", "a, b, c, d")
    story.exclude("X", "R", "b", after="A", seen="A")
    story.exclude("Y", "R", "c", after="A", seen="A")
    story.epoch("E", key=key_of("low", 1), seen="X")
    story.epoch("F", key=key_of("high", 2), seen="Y")
    story.add("B", "E", "a, c, d", seen="E")
    story.add("C", "F", "a, b, d", seen="F")
    for epoch, other, returned, by in (("E", "Y", "c", "B"), ("F", "X", "b", "C")):
        story.finds("foreign_exclude", epoch, None, other)
        story.finds("returned_though_excluded", epoch, returned, by)

    story = Story(log, "circle")
    for name, first, feeds in (("E", 1, "a, b, c"), ("F", 2, "a, d"), ("G", 3, "a, b")):
        story.epoch(name, key=key_of(name, first))
        story.add(f"add to {name}", name, feeds)
    story.finds("no_answer", "F", None, story.by_id("E, F, G"))

    story = Story(log, "strangers")
    for name, first, feeds in (("E", 2, "a"), ("F", 1, "b")):
        story.epoch(name, key=key_of(name, first))
        story.add(f"add to {name}", name, feeds)
    story.finds("no_answer", "F", None, story.by_id("E, F"))

    # Ids break ties of equal keys; the root has the same key.
    story = Story(log, "one key", key=key_of("shared"))
    for name in "EF":
        story.epoch(name, key=key_of("shared"))
        story.add(f"add to {name}", name, "a")
    story.finds("same_key", None, None, story.by_id("R, E, F"))


def tell_of_foreign_groups(log):
    """Write a group that names another one, a crowd of epochs, and a group with a common URI."""
    story = Story(log, "foreign")
    story.add("A", "R", "a", secret=key_of("another"))
    story.finds("foreign_key", "R", None, "A")
    story.add("in the air", "R", "b, a", after="nothing")
    story.finds("unconnected_add", "R", "b", "in the air")
    # The group tangle may name another group: the epoch tangle decides for inits, the members tangle for others.
    elsewhere = place(uri("well/R"), uri("well/R"))
    tangles = {"group": elsewhere, "epoch": place(uri("foreign/R"), uri("foreign/R")), "members": NULL}
    story.epoch("E", tangles=tangles)
    story.add("B", "E", "a", tangles={"group": elsewhere, "members": place(uri("foreign/E"), uri("foreign/E"))})
    story.exclude("X", "E", "a", tangles={"group": elsewhere, "members": place(uri("foreign/E"), uri("foreign/B"))})
    for name in "EBX":
        story.finds("foreign_group", "E", None, name)

    story = Story(log, "crowd")
    for name in CROWDED:
        story.epoch(name, key=key_of("crowd of keys"))
    for number in range(CROWD):
        story.add(f"A{number}", "R", "a", after="nothing")
    tips = story.by_id(", ".join(CROWDED))
    story.finds("same_key", None, None, tips)
    story.finds("no_answer", tips.partition(",")[0], None, tips)
    story.finds("unconnected_add", "R", "a", story.by_id(", ".join(f"A{number}" for number in range(CROWD))))

    # The usual URI of the group again.
    story = Story(log, "same uri")
    story.epoch("E")
    story.add("B", "E", "a")


def tell_of_graphs(log):
    """Write epochs that follow unknown ids, each other, and messages that are not epochs."""
    root = place(uri("graph/R"), uri("graph/R"))
    story = Story(log, "graph")
    story.epoch("twice", after="R, R")
    story.epoch("itself", after="itself", reason="unconnected_epoch")
    story.epoch("itself too", after="R, itself too", reason="unconnected_epoch")
    story.epoch("ring 1", after="ring 3", reason="unconnected_epoch")
    story.epoch("ring 2", after="ring 1", reason="unconnected_epoch")
    story.epoch("ring 3", after="ring 2, R", reason="unconnected_epoch")
    story.epoch("on the ring", after="R, ring 1", reason="unconnected_epoch")
    story.epoch("on nothing", after="R, nothing", reason="unconnected_epoch")
    story.epoch("on an add", after="A", reason="unconnected_epoch")
    story.add("A", "R", "a")
    story.add("to the ring", "ring 1", "a", reason="unknown_epoch")
    story.exclude("from the ring", "ring 1", "a", reason="unknown_epoch")
    # An entry that is not a string or not a reference is never present; the schema checks only the first entry.
    for number, junk in enumerate((7, None, {}, [], "", "\ud800", "x" * 100_000, "%", True)):
        tangles = {
            "group": root,
            "epoch": {"root": uri("graph/R"), "previous": [uri("graph/R"), junk]},
            "members": NULL,
        }
        story.epoch(f"junk {number}", reason="unconnected_epoch", tangles=tangles)
    # The tangle recipe makes these members of the epoch tangle, but their schema is not that of an epoch.
    story.epoch("invalid", reason="bad_version", version="v1")
    story.epoch("on the invalid", after="invalid", reason="unconnected_epoch")
    story.epoch("on both", after="R, invalid", reason="unconnected_epoch")
    story.add("to the invalid", "on the invalid", "a", reason="unknown_epoch")
    for name in ("invalid", "on the invalid", "on both"):
        story.finds("init_not_counted", name, None, name)


def tell_of_missing_starts(log):
    """Write messages of epochs and groups that have no valid root."""
    root = place(uri("graph/R"), uri("graph/R"))
    # The members tangle starts with an invalid init, a message of another kind, an unknown id, or the message itself.
    for name, start in (
        ("to an invalid", "graph/invalid"),
        ("to an add", "graph/A"),
        ("to nothing", "nothing"),
        ("to itself", "graph/to itself"),
    ):
        members = place(uri(start), uri(start))
        log.say(f"graph/{name}", add(key_of("k"), root, members, [feed("a")]), "add", "unknown_epoch", (None, start))
    members = place(uri("graph/excluded from itself"), uri("graph/R"))
    name = "graph/excluded from itself"
    log.say(name, exclude(root, members, [feed("a")]), "exclude", "unknown_epoch", (None, name))

    # Groups without a valid root: it is unknown, an epoch of another group, the init itself, or a post.
    for name, start in (
        ("rootless", "graph/never seen"),
        ("in an epoch", "graph/twice"),
        ("own root", "graph/own root"),
        ("in a post", "graph/post"),
        ("in an add", "graph/A"),
    ):
        content = epoch_init(key_of(name), root, place(uri(start), uri(start)))
        log.say(f"graph/{name}", content, "epoch_init", "unconnected_epoch", (start, f"graph/{name}"))
        members = place(uri(f"graph/{name}"), uri(f"graph/{name}"))
        content = add(key_of(name), root, members, [feed("a")])
        log.say(f"graph/add to {name}", content, "add", "unknown_epoch", (start, f"graph/{name}"))
    log.other("graph/post", {"type": "post", "text": "", "tangles": {"epoch": NULL, "group": NULL, "members": NULL}})

    # The version makes a root invalid. Its followers are in the tangle but outside every group.
    log.say("bad root/R", root_init(key_of("bad root"), version="v3"), "root_init", "bad_version")
    bad = place(uri("bad root/R"), uri("bad root/R"))
    content = epoch_init(key_of("bad root/E"), bad, bad)
    log.say("bad root/E", content, "epoch_init", "unconnected_epoch", ("bad root/R", "bad root/E"))
    log.findings[message_id("bad root/R")] = {
        ("init_not_counted", message_id(name), None, (message_id(name),)) for name in ("bad root/R", "bad root/E")
    }


MANY = 25_000


def tell_of_forms(log):
    """Write ids in all spellings, lists of all sizes, and junk in all fields."""
    story = Story(log, "forms")
    root = place(uri("forms/R"), uri("forms/R"))
    at = ("forms/R", "forms/R")
    tell_of_spellings(log, story, root, at)
    tell_of_lists(log, story, root, at)
    tell_of_odd_values(log, story, root, at)
    tell_of_other_types(log, root)


def tell_of_spellings(log, story, root, at):
    """Write ids and keys in all spellings."""
    sigil = place(message_id("forms/R"), message_id("forms/R"))
    # Keys of envelopes have either spelling; references in valid messages have only one.
    log.lines.append(to_line(message_id("forms/R"), root_init(story.keys["R"])))
    content = add(key_of("forms"), root, root, [feed("a")])
    log.say("forms/sigil key", content, "add", None, at, key=message_id("forms/sigil key"))
    log.say("forms/other uri", content, "add", None, at, key=uri("forms/other uri").replace("ssb:", "ssb://"))
    content = add(key_of("k"), sigil, root, [feed("a")], root=uri("forms/R"))
    log.say("forms/sigil group", content, "add", "bad_group_tangle")
    log.say("forms/sigil members", add(key_of("k"), root, sigil, [feed("a")]), "add", "bad_members_tangle")
    log.say("forms/sigil epoch", epoch_init(key_of("k"), root, sigil), "epoch_init", "bad_epoch_tangle")
    story.finds("init_not_counted", "sigil epoch", None, "sigil epoch")
    for name, bad in (
        ("slashes", uri("forms/R").replace("ssb:", "ssb://")),
        ("sha256", uri("forms/R").replace("classic", "sha256")),
        ("unpadded", uri("forms/R").rstrip("=")),
        ("newline", uri("forms/R") + "\n"),
        ("not canonical", uri("forms/R")[:-2] + "B="),
        ("space", " " + uri("forms/R")),
        ("bendy butt", uri("forms/R").replace("classic", "bendybutt-v1")),
    ):
        content = exclude(root, place(bad, uri("forms/R")), [feed("a")])
        log.say(f"forms/{name}", content, "exclude", "bad_members_tangle")

    # Keys.
    for name, bad in (
        ("hex", b64decode(key_of("k")).hex()),
        ("unpadded key", key_of("k").rstrip("=")),
        ("long key", b64encode(b"k" * 33).decode()),
        ("short key", b64encode(b"k" * 31).decode()),
        ("loose key", key_of("k")[:-2] + "B="),
        ("key and newline", key_of("k") + "\n"),
        ("key list", [key_of("k")]),
        ("surrogate key", "\ud800"),
        ("huge key", "A" * 1_000_000),
    ):
        log.say(f"forms/{name}", root_init(bad), "root_init", "bad_secret")
        log.say(f"forms/add {name}", add(bad, root, root, [feed("a")]), "add", "bad_secret")


def tell_of_lists(log, story, root, at):
    """Write lists of all sizes."""
    many = [feed(f"many {number}") for number in range(MANY)]
    log.say("forms/many", exclude(root, root, many), "exclude", None, at)
    assert MAX_LINE_BYTES * 3 // 4 < len(log.lines[-1]) < MAX_LINE_BYTES
    log.say("forms/many times", exclude(root, root, [feed("once")] * MANY), "exclude", None, at)
    too_many = exclude(root, root, [feed(f"too many {number}") for number in range(31_000)])
    log.raw(to_line(uri("forms/too long"), too_many))
    log.say("forms/15", add(key_of("forms"), root, root, many[:15]), "add", None, at)
    log.say("forms/16", add(key_of("forms"), root, root, many[:16]), "add", "bad_recps_count")
    log.say("forms/nobody", add(key_of("forms"), root, root, []), "add", "bad_recps_count")
    log.say("forms/nobody is out", exclude(root, root, []), "exclude", "bad_excludes")
    log.say("forms/two groups", exclude(root, root, [feed("a")], recps=[group("a")] * 2), "exclude", "bad_recps_count")
    empty = place(uri("forms/R"))
    log.say("forms/no previous", add(key_of("k"), root, empty, [feed("a")]), "add", "bad_members_tangle")
    log.say("forms/no group previous", add(key_of("k"), empty, root, [feed("a")]), "add", "bad_group_tangle")
    log.say("forms/no epoch before", epoch_init(key_of("k"), root, empty), "epoch_init", "bad_epoch_tangle")
    lists = [place(uri("forms/R"), *(uri(f"unknown {number}") for number in range(5_000))) for _ in "ab"]
    log.say("forms/wide", add(key_of("forms"), *lists, [feed("in the air")]), "add", None, at)
    story.finds("unconnected_add", "R", "in the air", "wide")


def tell_of_odd_values(log, story, root, at):
    """Write values that schemas do not check: names that a program could interpret, numbers, nested lists."""
    odd = [*HOSTILE, "\ud800", "\udfff", message_id("a"), "@a.ed25519"]
    listed = [feed("a"), *odd, 7, None, True, 1.5, {}, [], [[feed("b")]], {"a": feed("b")}, 10**30]
    log.say("forms/odd feeds", exclude(root, root, listed), "exclude", None, at)
    story.finds("unchecked_entry", "R", None, "odd feeds")
    previous = {"root": uri("forms/R"), "previous": [uri("forms/R"), *odd, 7, None, {}]}
    content = add(key_of("forms"), previous, previous, [feed("odd")], oldSecrets=[key_of("k"), *odd, 7])
    log.say("forms/odd previous", content, "add", None, at)
    story.finds("unchecked_entry", "R", None, "odd previous")
    story.finds("unconnected_add", "R", "odd", "odd previous")
    for number, text in enumerate(HOSTILE):
        content = exclude(root, root, [feed("a")])
        log.say(f"forms/group {number}", content | {"recps": [text]}, "exclude", "bad_recps")
        log.say(f"forms/key {number}", content | {f"{text}?": 7}, "exclude", "unknown_key")
        extra = {"group": root, "members": root, f"{text}?": 7}
        log.say(f"forms/tangle {number}", content | {"tangles": extra}, "exclude", "unknown_tangle")
        content = add(key_of("forms"), root, root, [feed("a")], text=text, tangles=extra)
        log.say(f"forms/free tangle {number}", content, "add", None, at)
    nested = {"group": root, "members": root, "deep": json.loads("[" * 500 + "]" * 500)}
    log.say("forms/nested", add(key_of("forms"), root, root, [feed("a")], tangles=nested), "add", None, at)
    content = root_init(key_of("k"), deep="?")
    log.say("forms/too deep", content, "root_init", "unknown_key")
    log.lines[-1] = log.lines[-1].replace(b'"?"', b"[" * 3000 + b"]" * 3000)
    log.say("forms/prototype", root_init(key_of("k")) | {"__proto__": {}}, "root_init", "unknown_key")


def tell_of_other_types(log, root):
    """Write messages of other types, and lines that are no messages."""
    for number, kind in enumerate(("group/other", "group/", "group/po-box", "Group/init", "group/init ", "", None, 7)):
        log.other(f"forms/type {number}", root_init(key_of("k")) | {"type": kind})
    log.other("forms/no type", {"tangles": {"group": NULL, "epoch": NULL, "members": NULL}})
    old = {"type": "group/add-member", "version": "v1", "groupKey": key_of("k"), "recps": [group("g"), "@a.ed25519"]}
    log.say("forms/version 1", old, "add", "bad_version")

    # A line that is not a message is absent from the table, with every content.
    whole = to_line(uri("forms/cut"), exclude(root, root, [feed("a")]))
    log.raw(whole[:-20], whole + b"}", b"[" + whole + b"]", json.dumps(exclude(root, root, [feed("a")])).encode())
    log.raw(to_line(uri("forms/author"), exclude(root, root, [feed("a")]), author=7))
    log.raw(to_line(uri("forms/sequence"), exclude(root, root, [feed("a")]), sequence="1"))


OPAQUE = 7


def tell_of_exports(log):
    """Write encrypted, decrypted and signed messages, and two messages with the same id."""
    story = Story(log, "exports")
    root = place(uri("exports/R"), uri("exports/R"))
    at = ("exports/R", "exports/R")
    sealed = b64encode(b"sealed").decode() + ".box2"
    for number in range(OPAQUE):
        log.other(f"exports/opaque {number}", sealed, author="@sealed", sequence=number)
    content = add(key_of("exports"), root, root, [feed("a")])
    meta = {"private": True, "originalContent": sealed}
    log.say("exports/new", content, "add", None, at, author="@sealed", meta=meta)
    old = {"cyphertext": sealed, "private": True, "unbox": key_of("k")}
    log.say("exports/old", content, "add", None, at, author="@sealed", value=old)
    original = {"meta": {"private": True, "original": {"content": sealed}}}
    log.say("exports/older", content, "add", None, at, author="@sealed", value=original)
    # One exporter decrypts the message and another does not.
    log.say("exports/both", content, "add", None, at, author="@sealed", meta=meta)
    log.lines.append(to_line(uri("exports/both"), sealed, author="@sealed"))
    # A decrypted post is not a group message; an invalid decryption leaves the sealed content.
    log.other("exports/post", {"type": "post", "text": ""}, author="@sealed", meta=meta)
    log.other("exports/broken", sealed, author="@sealed", meta={"private": True, "originalContent": sealed})

    # Ids of signed messages are hashes; the rules for their content are the same.
    writer = Author.from_seed("groups")
    own = "own id"
    for said, kind, reason, *ids in (
        (root_init(key_of("signed")), "root_init", None, own, own),
        (content, "add", None, *at),
        (content | {"junk": 7}, "add", "unknown_key", *INVALID),
        (exclude(root, root, [feed("a")]), "exclude", None, *at),
        (exclude(root, root, []), "exclude", "bad_excludes", *INVALID),
    ):
        message = writer.publish(said, 1)
        ids = [message["key"] if one is own else one and message_id(one) for one in ids]
        log.expected[message["key"]] = (kind, reason, *ids)
        log.lines.append(signed_line(message))
    signed = writer.publish(exclude(root, root, [feed("without envelope")]), 1)
    log.expected[signed["key"]] = ("exclude", None, *map(message_id, at))
    log.lines.append(json.dumps(signed["value"]).encode())

    # Two texts claim one id: one text counts, independent of the order of lines.
    for number in range(10):
        name = f"exports/twice {number}"
        log.say(name, exclude(root, root, [feed("one")]), "exclude", None, at, author="@b")
        log.say(name, exclude(root, root, [feed("other")]), "exclude", None, at, author="@a")
    story.finds("unchecked_entry", "R", None, "unchecked")
    log.say("exports/unchecked", exclude(root, root, [feed("a"), "not a feed"]), "exclude", None, at)


def tell_of_mutants(log):
    """Write each kind of message with each kind of junk in each field."""
    Story(log, "mutants")
    for kind, whole, places in mutated():
        for path, outcome in places.items():
            for number, junk in enumerate(JUNK):
                content = json.loads(json.dumps(whole))  # Tangles that were equal differ now.
                within = content
                for step in path[:-1]:
                    within = within[step]
                if junk is REMOVED:
                    del within[path[-1]]
                else:
                    within[path[-1]] = junk
                name = f"mutant {kind} {path} {number}"
                if path == ("type",):
                    log.other(name, content)
                    continue
                found = outcome(junk) if callable(outcome) else outcome
                to_kind, reason = found if isinstance(found, tuple) else (kind, found)
                in_group = name if to_kind == "root_init" else "mutants/R"
                epoch = name if to_kind.endswith("init") else "mutants/R"
                log.say(name, content, to_kind, reason, (in_group, epoch) if reason is None else INVALID)


def hostile_log():
    """Write all lines in another order than the stories."""
    log = GroupLog()
    tell_of_findings(log)
    tell_of_foreign_groups(log)
    tell_of_graphs(log)
    tell_of_missing_starts(log)
    tell_of_forms(log)
    tell_of_exports(log)
    tell_of_mutants(log)
    log.lines = random.Random("hostile").sample(log.lines, len(log.lines))
    return log
