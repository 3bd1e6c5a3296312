"""Validates contents of private group messages (private group specification, JSON schemas of the group types).

The rules are those that peers apply, including their gaps. Their JSON schemas declare most arrays as tuples: only the
first entry of ``excludes``, ``previous`` and ``oldSecrets`` has a pattern, and later entries may be anything. All
entries of ``recps`` are checked. A pattern matches the whole string, as a JavaScript ``$`` does without flags; Python's
``$`` would also match before a trailing newline.

Source: private group specification, JSON schemas of ``group/init`` (root and epoch), ``group/add-member`` and
``group/exclude-member``.
"""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import a2b_base64
from collections.abc import Callable
from typing import Any, NamedTuple

from dbt_tangles.formats.ssb.envelope import opening_key
from dbt_tangles.formats.ssb.ids import referenced_id
from dbt_tangles.formats.ssb.redact import fingerprint
from dbt_tangles.kernel_runtime.row_schema import Int32
from dbt_tangles.reasons import GroupReason

ROOT_INIT, EPOCH_INIT, ADD, EXCLUDE = "root_init", "epoch_init", "add", "exclude"
VERSION = "v2"
MIN_ADD_RECPS, MAX_ADD_RECPS = 2, 16

_DIGEST = r"[a-zA-Z0-9_-]{42}[AEIMQUYcgkosw048]="
_MESSAGE = re.compile(rf"ssb:message/classic/{_DIGEST}")
_FEED = re.compile(rf"ssb:feed/bendybutt-v1/{_DIGEST}")
_GROUP = re.compile(rf"ssb:identity/group/{_DIGEST}")
_SECRET = re.compile(r"[a-zA-Z0-9/+]{42}[AEIMQUYcgkosw048]=")

_ROOT_INIT_KEYS = frozenset({"type", "version", "secret", "tangles"})
_EPOCH_INIT_KEYS = _ROOT_INIT_KEYS | {"recps"}
_ADD_KEYS = _EPOCH_INIT_KEYS | {"oldSecrets", "root", "creator", "text"}
_EXCLUDE_KEYS = frozenset({"type", "excludes", "recps", "tangles"})
_INIT_TANGLES = frozenset({"group", "epoch", "members"})
_STATEMENT_TANGLES = frozenset({"group", "members"})

_UNJUDGED: Any = object()


class GroupClaim(NamedTuple):
    """The validated content of a group type; the fields of the struct ``group_claim``. It holds no secret.

    Attributes:
        kind: `root_init`, `epoch_init`, `add` or `exclude`; for an invalid content, the nearest kind.
        invalid_reason: The first violated rule, if any; all later fields are then empty.
        group_uri: The group id in the first recipient (an untrusted name); absent for a root init.
        group_root: Root of the group tangle; absent for a root init, whose own id is the root.
        epoch_root: Root of the epoch tangle; epoch inits only.
        previous_epochs: The previous of the epoch tangle of an epoch init, with duplicates; null stands for an entry
            that is not a message id. Absent for other kinds.
        epoch_id: The epoch that an add or exclude belongs to, the root of its members tangle.
        key_fingerprint: Fingerprint of the epoch's secret: the new one (inits) or the one handed out (adds).
        feeds: The added or excluded feeds, as given, distinct, in their order; entries that are not strings are
            dropped.
        author_root: The root feed of the author, as given by an epoch init.
        unchecked_count: Number of entries that violate the pattern of the first entry of their list, and that peers
            accept unchecked: in ``excludes``, ``oldSecrets``, and ``previous`` of the tangles of the kind.
        sealed_with: Fingerprint of the key that opens the message's envelope, if the message itself hands out that key;
            `group_claim` leaves it to the function `sealed_with`.
    """

    kind: str
    invalid_reason: GroupReason | None = None
    group_uri: str | None = None
    group_root: str | None = None
    epoch_root: str | None = None
    previous_epochs: list[str | None] | None = None
    epoch_id: str | None = None
    key_fingerprint: str | None = None
    feeds: tuple[str, ...] = ()
    author_root: str | None = None
    unchecked_count: Int32 = 0
    sealed_with: str | None = None

    def with_strings(self, convert: Callable[[str], str]) -> GroupClaim:
        """Return a copy with all strings from the content converted; feeds that become equal are merged."""

        def convert_any(string: str | None) -> str | None:
            return None if string is None else convert(string)

        previous = self.previous_epochs
        return self._replace(
            group_uri=convert_any(self.group_uri),
            group_root=convert_any(self.group_root),
            epoch_root=convert_any(self.epoch_root),
            previous_epochs=None if previous is None else [convert_any(reference) for reference in previous],
            epoch_id=convert_any(self.epoch_id),
            feeds=tuple(dict.fromkeys(map(convert, self.feeds))),
            author_root=convert_any(self.author_root),
        )


def group_claim(content: Any) -> GroupClaim | None:
    """Validate a content.

    Args:
        content: Any JSON value, with its secrets.

    Returns:
        The claim or the reason why it is invalid; absent if the content has no group type (an encrypted or unrelated
        message). References to messages are normalised to the sigil form.
    """
    if type(content) is not dict:
        return None
    kind = content.get("type")
    if kind == "group/init":
        return _init(content)
    if kind == "group/add-member":
        return _add(content)
    if kind == "group/exclude-member":
        return _exclude(content)
    return None


def epoch_key(content: Any, message: GroupClaim | None = _UNJUDGED) -> bytes | None:
    """Return the secret of a valid init; peers break ties between epochs by its order.

    The result is secret and must stay in staging.

    Args:
        content: Any JSON value, with its secrets.
        message: The result of `group_claim`, if already known.

    Returns:
        Its 32 bytes, if the content is a valid init.
    """
    if message is _UNJUDGED:
        message = group_claim(content)
    if message is None or message.invalid_reason is not None or message.kind not in (ROOT_INIT, EPOCH_INIT):
        return None
    return a2b_base64(content["secret"])


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


def _init(content: dict[str, Any]) -> GroupClaim:
    tangles = content.get("tangles")
    # Only a root init has a null root in its group tangle. An invalid init gets the kind that it resembles more.
    group = tangles.get("group") if type(tangles) is dict else None
    is_root = type(group) is dict and group.get("root") is None
    kind = ROOT_INIT if is_root else EPOCH_INIT
    fields_reason = _null_fields if is_root else _update_fields
    reason = (
        _header(content)
        or _unknown_key(content, _ROOT_INIT_KEYS if is_root else _EPOCH_INIT_KEYS)
        or (None if is_root else _recps(content, 2, 2))
        or _tangles(tangles, _INIT_TANGLES, closed=True)
        or fields_reason(tangles, "group", GroupReason.BAD_GROUP_TANGLE)
        or fields_reason(tangles, "epoch", GroupReason.BAD_EPOCH_TANGLE)
        or _null_fields(tangles, "members", GroupReason.BAD_MEMBERS_TANGLE)
    )
    if reason is not None:
        return GroupClaim(kind, reason)
    key_fingerprint = fingerprint(content["secret"])
    if is_root:
        return GroupClaim(kind, key_fingerprint=key_fingerprint)
    group, epoch = tangles["group"], tangles["epoch"]
    return GroupClaim(
        kind,
        group_uri=content["recps"][0],
        group_root=referenced_id(group["root"]),
        epoch_root=referenced_id(epoch["root"]),
        previous_epochs=[referenced_id(entry) if type(entry) is str else None for entry in epoch["previous"]],
        key_fingerprint=key_fingerprint,
        author_root=content["recps"][1],
        unchecked_count=_unchecked(_MESSAGE, group["previous"]) + _unchecked(_MESSAGE, epoch["previous"]),
    )


def _add(content: dict[str, Any]) -> GroupClaim:
    reason = (
        _header(content)
        or _unknown_key(content, _ADD_KEYS)
        or _old_secrets(content)
        or (None if _matches(_MESSAGE, content.get("root")) else GroupReason.BAD_ROOT)
        or (None if _matches(_FEED, content.get("creator")) else GroupReason.BAD_CREATOR)
        or (None if type(content.get("text", "")) is str else GroupReason.BAD_TEXT)
        or _recps(content, MIN_ADD_RECPS, MAX_ADD_RECPS)
        or _statement_tangles(content, closed=False)
    )
    if reason is not None:
        return GroupClaim(ADD, reason)
    message = _statement(ADD, content, content["recps"][1:], _unchecked(_SECRET, content.get("oldSecrets", ())))
    return message._replace(key_fingerprint=fingerprint(content["secret"]))


def _exclude(content: dict[str, Any]) -> GroupClaim:
    excludes = content.get("excludes")
    are_excludes = type(excludes) is list and excludes and _matches(_FEED, excludes[0])
    reason = (
        _unknown_key(content, _EXCLUDE_KEYS)
        or (None if are_excludes else GroupReason.BAD_EXCLUDES)
        or _recps(content, 1, 1)
        or _statement_tangles(content, closed=True)
    )
    if reason is not None:
        return GroupClaim(EXCLUDE, reason)
    return _statement(EXCLUDE, content, content["excludes"], _unchecked(_FEED, content["excludes"]))


def _statement(kind: str, content: dict[str, Any], feeds: list[Any], unchecked_count: int) -> GroupClaim:
    group, members = content["tangles"]["group"], content["tangles"]["members"]
    return GroupClaim(
        kind,
        group_uri=content["recps"][0],
        group_root=referenced_id(group["root"]),
        epoch_id=referenced_id(members["root"]),
        feeds=tuple(dict.fromkeys(feed for feed in feeds if type(feed) is str)),
        unchecked_count=(
            unchecked_count + _unchecked(_MESSAGE, group["previous"]) + _unchecked(_MESSAGE, members["previous"])
        ),
    )


def _header(content: dict[str, Any]) -> GroupReason | None:
    if content.get("version") != VERSION:
        return GroupReason.BAD_VERSION
    return None if _matches(_SECRET, content.get("secret")) else GroupReason.BAD_SECRET


def _unknown_key(content: dict[str, Any], keys: frozenset[str]) -> GroupReason | None:
    return None if content.keys() <= keys else GroupReason.UNKNOWN_KEY


def _old_secrets(content: dict[str, Any]) -> GroupReason | None:
    old = content.get("oldSecrets", [])
    if type(old) is not list or (old and not _matches(_SECRET, old[0])):
        return GroupReason.BAD_OLD_SECRETS
    return None


def _recps(content: dict[str, Any], least: int, most: int) -> GroupReason | None:
    recps = content.get("recps")
    if type(recps) is not list or not least <= len(recps) <= most:
        return GroupReason.BAD_RECPS_COUNT
    if not _matches(_GROUP, recps[0]) or not all(_matches(_FEED, feed) for feed in recps[1:]):
        return GroupReason.BAD_RECPS
    return None


def _statement_tangles(content: dict[str, Any], closed: bool) -> GroupReason | None:
    tangles = content.get("tangles")
    return (
        _tangles(tangles, _STATEMENT_TANGLES, closed)
        or _update_fields(tangles, "group", GroupReason.BAD_GROUP_TANGLE)
        or _update_fields(tangles, "members", GroupReason.BAD_MEMBERS_TANGLE)
    )


def _tangles(tangles: Any, names: frozenset[str], closed: bool) -> GroupReason | None:
    if type(tangles) is not dict or not names <= tangles.keys():
        return GroupReason.BAD_TANGLES
    return GroupReason.UNKNOWN_TANGLE if closed and len(tangles) > len(names) else None


def _null_fields(tangles: dict[str, Any], name: str, reason: GroupReason) -> GroupReason | None:
    fields = tangles[name]
    is_root = type(fields) is dict and fields.get("root", 0) is None and fields.get("previous", 0) is None
    return None if is_root else reason


def _update_fields(tangles: dict[str, Any], name: str, reason: GroupReason) -> GroupReason | None:
    fields = tangles[name]
    if type(fields) is dict and _matches(_MESSAGE, fields.get("root")):
        previous = fields.get("previous")
        if type(previous) is list and previous and _matches(_MESSAGE, previous[0]):
            return None
    return reason


def _unchecked(pattern: re.Pattern[str], entries: Any) -> int:
    return sum(not _matches(pattern, entry) for entry in entries)


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    return type(value) is str and pattern.fullmatch(value) is not None
