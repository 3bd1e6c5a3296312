"""Rules for a single classic message, independent of its feed (SSB protocol guide, "message format").

The reference is ssb-validate's check of messages in any order. The rules of the feed's chain (``previous`` and the
first sequence) are checked elsewhere.

Source: SSB protocol guide, "message format"; ssb-validate, out-of-order check.
"""

import re
from typing import Any

from dbt_tangles.formats.json.numbers import int32
from dbt_tangles.formats.json.strings import utf16_length
from dbt_tangles.formats.ssb.signature import decode_signature, public_key
from dbt_tangles.reasons import SsbReason as Reason

#: Maximum length of a canonical text with its signature, in UTF-16 code units.
MAX_UNITS = 8192

ORDER = ("previous", "sequence", "author", "timestamp", "hash", "content", "signature")
#: The field order of early messages, still legal.
ORDER_AUTHOR_FIRST = ("previous", "author", "sequence", "timestamp", "hash", "content", "signature")


# Other feed formats have a URI, or a suffix with a version.
_OTHER_AUTHOR = re.compile(r"ssb:(?://)?feed/.*|@[A-Za-z0-9+/_=-]+\.[a-z][a-z0-9]*-v[0-9]+", re.DOTALL)
# Any box version is allowed, followed by any text on the same line; JavaScript ends lines at these four characters. The
# length of canonical base64 is a multiple of four; checking this in the pattern would take ten times as long.
_ENCRYPTED = re.compile("[A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?(\\.box)[^\n\r\u2028\u2029]*")
_MIN_TYPE_UNITS, _MAX_TYPE_UNITS = 3, 52
_FIELDS = frozenset(ORDER)
_ALPHABETICAL = tuple(sorted(ORDER))


def check_form(value: dict[str, Any]) -> Reason | tuple[bytes, bytes]:
    """Apply the rules that need no canonical text: all except length and signature.

    Args:
        value: The message's value, keys in V8's order.

    Returns:
        The first violated rule; for a well-formed message, the author's public key and the decoded signature.
    """
    order = tuple(value)
    if order != ORDER and order != ORDER_AUTHOR_FIRST:
        return _broken_order(value, order)
    author = value["author"]
    key = public_key(author) if type(author) is str else None
    if key is None:
        return Reason.OTHER_FORMAT if is_other_format(author) else Reason.BAD_AUTHOR
    if int32(value["sequence"]) is None:
        return Reason.BAD_SEQUENCE
    kind = type(value["timestamp"])
    if kind is not int and kind is not float:
        return Reason.BAD_TIMESTAMP
    if value["hash"] != "sha256":
        return Reason.BAD_HASH
    content = value["content"]
    if type(content) is dict:
        if not is_type(content.get("type")):
            return Reason.BAD_TYPE
    elif type(content) is not str or not is_encrypted(content):
        return Reason.BAD_CONTENT
    signature = decode_signature(value["signature"])
    return Reason.BAD_SIGNATURE_FORM if signature is None else (key, signature)


def check_trusted(value: dict[str, Any]) -> Reason | None:
    """Apply the rules for a message whose signed text is lost: it needs an author, a sequence and a content.

    Args:
        value: The message's value, of any feed format, in any order.
    """
    if "author" not in value or "sequence" not in value or "content" not in value:
        return Reason.MISSING_FIELD
    if type(value["author"]) is not str:
        return Reason.BAD_AUTHOR
    if int32(value["sequence"]) is None:
        return Reason.BAD_SEQUENCE
    content = value["content"]
    return None if type(content) is dict or type(content) is str else Reason.BAD_CONTENT


def is_encrypted(content: str) -> bool:
    """Whether a string is an encrypted content: canonical base64, then ``.box`` and the rest of the line."""
    boxed = _ENCRYPTED.fullmatch(content)
    return boxed is not None and boxed.start(1) % 4 == 0


def is_other_format(author: Any) -> bool:
    """Whether an author belongs to a feed format other than the classic one (a feed URI, a versioned suffix)."""
    return type(author) is str and _OTHER_AUTHOR.fullmatch(author) is not None


def _broken_order(value: dict[str, Any], order: tuple[str, ...]) -> Reason:
    if is_other_format(value.get("author")):
        return Reason.OTHER_FORMAT
    if order == _ALPHABETICAL:
        return Reason.ORDER_LOST
    if not value.keys() >= _FIELDS:
        return Reason.MISSING_FIELD
    return Reason.EXTRA_FIELD if len(order) > len(ORDER) else Reason.BAD_ORDER


def is_type(name: Any) -> bool:
    """Whether a value is a legal content type: a string of 3 to 52 UTF-16 units."""
    if type(name) is not str:
        return False
    # Between these lengths the number of surrogate pairs is irrelevant.
    if _MIN_TYPE_UNITS <= len(name) <= _MAX_TYPE_UNITS // 2:
        return True
    return len(name) <= _MAX_TYPE_UNITS and _MIN_TYPE_UNITS <= utf16_length(name) <= _MAX_TYPE_UNITS
