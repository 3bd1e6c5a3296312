"""Builds messages of private groups from short names; a message can refer to any message, itself included.

Ids, feeds and keys are hashes of their names. The builders return valid contents, which tests break.
"""

import json
from base64 import b64decode, b64encode, urlsafe_b64encode
from hashlib import sha256

from dbt_tangles.formats.ssb.ids import normalise

NULL = {"root": None, "previous": None}


def digest(name):
    """Return the 32 bytes of a name."""
    return sha256(name.encode()).digest()


def _coded(name):
    return urlsafe_b64encode(digest(name)).decode()


def uri(name):
    """Return the URI of a message."""
    return f"ssb:message/classic/{_coded(name)}"


def message_id(name):
    """Return the id of a message in the tables."""
    return normalise(uri(name))


def feed(name):
    """Return the URI of a feed."""
    return f"ssb:feed/bendybutt-v1/{_coded(name)}"


def group(name):
    """Return the URI of a group."""
    return f"ssb:identity/group/{_coded(name)}"


def key_of(name, first=None):
    """Return a secret; `first` sets its first bytes, and so the order of keys."""
    raw = digest(f"secret of {name}")
    return b64encode(raw if first is None else bytes([first]) + raw[1:]).decode()


def fingerprint_of(key):
    """Return the fingerprint that the tables have in place of a secret."""
    return sha256(b64decode(key)).hexdigest()[:16]


def place(root, *previous):
    """Build the fields of a tangle."""
    return {"root": root, "previous": list(previous)}


def root_init(key, **changes):
    """Build the content that starts a group."""
    tangles = {"group": NULL, "epoch": NULL, "members": NULL}
    return {"type": "group/init", "version": "v2", "secret": key, "tangles": tangles} | changes


def epoch_init(key, in_group, epoch, by="someone", **changes):
    """Build the content that starts an epoch, with its fields in the group tangle and the epoch tangle."""
    tangles = {"group": in_group, "epoch": epoch, "members": NULL}
    recps = [group("of all"), feed(by)]
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
    """Build the content that excludes feeds, given by URI."""
    tangles = {"group": in_group, "members": members}
    return {
        "type": "group/exclude-member",
        "excludes": list(feeds),
        "recps": [group("of all")],
        "tangles": tangles,
    } | changes


def to_line(key, content, author="@writer", sequence=1, value=None, **envelope):
    """Print an unsigned message."""
    value = {"author": author, "sequence": sequence, "content": content} | (value or {})
    return json.dumps({"key": key, "value": value, "timestamp": 1} | envelope).encode()
