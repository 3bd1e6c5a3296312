"""Validates contents of private group messages (private group specification, JSON schemas of the group types).

The rules are those that peers apply, including their gaps. Their JSON schemas declare most arrays as tuples: only the
first entry of ``excludes``, ``previous`` and ``oldSecrets`` has a pattern, and later entries may be anything. All
entries of ``recps`` are checked. A pattern matches the whole string, as a JavaScript ``$`` does without flags; Python's
``$`` would also match before a trailing newline.

The document of tangles in private groups writes these messages without keys, and with sigils. Such a
content has the form of the document, and the recipes of the document alone judge it.

Source: private group specification, JSON schemas of ``group/init`` (root and epoch), ``group/add-member`` and
``group/exclude-member``; seed 000, "Members tangle", "Epoch tangle" and "Group tangle".
"""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import a2b_base64
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from dbt_tangles.columns.group_kinds import ADD, EPOCH_INIT, EXCLUDE, ROOT_INIT
from dbt_tangles.formats.ssb.envelope import opening_key
from dbt_tangles.formats.ssb.ids import normalise_feed, referenced_id
from dbt_tangles.formats.ssb.redact import fingerprint
from dbt_tangles.kernel_runtime.row_schema import Int32
from dbt_tangles.reasons import GroupReason

VERSION = "v2"
MIN_ADD_RECPS, MAX_ADD_RECPS = 2, 16

_DIGEST = r"[a-zA-Z0-9_-]{42}[AEIMQUYcgkosw048]="
_MESSAGE = re.compile(rf"ssb:message/classic/{_DIGEST}")
_FEED = re.compile(rf"ssb:feed/bendybutt-v1/{_DIGEST}")
_GROUP = re.compile(rf"ssb:identity/group/{_DIGEST}")
_SECRET = re.compile(r"[a-zA-Z0-9/+]{42}[AEIMQUYcgkosw048]=")


class _Schema(NamedTuple):
    """The schema of a kind."""

    keys: frozenset[str]  # all keys that a content may have
    recps: tuple[int, int]  # the least and the most recipients
    tangles: dict[
        str, bool
    ]  # the tangles that a content needs: whether it follows messages there, or starts the tangle
    is_closed: bool  # whether it may have no other tangles


_INIT = frozenset({"type", "version", "secret", "tangles"})
_SCHEMAS = {
    ROOT_INIT: _Schema(_INIT, (0, 0), {"group": False, "epoch": False, "members": False}, True),
    EPOCH_INIT: _Schema(_INIT | {"recps"}, (2, 2), {"group": True, "epoch": True, "members": False}, True),
    ADD: _Schema(
        _INIT | {"recps", "oldSecrets", "root", "creator", "text"},
        (MIN_ADD_RECPS, MAX_ADD_RECPS),
        {"group": True, "members": True},
        False,
    ),
    EXCLUDE: _Schema(
        frozenset({"type", "excludes", "recps", "tangles"}), (1, 1), {"group": True, "members": True}, True
    ),
}
#: The keys of a content in the form of the document that name its feeds, one or a list; the first present counts.
_DOCUMENT_FEEDS = {ADD: ("add", "feeds", "members", "recps"), EXCLUDE: ("exclude", "excludes", "remove")}
#: How the id of a group begins, which may stand among these feeds.
_GROUP_IDS = ("ssb:identity/group/", "%")
_TANGLE_REASONS = {
    "group": GroupReason.BAD_GROUP_TANGLE,
    "epoch": GroupReason.BAD_EPOCH_TANGLE,
    "members": GroupReason.BAD_MEMBERS_TANGLE,
}


class GroupClaim(NamedTuple):
    """The validated content of a group type; the fields of the struct ``group_claim``. It holds no secret."""

    kind: str  # `root_init`, `epoch_init`, `add` or `exclude`; for an invalid content, the nearest kind
    invalid_reason: GroupReason | None = None  # the first violated rule, if any; all later fields are then empty
    group_uri: str | None = None  # the group id in the first recipient (an untrusted name); not of a root init
    group_root: str | None = None  # root of the group tangle; not of a root init, whose own id is the root
    epoch_root: str | None = None  # root of the epoch tangle; epoch inits only
    # The previous of the epoch tangle of an epoch init, with duplicates; null for an entry that is no message id.
    previous_epochs: list[str | None] | None = None
    epoch_id: str | None = None  # the epoch of an add or exclude, the root of its members tangle
    key_fingerprint: str | None = None  # of the epoch's secret: the new one (inits) or the one handed out (adds)
    feeds: tuple[str, ...] = ()  # the added or excluded feeds, distinct, in their order; strings only
    author_root: str | None = None  # the root feed of the author, as given by an epoch init
    # The entries that violate the pattern of the first entry of their list, and that peers accept unchecked.
    unchecked_count: Int32 = 0
    sealed_with: str | None = None  # see the function `sealed_with`, which finds it

    def with_strings(self, convert: Callable[[str], str]) -> GroupClaim:
        """Return a copy with all strings from the content converted; feeds that become equal are merged."""
        names = ("group_uri", "group_root", "epoch_root", "epoch_id", "author_root")
        texts = {name: convert(text) for name in names if (text := getattr(self, name)) is not None}
        previous = self.previous_epochs and [
            other if other is None else convert(other) for other in self.previous_epochs
        ]
        feeds = tuple(dict.fromkeys(map(convert, self.feeds)))
        return self._replace(previous_epochs=previous, feeds=feeds, **texts)


def group_claim(content: Any) -> GroupClaim | None:
    """Validate a content.

    Args:
        content: Any JSON value, with its secrets.

    Returns:
        The claim or the reason why it is invalid; absent if the content has no group type (an encrypted or unrelated
        message). References to messages are normalised to the sigil form.
    """
    kind = _kind(content)
    if kind is None:
        return None
    is_of_document = _is_of_document(content, kind)
    reason = None if is_of_document else _violation(content, kind)
    if reason is not None:
        return GroupClaim(kind, reason)
    tangles = content["tangles"]
    roots = {name: referenced_id(tangles[name]["root"]) for name, follows in _SCHEMAS[kind].tangles.items() if follows}
    previous = tangles["epoch"]["previous"] if kind == EPOCH_INIT else None
    claim = GroupClaim(
        kind,
        group_root=roots.get("group"),
        epoch_root=roots.get("epoch"),
        previous_epochs=previous and [referenced_id(entry) if type(entry) is str else None for entry in previous],
        epoch_id=roots.get("members"),
    )
    if is_of_document:
        named = next((content[key] for key in _DOCUMENT_FEEDS.get(kind, ()) if key in content), [])
        listed = [each for each in (named if type(named) is list else [named]) if type(each) is str]
        return claim._replace(feeds=_distinct(normalise_feed(f) for f in listed if not f.startswith(_GROUP_IDS)))
    recps = content.get("recps", ())
    return claim._replace(
        group_uri=recps[0] if recps else None,
        key_fingerprint=None if kind == EXCLUDE else fingerprint(content["secret"]),
        feeds=_distinct({ADD: recps[1:], EXCLUDE: content.get("excludes")}.get(kind, ())),
        author_root=recps[1] if kind == EPOCH_INIT else None,
        unchecked_count=_unchecked(_FEED, content.get("excludes", ()))
        + _unchecked(_SECRET, content.get("oldSecrets", ()))
        + sum(_unchecked(_MESSAGE, tangles[name]["previous"]) for name in roots),
    )


def _distinct(feeds: Iterable[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(feed for feed in feeds if type(feed) is str))


def epoch_key(content: Any, claim: GroupClaim | None) -> bytes | None:
    """Return the secret of a valid init, of 32 bytes; peers break ties between epochs by its order.

    The result is secret and must stay in staging.

    Args:
        content: Any JSON value, with its secrets.
        claim: The result of `group_claim`.
    """
    is_init = claim is not None and claim.key_fingerprint is not None and claim.kind in (ROOT_INIT, EPOCH_INIT)
    return a2b_base64(content["secret"]) if is_init else None


def sealed_with(content: dict[str, Any], envelope: Any, author: Any, previous: Any) -> str | None:
    """Find the key that opens a valid message's envelope, among the keys that the message hands out.

    Args:
        content: A content that `group_claim` finds valid, with its secrets.
        envelope: The content as signed, of any type.
        author: The feed of the message.
        previous: The id of the previous message of that feed; null for the first.

    Returns:
        The key's fingerprint: of the secret of an init or add, or of an older secret of an add. Absent without an
        envelope, or if another key opens it.
    """
    old = content.get("oldSecrets", ())
    secrets = (secret for secret in (content.get("secret"), *old) if _matches(_SECRET, secret))
    key = opening_key(envelope, author, previous, map(a2b_base64, secrets))
    return None if key is None else fingerprint(b64encode(key).decode())


def _is_of_document(content: dict[str, Any], kind: str) -> bool:
    """Whether a content has no keys, and its tangles are as the document has them, with sigils."""
    schema = _SCHEMAS[kind]._replace(is_closed=False)
    has_keys = "secret" in content or "oldSecrets" in content
    return not has_keys and _tangle_violation(content.get("tangles"), schema, _follows_by_sigils) is None


def _kind(content: Any) -> str | None:
    """Return the kind of a content, if it has a group type. An invalid init gets the kind that it resembles more."""
    if type(content) is not dict:
        return None
    match content:
        case {"type": "group/init", "tangles": {"group": {**group}}} if group.get("root") is None:
            return ROOT_INIT  # Only a root init has a null root in its group tangle.
        case {"type": "group/init"}:
            return EPOCH_INIT
        case {"type": "group/add-member"}:
            return ADD
        case {"type": "group/exclude-member"}:
            return EXCLUDE
    return None


def _violation(content: dict[str, Any], kind: str) -> GroupReason | None:
    """Return the first rule of its kind that a content violates."""
    schema = _SCHEMAS[kind]
    if kind != EXCLUDE:
        if content.get("version") != VERSION:
            return GroupReason.BAD_VERSION
        if not _matches(_SECRET, content.get("secret")):
            return GroupReason.BAD_SECRET
    if not content.keys() <= schema.keys:
        return GroupReason.UNKNOWN_KEY
    if kind == ADD:
        old = content.get("oldSecrets", [])
        if type(old) is not list or (old and not _matches(_SECRET, old[0])):
            return GroupReason.BAD_OLD_SECRETS
        if not _matches(_MESSAGE, content.get("root")):
            return GroupReason.BAD_ROOT
        if not _matches(_FEED, content.get("creator")):
            return GroupReason.BAD_CREATOR
        if type(content.get("text", "")) is not str:
            return GroupReason.BAD_TEXT
    if kind == EXCLUDE and not _begins_with(_FEED, content.get("excludes")):
        return GroupReason.BAD_EXCLUDES
    return _recps_violation(content.get("recps", []), schema) or _tangle_violation(content.get("tangles"), schema)


def _recps_violation(recps: Any, schema: _Schema) -> GroupReason | None:
    least, most = schema.recps
    if type(recps) is not list or not least <= len(recps) <= most:
        return GroupReason.BAD_RECPS_COUNT
    if recps and not (_matches(_GROUP, recps[0]) and all(_matches(_FEED, feed) for feed in recps[1:])):
        return GroupReason.BAD_RECPS
    return None


def _follows_by_uris(root: Any, previous: Any) -> bool:
    return _matches(_MESSAGE, root) and _begins_with(_MESSAGE, previous)


def _follows_by_sigils(root: Any, previous: Any) -> bool:
    ids = [root, *previous] if type(previous) is list and previous else [None]
    return all(type(entry) is str and entry[:1] == "%" and referenced_id(entry) is not None for entry in ids)


def _tangle_violation(
    tangles: Any, schema: _Schema, follows_well: Callable[[Any, Any], bool] = _follows_by_uris
) -> GroupReason | None:
    if type(tangles) is not dict or not schema.tangles.keys() <= tangles.keys():
        return GroupReason.BAD_TANGLES
    if schema.is_closed and len(tangles) > len(schema.tangles):
        return GroupReason.UNKNOWN_TANGLE
    for name, follows in schema.tangles.items():
        fields = tangles[name] if type(tangles[name]) is dict else {}
        root, previous = fields.get("root", 0), fields.get("previous", 0)
        if not (follows_well(root, previous) if follows else root is None and previous is None):
            return _TANGLE_REASONS[name]
    return None


def _begins_with(pattern: re.Pattern[str], entries: Any) -> bool:
    """Whether a value is a list with a first entry of a pattern; peers do not check the others."""
    return type(entries) is list and bool(entries) and _matches(pattern, entries[0])


def _unchecked(pattern: re.Pattern[str], entries: Any) -> int:
    return sum(not _matches(pattern, entry) for entry in entries)


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    return type(value) is str and pattern.fullmatch(value) is not None
