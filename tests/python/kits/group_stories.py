"""Writes hostile private groups as lines of a log, with the expected result of each line.

`fixtures/ssb/group_examples.py` has an example of each reason and of each finding.
"""

import json
import random
from base64 import b64encode

from group_kit import (
    NULL,
    GroupLog,
    Story,
    add,
    epoch_init,
    exclude,
    feed,
    key_of,
    message_id,
    place,
    root_init,
    to_line,
    uri,
)
from hostile_lines import HOSTILE, MAX_LINE_BYTES

# More messages than a finding lists.
CROWD, LISTED = 120, 100
CROWDED = [f"E{number}" for number in range(CROWD)]


def tell_of_crowds(log):
    """Write a crowd of epochs, and a group with the URI of the others."""
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
        tangles = {"group": root, "epoch": place(uri("graph/R"), uri("graph/R"), junk), "members": NULL}
        story.epoch(f"junk {number}", reason="unconnected_epoch", tangles=tangles)


def tell_of_missing_starts(log):
    """Write messages of epochs and groups that have no valid root."""
    root = place(uri("graph/R"), uri("graph/R"))
    # The members tangle starts with a message of another kind, an unknown id, or the message itself.
    for name, start in (("to an add", "graph/A"), ("to nothing", "nothing"), ("to itself", "graph/to itself")):
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


MANY = 25_000


def tell_of_forms(log):
    """Write ids in all spellings, lists of all sizes, and junk in all fields."""
    story = Story(log, "forms")
    root = place(uri("forms/R"), uri("forms/R"))
    at = ("forms/R", "forms/R")
    tell_of_lists(log, story, root, at)
    tell_of_odd_values(log, story, root, at)
    tell_of_other_types(log, root)


def tell_of_lists(log, story, root, at):
    """Write an id in its other form, and lists of all sizes."""
    # Keys of envelopes have either form; references in valid messages have only one.
    log.lines.append(to_line(message_id("forms/R"), root_init(story.keys["R"])))
    content = add(key_of("forms"), root, root, [feed("a")])
    log.say("forms/sigil key", content, "add", None, at, key=message_id("forms/sigil key"))
    sigil = place(message_id("forms/R"), message_id("forms/R"))
    log.say("forms/sigil epoch", epoch_init(key_of("k"), root, sigil), "epoch_init", "bad_epoch_tangle")
    story.finds("init_not_counted", "sigil epoch", None, "sigil epoch")
    many = [feed(f"many {number}") for number in range(MANY)]
    log.say("forms/many", exclude(root, root, many), "exclude", None, at)
    assert MAX_LINE_BYTES * 3 // 4 < len(log.lines[-1]) < MAX_LINE_BYTES
    log.say("forms/many times", exclude(root, root, [feed("once")] * MANY), "exclude", None, at)
    too_many = exclude(root, root, [feed(f"too many {number}") for number in range(31_000)])
    log.lines.append(to_line(uri("forms/too long"), too_many))
    lists = [place(uri("forms/R"), *(uri(f"unknown {number}") for number in range(5_000))) for _ in "ab"]
    log.say("forms/wide", add(key_of("forms"), *lists, [feed("in the air")]), "add", None, at)
    story.finds("unconnected_add", "R", "in the air", "wide")


def tell_of_odd_values(log, story, root, at):
    """Write values that schemas do not check: names that a program could interpret, numbers, nested lists."""
    odd = [*HOSTILE, "\ud800", "\udfff", message_id("a"), "@a.ed25519"]
    listed = [feed("a"), *odd, 7, None, True, 1.5, {}, [], [[feed("b")]], {"a": feed("b")}, 10**30]
    log.say("forms/odd feeds", exclude(root, root, listed), "exclude", None, at)
    story.finds("unchecked_entry", "R", None, "odd feeds")
    previous = place(uri("forms/R"), uri("forms/R"), *odd, 7, None, {})
    content = add(key_of("forms"), previous, previous, [feed("odd")], oldSecrets=[key_of("k"), *odd, 7])
    log.say("forms/odd previous", content, "add", None, at)
    story.finds("unchecked_entry", "R", None, "odd previous")
    story.finds("unconnected_add", "R", "odd", "odd previous")
    for number, text in enumerate(HOSTILE):
        extra = {"group": root, "members": root, f"{text}?": 7}
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

    # A line that is not a message is absent from the table, with every content.
    content = exclude(root, root, [feed("a")])
    whole = to_line(uri("forms/cut"), content)
    log.lines += [whole[:-20], whole + b"}", b"[" + whole + b"]", json.dumps(content).encode()]
    log.lines.append(to_line(uri("forms/author"), content, author=7))
    log.lines.append(to_line(uri("forms/sequence"), content, sequence="1"))


OPAQUE = 7


def tell_of_exports(log):
    """Write encrypted and decrypted messages, and two messages with the same id."""
    Story(log, "exports")
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

    # Two texts claim one id: one text counts, independent of the order of lines.
    for number in range(10):
        name = f"exports/twice {number}"
        log.say(name, exclude(root, root, [feed("one")]), "exclude", None, at, author="@b")
        log.say(name, exclude(root, root, [feed("other")]), "exclude", None, at, author="@a")


def hostile_log():
    """Write all lines in another order than the stories."""
    log = GroupLog()
    tell_of_crowds(log)
    tell_of_graphs(log)
    tell_of_missing_starts(log)
    tell_of_forms(log)
    tell_of_exports(log)
    log.lines = random.Random("hostile").sample(log.lines, len(log.lines))
    return log
