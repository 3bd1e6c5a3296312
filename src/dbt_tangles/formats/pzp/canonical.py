"""Canonical JSON as json-canon 1.0.1 prints it (RFC 8785): keys sorted by UTF-16 code unit, no white space.

Numbers and strings are JavaScript's. The peer throws on values without such a text (infinities, which ``JSON.parse``
makes of huge numbers, and lone surrogates), so a message cannot contain them.

Source: json-canon 1.0.1; RFC 8785.
"""

import math
from typing import Any

import orjson

from dbt_tangles.formats.ssb.canonical import is_plain_number, number_text


class NoCanonicalFormError(ValueError):
    """The value contains a part without canonical form."""


def canonical_bytes(value: Any) -> bytes:
    """Print a parsed value.

    Args:
        value: A parsed JSON value of any depth.

    Raises:
        NoCanonicalFormError: It contains an infinity or a lone surrogate.
    """
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        if is_plain(value):
            return text
    except TypeError:  # nested too deep, or not printable as UTF-8
        pass
    return _print(value)


def is_plain(value: Any) -> bool:
    """Whether orjson, sorting keys, prints a value of any depth as json-canon does."""
    pending = [value]
    for entry in pending:  # the list grows meanwhile
        kind = type(entry)
        if kind is str:
            continue
        if kind is dict:
            for key in entry:
                # orjson sorts by code point, which differs only between astral characters and U+E000 and above.
                if not key.isascii():
                    return False
            pending += entry.values()
        elif kind is list:
            pending += entry
        elif entry is not None and kind is not bool and not is_plain_number(entry):
            return False
    return True


def _code_units(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def _print(value: Any) -> bytes:
    """Print without recursion."""
    parts: list[bytes] = []
    frames: list[tuple[Any, bytes]] = []  # the remaining entries of each open container, and its closing bracket
    head = b""
    while True:
        if type(value) is dict and value:
            parts.append(head + b"{")
            items = sorted(value.items(), key=lambda item: _code_units(item[0]))
            frames.append((iter(items), b"}"))
            opened = True
        elif type(value) is list and value:
            parts.append(head + b"[")
            frames.append((iter(value), b"]"))
            opened = True
        else:
            parts.append(head + _scalar(value))
            opened = False
        while frames:
            rest, close = frames[-1]
            for element in rest:
                head = b"" if opened else b","
                if close == b"}":
                    key, value = element
                    head += _scalar(key) + b":"
                else:
                    value = element
                break
            else:
                frames.pop()
                parts.append(close)
                opened = False
                continue
            break
        else:
            return b"".join(parts)


def _scalar(value: Any) -> bytes:
    if type(value) is int or type(value) is float:
        text = number_text(value)
        if text == "null" or not math.isfinite(value):
            raise NoCanonicalFormError("not a finite number")
        return text.encode()
    try:
        return orjson.dumps(value)
    except TypeError as error:  # a lone surrogate
        raise NoCanonicalFormError(str(error)) from None
