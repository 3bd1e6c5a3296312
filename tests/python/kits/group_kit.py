"""Builds messages of private groups from short names; a message can refer to any message, itself included.

Ids, feeds and keys are hashes of their names. The builders return valid contents, which tests break.
"""

import json
from base64 import b64decode, b64encode, urlsafe_b64encode
from hashlib import sha256

from dbt_tangles.formats.ssb.ids import normalise

NULL = {"root": None, "previous": None}


def digest(name):
    return sha256(name.encode()).digest()


def _coded(name):
    return urlsafe_b64encode(digest(name)).decode()


def uri(name):
    return f"ssb:message/classic/{_coded(name)}"


def message_id(name):
    """Return the id of a message in the tables."""
    return normalise(uri(name))


def feed(name):
    return f"ssb:feed/bendybutt-v1/{_coded(name)}"


def group(name):
    return f"ssb:identity/group/{_coded(name)}"


def key_of(name):
    return b64encode(digest(f"secret of {name}")).decode()


def fingerprint_of(key):
    """Return the fingerprint that the tables have in place of a secret."""
    return sha256(b64decode(key)).hexdigest()[:16]


def place(root, *previous):
    """Build the fields of a tangle."""
    return {"root": root, "previous": list(previous)}


def root_init(key, **changes):
    tangles = {"group": NULL, "epoch": NULL, "members": NULL}
    return {"type": "group/init", "version": "v2", "secret": key, "tangles": tangles} | changes


def epoch_init(key, in_group, epoch, **changes):
    """Build the content that starts an epoch, with its fields in the group tangle and the epoch tangle."""
    tangles = {"group": in_group, "epoch": epoch, "members": NULL}
    recps = [group("of all"), feed("someone")]
    return {"type": "group/init", "version": "v2", "secret": key, "recps": recps, "tangles": tangles} | changes


def add(key, in_group, members, feeds, **changes):
    """Build the content that adds feeds, given by URI."""
    return {
        "type": "group/add-member",
        "version": "v2",
        "secret": key,
        "oldSecrets": [],
        "root": in_group["root"],
        "creator": feed("creator"),
        "recps": [group("of all"), *feeds],
        "tangles": {"group": in_group, "members": members},
    } | changes


def exclude(in_group, members, feeds, **changes):
    tangles = {"group": in_group, "members": members}
    return {
        "type": "group/exclude-member",
        "excludes": list(feeds),
        "recps": [group("of all")],
        "tangles": tangles,
    } | changes


#: Contents with one secret.
RAW = bytes(range(32))
SECRET = b64encode(RAW).decode()
_UPDATE, _MEMBERS = place(uri("root"), uri("message")), place(uri("epoch"), uri("message"))
ROOT_INIT = root_init(SECRET)
EPOCH_INIT = epoch_init(SECRET, _UPDATE, place(uri("root"), uri("epoch")))
ADD = add(SECRET, _UPDATE, _MEMBERS, [feed("alice"), feed("bob")], oldSecrets=[SECRET], text="welcome")
EXCLUDE = exclude(_UPDATE, _MEMBERS, [feed("bob")])
PO_BOX = {"type": "group/po-box", "keys": {"scheme": "x", "poBoxId": "x", "key": SECRET}, "recps": [group("of all")]}
VERSION_1 = {**EXCLUDE, "type": "group/add-member", "version": "v1", "groupKey": SECRET}


def places(value, path=()):
    """Yield the paths to all parts of a value."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from places(entry, (*path, key))


def to_line(key, content, author="@writer", sequence=1, value=None, **envelope):
    value = {"author": author, "sequence": sequence, "content": content} | (value or {})
    return json.dumps({"key": key, "value": value, "timestamp": 1} | envelope).encode()


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
        self.lines, self.expected, self.others, self.names, self.findings = [], {}, set(), {}, {}

    def say(self, name, content, kind, reason=None, at=(None, None), *, key=None, **envelope):
        """Add a message with an expected row; `at` names its group and epoch, of which an invalid message has none."""
        self.names[message_id(name)] = name
        self.expected[message_id(name)] = (kind, reason, *(one and message_id(one) for one in at))
        self.lines.append(to_line(key or uri(name), content, **envelope))

    def other(self, name, content, **envelope):
        """Add a usable message that is not in `group_messages`."""
        self.names[message_id(name)] = name
        self.others.add(message_id(name))
        self.lines.append(to_line(uri(name), content, **envelope))


class Story:
    """A group under construction. Message names are local to the story; feed names are global.

    In the group tangle, each message follows the last message.
    """

    def __init__(self, log, name):
        self.log, self.name, self.last = log, name, "R"
        self.keys = {"R": key_of(name)}
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

    def in_group(self):
        """Return the fields of the group tangle."""
        return place(uri(self.full("R")), uri(self.full(self.last)))

    def epoch(self, name, after="R", key=None, reason=None, **changes):
        """Start an epoch."""
        self.keys[name] = key or key_of(self.full(name))
        content = epoch_init(self.keys[name], self.in_group(), place(uri(self.full("R")), *self.uris(after)))
        self._say(name, content | changes, "epoch_init", reason, name)

    def add(self, name, epoch, feeds, after=None, reason=None):
        """Add feeds, by names in one string, to an epoch."""
        members = place(uri(self.full(epoch)), *self.uris(after or epoch))
        content = add(self.keys[epoch], self.in_group(), members, map(feed, feeds.split(", ")))
        self._say(name, content, "add", reason, epoch)

    def exclude(self, name, epoch, feeds, reason=None):
        """Exclude feeds in an epoch."""
        members = place(uri(self.full(epoch)), uri(self.full(epoch)))
        content = exclude(self.in_group(), members, map(feed, feeds.split(", ")))
        self._say(name, content, "exclude", reason, epoch)

    def _say(self, name, content, kind, reason, epoch):
        self.log.say(self.full(name), content, kind, reason, (self.full("R"), self.full(epoch)))
        self.last = name

    def finds(self, finding, epoch, feed_name, messages):
        """State an expected finding."""
        epoch = epoch and message_id(self.full(epoch))
        ids = tuple(message_id(self.full(one)) for one in messages.split(", "))
        feed_id = feed_name and feed(feed_name)
        self.log.findings[message_id(self.full("R"))].add((finding, epoch, feed_id, ids))
