"""Rules for a single pzp message, in the peer's order (pzp-db 1.0.4, validation of msg v4 and ``isMoot``)."""

import re
from typing import Any

from dbt_tangles.formats.json.numbers import safe_integer
from dbt_tangles.reasons import PzpReason as Reason

SELF, ANY = "self", "any"
URI_SCHEME = "pzp:"

_DOMAIN = re.compile("[A-Za-z0-9_]{3,100}")
_SHAPE = frozenset(("dataHash", "dataSize", "account", "accountTips", "tangles", "domain"))


def is_moot(message: dict[str, Any]) -> bool:
    """Whether a well-formed message is a feed's root."""
    metadata = message["metadata"]
    return (
        message["data"] is None
        and metadata["dataHash"] is None
        and safe_integer(metadata["dataSize"]) == 0
        and metadata["account"] != SELF
        and metadata["accountTips"] is None
        # JavaScript finds no keys in a number, a boolean or null either.
        and not (isinstance(metadata["tangles"], dict | list | str) and metadata["tangles"])
    )


def shape_reason(message: dict[str, Any], is_trusted: bool) -> Reason | None:
    """Check that all fields are present.

    Args:
        message: An object with an object as metadata.
        is_trusted: Whether version and signature may be missing.
    """
    metadata = message["metadata"]
    names = {"data": message, "domain": metadata}
    for name, other in (("data", "content"), ("domain", "type")):
        if name not in names[name] and other in names[name]:
            return Reason.OTHER_FORMAT
    if "data" not in message or not metadata.keys() >= _SHAPE:
        return Reason.MISSING_FIELD
    if not is_trusted:
        version = metadata.get("v")
        if version != 4 or type(version) is bool:
            return Reason.WRONG_VERSION
        if type(message.get("sig")) is not str:
            return Reason.MISSING_SIGNATURE
    return None


def domain_reason(domain: Any, is_trusted: bool) -> Reason | None:
    """Check a domain; a trusted one may be any string."""
    if type(domain) is not str or not (is_trusted or _DOMAIN.fullmatch(domain)):
        return Reason.BAD_DOMAIN
    return None


def account_reason(metadata: dict[str, Any]) -> Reason | None:
    """Check the account as far as a single message shows it."""
    account = metadata["account"]
    if type(account) is not str or (account == SELF and metadata["accountTips"] is not None):
        return Reason.BAD_ACCOUNT
    return None


def read_tangle(entry: Any, is_trusted: bool) -> tuple[int | None, list[str], Reason | None]:
    """Read a message's entry for one tangle.

    Args:
        entry: The value in ``metadata.tangles``; null, false, 0 and "" are excluded.
        is_trusted: Whether the order of prev is unchecked; only strings count then.

    Returns:
        Depth, prev up to the first bad entry, and the first defect in the peer's order.
    """
    if type(entry) is not dict or type(entry.get("prev")) is not list:
        return None, [], Reason.BAD_PREV
    prev = entry["prev"]
    depth = safe_integer(entry.get("depth"))
    if depth is None or depth <= 0:
        return None, [], Reason.BAD_DEPTH
    if is_trusted:
        return depth, [item for item in prev if type(item) is str], None
    if not prev:
        return depth, prev, Reason.NO_KNOWN_PREV
    last = None
    for place, item in enumerate(prev):
        if type(item) is not str:
            return depth, prev[:place], Reason.PREV_NOT_STRING
        if item.startswith(URI_SCHEME):
            return depth, prev[:place], Reason.PREV_URI
        if last is not None and item <= last:
            if item == last:
                return depth, prev[:place], Reason.PREV_DUPLICATE
            if not _is_unit_sorted(last, item):
                return depth, prev[:place], Reason.PREV_UNSORTED
        elif last is not None and not item.isascii() and not _is_unit_sorted(last, item):
            return depth, prev[:place], Reason.PREV_UNSORTED
        last = item
    return depth, prev, None


def _is_unit_sorted(first: str, second: str) -> bool:
    return first.encode("utf-16-be", "surrogatepass") < second.encode("utf-16-be", "surrogatepass")
