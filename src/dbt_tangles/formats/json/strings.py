"""Strings of JavaScript, which may have lone surrogates: UTF-8 and Arrow cannot store these."""

import re
from collections.abc import Iterable
from typing import Any

SURROGATE = re.compile("[\ud800-\udfff]")


def utf16_length(text: str) -> int:
    """Count UTF-16 code units, as JavaScript's ``text.length``."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def join_pairs(text: str) -> str:
    """Join surrogate pairs of two characters, which JavaScript cannot tell from the character itself."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def replace_surrogates(text: str) -> str:
    """Replace each lone surrogate by U+FFFD, so that the text has a UTF-8 form."""
    return SURROGATE.sub("\ufffd", join_pairs(text)) if SURROGATE.search(text) else text


def storable(value: Any) -> Any:
    """Replace lone surrogates in a string, or in the strings of a list or named tuple; return other values."""
    if type(value) is str:
        return replace_surrogates(value)
    if type(value) is list:
        return list(map(storable, value))
    return type(value)(*map(storable, value)) if hasattr(value, "_fields") else value


def first_of_each(rows: Iterable[Any]) -> list[Any]:
    """List the first of the rows with equal first fields, such as names that differed only in surrogates."""
    found: dict[Any, Any] = {}
    for row in rows:
        found.setdefault(row[0], row)
    return list(found.values())
