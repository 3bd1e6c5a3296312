"""Contents of group messages, each with a secret."""

import base64
import hashlib

RAW = bytes(range(32))
SECRET = base64.b64encode(RAW).decode()
FINGERPRINT = hashlib.sha256(RAW).hexdigest()[:16]


def uri(kind, name):
    """A made-up URI."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(name.encode()).digest()).decode()
    return f"ssb:{kind}/{digest}"


ROOT, EPOCH, MESSAGE = (uri("message/classic", name) for name in ("root", "epoch", "message"))
ALICE, BOB = (uri("feed/bendybutt-v1", name) for name in ("alice", "bob"))
GROUP = uri("identity/group", "group")
NULLS = {"root": None, "previous": None}
INIT = {"type": "group/init", "version": "v2", "secret": SECRET}
ROOT_INIT = {**INIT, "tangles": {"group": NULLS, "epoch": NULLS, "members": NULLS}}
EPOCH_INIT = {
    **INIT,
    "recps": [GROUP, ALICE],
    "tangles": {
        "group": {"root": ROOT, "previous": [MESSAGE]},
        "epoch": {"root": ROOT, "previous": [EPOCH]},
        "members": NULLS,
    },
}
STATEMENT_TANGLES = {
    "group": {"root": ROOT, "previous": [MESSAGE]},
    "members": {"root": EPOCH, "previous": [MESSAGE]},
}
ADD = {
    "type": "group/add-member",
    "version": "v2",
    "secret": SECRET,
    "oldSecrets": [SECRET],
    "root": ROOT,
    "creator": ALICE,
    "text": "welcome",
    "recps": [GROUP, ALICE, BOB],
    "tangles": STATEMENT_TANGLES,
}
EXCLUDE = {"type": "group/exclude-member", "excludes": [BOB], "recps": [GROUP], "tangles": STATEMENT_TANGLES}
PO_BOX = {"type": "group/po-box", "keys": {"scheme": "x", "poBoxId": "x", "key": SECRET}, "recps": [GROUP]}
VERSION_1 = {"type": "group/add-member", "version": "v1", "groupKey": SECRET, "root": ROOT, "recps": [GROUP, ALICE]}


def places(value, path=()):
    """The paths to all parts of a value."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from places(entry, (*path, key))
