"""Prints parsed JSON as JavaScript does, byte for byte, because messages are signed and hashed in such texts.

An SSB classic message is signed as ``JSON.stringify(JSON.parse(line), null, 2)`` of V8; a pzp message as json-canon
prints it (RFC 8785: no white space, keys sorted by UTF-16 code unit). `orjson` prints most values in the same way, and
much faster. It differs in keys that are array indices (V8 moves them to the front), in whole, huge and tiny floats, in
integers that a double cannot hold, and in lone surrogates: `print_json` prints values with these.

Source: SSB protocol guide, "message format"; ECMA-262, ``JSON.stringify``, ``Number::toString`` and
``OrdinaryOwnPropertyKeys``; RFC 8785; json-canon 1.0.1.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from json.encoder import encode_basestring
from typing import Any, NamedTuple

import orjson
import rfc8785

from dbt_tangles.formats.json.strings import SURROGATE, join_pairs

#: Maximum length of a printed text, in characters. Indentation makes a text quadratic in its depth, so a short line can
#: ask for terabytes; a legal message has at most 8,192 units. Without indentation no line reaches it.
TEXT_LIMIT = 2**24

#: For a longer line, in bytes, `print_json` counts the text while it prints. Up to this length, even the deepest
#: nesting that orjson prints (254 levels) stays under `TEXT_LIMIT`.
FAST_LINE_BYTES = 2**15

_LAST_ARRAY_INDEX = 2**32 - 2
_EXACT_INTEGER = 2**53

# orjson and V8 print fractions between these bounds alike: as plain decimals.
_PLAIN_FLOAT_MIN, _PLAIN_FLOAT_MAX = 1e-4, 1e15

_INDEX_KEY = re.compile(r"0|[1-9][0-9]{0,9}")
_LITERALS = {None: "null", True: "true", False: "false"}
_END: Any = object()


class TextTooLongError(ValueError):
    """The printed text would be longer than `TEXT_LIMIT` characters."""


class NoCanonicalFormError(ValueError):
    """The value has an infinite number or a lone surrogate, for which json-canon throws."""


def canonical_text(value: Any) -> str:
    """Print a parsed value of any depth as ``JSON.stringify(value, null, 2)`` in V8, lone surrogates escaped.

    Raises:
        TextTooLongError: The text would exceed `TEXT_LIMIT` characters.
    """
    return print_json(value, PRETTY)


def canonical_bytes(value: Any, line_bytes: int) -> tuple[bytes, bool]:
    """Print as `canonical_text` does, in UTF-8.

    Args:
        value: A parsed value.
        line_bytes: The length of its JSON text.

    Returns:
        The text, and whether it is plain: then orjson prints every part of this value as V8 does, compact too.

    Raises:
        TextTooLongError: See `canonical_text`.
    """
    text = _plain_bytes(value, orjson.OPT_INDENT_2) if line_bytes <= FAST_LINE_BYTES else None
    return (canonical_text(value).encode(), False) if text is None else (text, True)


def compact_bytes(value: Any) -> bytes:
    """Print a parsed value of any depth as ``JSON.stringify(value)`` in V8, in UTF-8."""
    text = _plain_bytes(value, 0)
    return print_json(value, COMPACT).encode() if text is None else text


def sorted_bytes(value: Any, style: "Style") -> bytes:
    """Print a parsed value of any depth without white space, keys sorted, in UTF-8.

    Args:
        value: The value.
        style: `CANON` or another style without indentation that sorts keys and prints plain numbers as V8 does.

    Raises:
        NoCanonicalFormError: The value has none, and the style is `CANON`.
    """
    text = _plain_bytes(value, orjson.OPT_SORT_KEYS)
    return print_json(value, style).encode() if text is None else text


def _plain_bytes(value: Any, option: int) -> bytes | None:
    """Print with orjson, if it prints the value as V8 does, or as json-canon does if the option sorts keys."""
    try:
        text = orjson.dumps(value, option=option)
    except TypeError:  # nested deeper than 254 levels, or a lone surrogate
        return None
    return text if _is_plain((value,), option == orjson.OPT_SORT_KEYS) else None


def _is_plain(entries: Iterable[Any], is_sorted: bool) -> bool:
    for entry in entries:
        kind = type(entry)
        if kind is str or entry is None or kind is bool:
            continue
        if kind is dict:
            if is_sorted:
                # orjson sorts by code point, not by code unit.
                if not all(map(str.isascii, entry)):
                    return False
            else:
                for key in entry:
                    if key < ":" and key >= "0":  # a leading digit: it may be an array index
                        return False
            if not _is_plain(entry.values(), is_sorted):
                return False
        elif not (_is_plain(entry, is_sorted) if kind is list else _is_plain_number(entry)):
            return False
    return True


def _is_plain_number(number: int | float) -> bool:
    if type(number) is int:
        return -_EXACT_INTEGER <= number <= _EXACT_INTEGER
    return _PLAIN_FLOAT_MIN <= abs(number) < _PLAIN_FLOAT_MAX and not number.is_integer()


def number_text(number: int | float) -> str:
    """Print a number as ECMAScript's ``Number::toString`` does; an infinite or undefined number becomes ``null``.

    Integers are doubles too: beyond 2**53 they are rounded.
    """
    try:
        double = float(number)
    except OverflowError:
        return "null"
    if not math.isfinite(double):
        return "null"
    if double.is_integer() and abs(double) <= _EXACT_INTEGER:
        return str(int(double))
    return rfc8785.dumps(double).decode()


def quote(text: str) -> str:
    """Print a string as ``JSON.stringify`` does: lone surrogates are escaped."""
    quoted = encode_basestring(text)
    if SURROGATE.search(quoted):
        return SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", join_pairs(quoted))
    return quoted


def _items_of_v8(value: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """List the items in V8's order: array indices ascending, then the other keys in their original order."""
    indices = [key for key in value if _INDEX_KEY.fullmatch(key) and int(key) <= _LAST_ARRAY_INDEX]
    first = {key: value[key] for key in sorted(indices, key=int)}
    return (first | {key: entry for key, entry in value.items() if key not in first}).items()


def _items_by_unit(value: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    return sorted(value.items(), key=lambda item: item[0].encode("utf-16-be", "surrogatepass"))


def _finite_text(number: int | float) -> str:
    text = number_text(number)
    if text == "null":
        raise NoCanonicalFormError("not a finite number")
    return text


def _quote_unicode(text: str) -> str:
    if SURROGATE.search(text):
        raise NoCanonicalFormError("a lone surrogate")
    return encode_basestring(text)


class Style(NamedTuple):
    """How `print_json` prints."""

    indent: str = ""  # The white space of a level; without it, a text is on one line
    items_of: Callable[[dict[str, Any]], Iterable[tuple[str, Any]]] = _items_of_v8  # Lists the items of an object
    number_text: Callable[[int | float], str] = number_text
    quote: Callable[[str], str] = quote


COMPACT, PRETTY = Style(), Style("  ")
#: As json-canon prints. Its caller gets a `NoCanonicalFormError` where json-canon throws.
CANON = Style("", _items_by_unit, _finite_text, _quote_unicode)


def print_json(value: Any, style: Style) -> str:
    """Print a value of any depth, without recursion.

    Raises:
        TextTooLongError: The text would exceed `TEXT_LIMIT` characters.
    """
    parts: list[str] = []
    size = 0
    opened = [iter([("", value)])]  # the remaining entries of each open container, each with the text before it
    while opened:
        for before, entry in opened[-1]:
            kind = type(entry)
            is_opened = (kind is dict or kind is list) and entry
            parts.append(before + (("{" if kind is dict else "[") if is_opened else _scalar_text(entry, style)))
            size += len(parts[-1])
            if size > TEXT_LIMIT:
                raise TextTooLongError(f"more than {TEXT_LIMIT} characters")
            if is_opened:
                opened.append(_entries(entry, style, len(opened)))
                break
        else:
            opened.pop()
    return "".join(parts)


def _entries(container: Any, style: Style, level: int) -> Iterator[tuple[str, Any]]:
    """Yield the entries of an object or array, each with the text before it, and the closing bracket."""
    line = "\n" + style.indent * level if style.indent else ""
    comma, colon = "", ": " if style.indent else ":"
    if type(container) is dict:
        for key, entry in style.items_of(container):
            yield f"{comma}{line}{style.quote(key)}{colon}", entry
            comma = ","
    else:
        for entry in container:
            yield comma + line, entry
            comma = ","
    yield line[: len(line) - len(style.indent)] + ("}" if type(container) is dict else "]"), _END


def _scalar_text(value: Any, style: Style) -> str:
    kind = type(value)
    if kind is str:
        return style.quote(value)
    if kind is int or kind is float:
        return style.number_text(value)
    if kind is dict:
        return "{}"
    if kind is list:
        return "[]"
    return "" if value is _END else _LITERALS[value]
