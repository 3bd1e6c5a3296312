"""Rules for a single pzp message, in the peer's order (pzp-db 1.0.4, validation of msg v4 and ``isMoot``)."""

from __future__ import annotations

import re
from typing import Any

from dbt_tangles.ingest.json_numbers import safe_integer
from dbt_tangles.reasons import Reasons

SET_DOMAIN = "set_v1__"
SELF, ANY = "self", "any"
URI_SCHEME = "pzp:"

_DOMAIN = re.compile("[A-Za-z0-9_]{3,100}")
_SHAPE = frozenset(("dataHash", "dataSize", "account", "accountTips", "tangles", "domain"))


class Reason(Reasons):
    """Reasons why a line or a message of a feed tangle is rejected. The value is the code in the tables.

    The members stand in the order of the peer's checks: if several apply, the first counts (`rank`).
    """

    TOO_LONG = "too_long", "The line is longer than lines may be."
    INVALID_UTF8 = "invalid_utf8", "The line is not UTF-8."
    MALFORMED_JSON = "malformed_json", "The line is not JSON, as JavaScript's JSON.parse judges it."
    NOT_A_MESSAGE = "not_a_message", "The line is JSON without an object that has metadata in it."
    NO_ID = "no_id", "The metadata has no canonical text (an infinite number, a lone surrogate), hence no id."
    OTHER_FORMAT = (
        "other_format",
        "The message has `type` or `content`, as in the protocol document: peers take only `domain` and `data`.",
    )
    MISSING_FIELD = "missing_field", "The data or a field of the metadata is missing."
    WRONG_VERSION = "wrong_version", "metadata.v is not 4."
    MISSING_SIGNATURE = "missing_signature", "sig is not a string."
    BAD_SIGKEY = "bad_sigkey", "sigkey is not base58 of 32 bytes."
    BAD_DATA = "bad_data", "The data is neither null nor an object nor a string."
    MISSING_ROOT = "missing_root", "The tangle's root is not in the log, or is not usable."
    NOT_A_FEED = "not_a_feed", "The tangle's root is not a moot."
    BAD_DATA_SIZE = "bad_data_size", "dataSize is not a whole number from 0."
    DATA_HASH_MISMATCH = "data_hash_mismatch", "dataHash is not the hash of the data."
    DATA_SIZE_MISMATCH = "data_size_mismatch", "dataSize is not the size of the data."
    BAD_DOMAIN = "bad_domain", "The domain is not 3 to 100 characters of A-Z, a-z, 0-9 and _."
    ACCOUNT_SELF = "account_self", "A message of an account tangle cannot be in a feed tangle."
    BAD_ACCOUNT = "bad_account", "The account is not a string, or the message of an account tangle has accountTips."
    UNAUTHORISED_KEY = "unauthorised_key", "sigkey was not a key of the account."
    NO_TANGLE = "no_tangle", "The message is in no tangle."
    BAD_PREV = "bad_prev", "prev is not an array."
    BAD_DEPTH = "bad_depth", "depth is not a whole number from 1 to 2^53 - 1."
    OTHER_DOMAIN = "other_domain", "The domain is not that of the tangle's moot."
    OTHER_ACCOUNT = "other_account", "The account is not that of the tangle's moot."
    PREV_NOT_LOWER = "prev_not_lower", "A known prev is not less deep than the message."
    PREV_NOT_STRING = "prev_not_string", "An entry of prev is not a string."
    PREV_URI = "prev_uri", "An entry of prev is a URI."
    PREV_DUPLICATE = "prev_duplicate", "prev has an entry twice."
    PREV_UNSORTED = "prev_unsorted", "prev is not sorted by code unit."
    NO_KNOWN_PREV = "no_known_prev", "Nothing in prev is a valid message of the tangle."
    DEPTH_GAP = "depth_gap", "All prev are known, and depth is not one more than their greatest."
    CYCLE = "cycle", "The message follows itself, or one that does. No real ids can do that."
    BAD_SIGNATURE = "bad_signature", "sigkey did not sign the metadata."
    # Known reasons come first; the last two mean that the log leaves the question open.
    UNKNOWN_ACCOUNT_TIPS = (
        "unknown_account_tips",
        "Messages of the account that the message rests on, or their data, are not in the log: its key may be good.",
    )
    UNDECIDED_PREV = (
        "undecided_prev",
        "No message in prev is known to be valid, and one of them is undecided: messages of its account are awaited.",
    )


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
