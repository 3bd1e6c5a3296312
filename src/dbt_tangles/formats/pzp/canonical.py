"""JSON as json-canon prints it: keys sorted by UTF-16 code unit, nothing between the tokens.

Numbers and strings are JavaScript's. What has no such text (infinities, which ``JSON.parse`` makes of huge numbers,
and lone surrogates) makes the peer throw, so no message can hold it.

Source: json-canon 1.0.1; RFC 8785.
"""

from __future__ import annotations

import math
from typing import Any

import orjson

from dbt_tangles.formats.ssb.canonical import is_plain_number, number_text


class NoCanonicalFormError(ValueError):
    """The value holds something that the canonical form has no text for."""


def canonical_bytes(value: Any) -> bytes:
    """Print a parsed value.

    Args:
        value: what a JSON parser returns, nested as deep as you like.

    Raises:
        NoCanonicalFormError: it holds an infinity or a lone surrogate.
    """
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        if is_plain(value):
            return text
    except TypeError:  # nested too deep, or not printable as UTF-8
        pass
    return _print(value)


def is_plain(value: Any) -> bool:
    """Whether orjson, sorting keys, prints a value as json-canon does; it may be nested as deep as you like."""
    pending = [value]
    for entry in pending:  # which grows meanwhile
        kind = type(entry)
        if kind is str:
            continue
        if kind is dict:
            for key in entry:
                # orjson sorts by code point, which is another order only where astral characters meet U+E000 and above.
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
    frames: list[tuple[Any, bytes]] = []  # what is left of each open container, and what closes it
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
