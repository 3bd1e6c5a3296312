"""Parse and print JSON exactly as V8 does (SSB protocol guide, "message format").

An SSB classic message is signed and hashed as ``JSON.stringify(JSON.parse(line), null, 2)``, so a validator has to
print the same text as V8. Two ways lead to the same text:

* the fast way: orjson parses and prints, for values that it prints as V8 does;
* the exact way: the parser and printer of this module, for all other values.

orjson and V8 print strings alike. They differ in keys that are array indices (V8 moves them to the front), in whole,
huge and tiny floats, and in integers that a double cannot hold.

Source: SSB protocol guide, "message format"; ECMA-262, ``JSON.parse``, ``JSON.stringify``, ``Number::toString`` and
``OrdinaryOwnPropertyKeys``; ECMA-262 "well-formed JSON.stringify" (lone surrogates).
"""

import json
import math
import re
from collections.abc import Callable
from functools import cache
from json.decoder import scanstring
from json.encoder import encode_basestring
from typing import Any

import orjson
import rfc8785

#: Maximum length of a printed text, in characters. Indentation makes a text quadratic in its depth, so a short line can
#: ask for terabytes; a legal message has at most 8,192 units.
TEXT_LIMIT = 2**24

#: Longer lines, in bytes, are printed by the exact way, which counts its output. Up to this length, even the deepest
#: nesting that orjson prints (254 levels) stays under `TEXT_LIMIT`.
FAST_LINE_BYTES = 2**15

_LAST_ARRAY_INDEX = 2**32 - 2
_EXACT_INTEGER = 2**53

# orjson and V8 print fractions between these bounds alike: as plain decimals.
_PLAIN_FLOAT_MIN, _PLAIN_FLOAT_MAX = 1e-4, 1e15

_INDEX_KEY = re.compile(r"0|[1-9][0-9]{0,9}")
_SURROGATE = re.compile("[\ud800-\udfff]")

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_LITERALS = (("true", True), ("false", False), ("null", None))
# For a text that is JSON except for these numbers.
_CONSTANT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(NaN|-?Infinity)')
# The end of a parser message of Python, before the position.
_MESSAGE_END = re.compile(r"(?: starting)?(?: at)?(?:: ?)?$")
# A line of JSON printed over several lines: brackets, a key, or an element that a comma follows.
_PRINTED_PART = re.compile(r'\s*(?:[{\[]|[}\]]+,?|"[^"\\]*(?:\\.[^"\\]*)*"\s*:.*|["{\[0-9tfn-].*,)\s*', re.DOTALL)
_PRINTED_HINT = (
    "; a part of an object or array that is printed over several lines: jq -c . writes each object in one line,"
    " jq -c '.[]' each element of an array (ssb_log_format: pretty reads such SSB logs)"
)


class MalformedJsonError(ValueError):
    """The bytes are UTF-8, but ``JSON.parse`` would reject them; the message gives fault and position."""


class InvalidUtf8Error(ValueError):
    """The bytes are not UTF-8; the message gives the position of the first invalid byte."""


class TextTooLongError(ValueError):
    """The printed text would be longer than `TEXT_LIMIT` characters."""


def parse(raw: bytes) -> tuple[Any, bool]:
    """Parse a line as ``JSON.parse`` does.

    Args:
        raw: The bytes of a line; JSON white space around the value is allowed.

    Returns:
        The value, and whether the exact parser was needed. Only the exact parser returns lone surrogates and
        infinities; all its numbers are floats.

    Raises:
        InvalidUtf8Error: The bytes are not UTF-8.
        MalformedJsonError: They are UTF-8, but not JSON (a byte order mark, NaN and raw control characters included).
    """
    try:
        return orjson.loads(raw), False
    except orjson.JSONDecodeError:
        return parse_exact(raw), True


def parse_exact(raw: bytes, number_of: Callable[[str], int | float] = float) -> Any:
    """Parse as ``JSON.parse`` does; see `parse` for the errors.

    It accepts inputs that V8 accepts and orjson rejects: lone surrogates, numbers beyond the range of doubles (they
    become infinite), and any depth.

    Args:
        raw: The bytes of a line.
        number_of: Reads a number; by default as a double, as V8 does.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidUtf8Error(f"not UTF-8 at byte {error.start + 1}") from None
    try:
        return _decoder_of(number_of).decode(text)
    except RecursionError:
        return _parse_deep(text, number_of)
    except _ConstantError as error:
        place = next(match.start() for match in _CONSTANT.finditer(text) if match[1])
        raise _malformed(json.JSONDecodeError(f"no number of JSON: {error}", text, place)) from None
    except json.JSONDecodeError as error:
        raise _malformed(error) from None


def json_fault(error: json.JSONDecodeError) -> str:
    """Describe the fault a parser found, and its column in characters from 1."""
    text = error.doc
    if not text.strip("\ufeff \t\r\n") and "\ufeff" in text:
        return "a byte order mark alone"
    if not text.strip("\0 \t\r\n"):
        return "NUL bytes alone, of UTF-16 or of a hole in the file" if "\0" in text else "empty line"
    message = _MESSAGE_END.sub("", error.msg)
    line = f"line {error.lineno}, " if error.lineno > 1 else ""
    part = _PRINTED_HINT if _PRINTED_PART.fullmatch(text) else ""
    return f"not JSON at {line}column {error.colno}: {message[:1].lower()}{message[1:]}{part}"


def canonical_text(value: Any) -> str:
    """Print a parsed value as ``JSON.stringify(value, null, 2)`` in V8.

    Args:
        value: A parsed JSON value (dict, list, str, int, float, bool, null) of any depth.

    Returns:
        The text, with lone surrogates escaped (as in V8 since 7.2).

    Raises:
        TextTooLongError: The text would exceed `TEXT_LIMIT` characters.
    """
    text = plain_text(value) if type(value) is dict and _is_small(value) else None
    return exact_text(value) if text is None else text.decode()


def canonical_bytes(value: Any, line_bytes: int) -> tuple[bytes, bool]:
    """Print as `canonical_text` does, in UTF-8.

    Args:
        value: A parsed value.
        line_bytes: The length of its JSON text; above `FAST_LINE_BYTES` only the exact way is used.

    Returns:
        The text, and whether it is plain: then orjson prints every part of this value as V8 does, compact too.

    Raises:
        TextTooLongError: See `canonical_text`.
    """
    if line_bytes <= FAST_LINE_BYTES and type(value) is dict:
        text = plain_text(value)
        if text is not None:
            return text, True
    return exact_text(value).encode(), False


def plain_text(value: dict[str, Any]) -> bytes | None:
    """Print by the fast way, if orjson prints the value as V8 does.

    Args:
        value: An object as orjson parses it.
    """
    try:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2)
        return text if is_plain(value) else None
    except (TypeError, RecursionError):  # nested too deep, or not printable as UTF-8
        return None


def is_plain(value: dict[str, Any] | list[Any]) -> bool:
    """Whether orjson prints a parsed object or array, indented or compact, as V8 does.

    Raises:
        RecursionError: It is nested deeper than Python's stack.
    """
    if type(value) is dict:
        for key in value:
            if key < ":" and key >= "0":  # a leading digit: it may be an array index
                return False
        value = value.values()
    for element in value:
        kind = type(element)
        if kind is str or element is None or kind is bool:
            continue
        if not (is_plain(element) if kind is dict or kind is list else is_plain_number(element)):
            return False
    return True


def is_plain_number(number: int | float) -> bool:
    """Whether orjson prints a number as V8 does."""
    if type(number) is int:
        return -_EXACT_INTEGER <= number <= _EXACT_INTEGER
    return _PLAIN_FLOAT_MIN <= abs(number) < _PLAIN_FLOAT_MAX and not number.is_integer()


def exact_text(value: Any) -> str:
    """Print by the exact way; same contract as `canonical_text`."""
    return print_text(value, pretty=True)


def compact_bytes(value: Any) -> bytes:
    """Print as ``JSON.stringify(value)`` in V8, in UTF-8.

    Args:
        value: A parsed value of any depth.

    Raises:
        TextTooLongError: The text would exceed `TEXT_LIMIT` characters.
    """
    try:
        if type(value) is dict and is_plain(value):
            return orjson.dumps(value)
    except (TypeError, RecursionError):  # nested too deep, or not printable as UTF-8
        pass
    return print_text(value, pretty=False).encode()


def number_text(number: int | float) -> str:
    """Print a number as ECMAScript's ``Number::toString`` does; an infinite or undefined number becomes ``null``.

    Integers are doubles too: beyond 2**53 they are rounded.
    """
    if type(number) is int:
        if -_EXACT_INTEGER <= number <= _EXACT_INTEGER:
            return str(number)
        try:
            number = float(number)
        except OverflowError:
            return "null"
    if not math.isfinite(number):
        return "null"
    if number.is_integer() and -_EXACT_INTEGER <= number <= _EXACT_INTEGER:
        return str(int(number))
    return rfc8785.dumps(number).decode()


def replace_surrogates(text: str) -> str:
    """Replace each lone surrogate by U+FFFD, so that the text has a UTF-8 form."""
    return _SURROGATE.sub("\ufffd", _join_pairs(text)) if _SURROGATE.search(text) else text


def utf16_length(text: str) -> int:
    """Count UTF-16 code units, as JavaScript's ``text.length``."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _is_small(value: Any) -> bool:
    try:
        return len(orjson.dumps(value)) <= FAST_LINE_BYTES
    except TypeError:
        return False


class _ConstantError(Exception):
    """The text has a number that Python's parser accepts and JSON forbids."""


def _refuse_constant(name: str) -> Any:
    raise _ConstantError(name)


def _malformed(error: json.JSONDecodeError) -> MalformedJsonError:
    return MalformedJsonError(json_fault(error))


@cache
def _decoder_of(number_of: Callable[[str], int | float]) -> json.JSONDecoder:
    # float() has no limit on digits, unlike int(), and rounds as V8 does.
    return json.JSONDecoder(parse_int=number_of, parse_float=number_of, parse_constant=_refuse_constant)


def _parse_deep(text: str, number_of: Callable[[str], int | float]) -> Any:
    """Parse without recursion, for texts nested too deep for Python's own parser."""
    try:
        return _parse_tokens(text, number_of)
    except IndexError:
        raise _malformed(json.JSONDecodeError("the text ends early", text, len(text))) from None
    except json.JSONDecodeError as error:
        raise _malformed(error) from None


def _parse_tokens(text: str, number_of: Callable[[str], int | float]) -> Any:
    containers: list[Any] = []
    keys: list[str | None] = []  # the key under which each open container will be stored
    position = 0
    while True:
        # A value starts here.
        position = _skip_space(text, position)
        char = text[position]
        value: Any
        if char in "{[":
            value = {} if char == "{" else []
            position = _skip_space(text, position + 1)
            if text[position] != ("}" if char == "{" else "]"):
                containers.append(value)
                keys.append(None)
                if char == "{":
                    keys[-1], position = _parse_key(text, position)
                continue
            position += 1
        else:
            value, position = _parse_scalar(text, position, number_of)
        # The value is complete: store it, and close the containers that end here.
        while containers:
            container = containers[-1]
            if type(container) is dict:
                container[keys[-1]] = value
            else:
                container.append(value)
            position = _skip_space(text, position)
            char = text[position]
            position += 1
            if char == ",":
                if type(container) is dict:
                    keys[-1], position = _parse_key(text, _skip_space(text, position))
                break
            if char != ("}" if type(container) is dict else "]"):
                raise json.JSONDecodeError("expecting a comma or a closing bracket", text, position - 1)
            value = containers.pop()
            keys.pop()
        else:
            if _skip_space(text, position) != len(text):
                raise json.JSONDecodeError("extra data", text, position)
            return value


def _skip_space(text: str, position: int) -> int:
    return _SPACE.match(text, position).end()  # type: ignore[union-attr]  # it always matches


def _parse_key(text: str, position: int) -> tuple[str, int]:
    if text[position] != '"':
        raise json.JSONDecodeError("expecting a key", text, position)
    key, position = scanstring(text, position + 1, True)
    position = _skip_space(text, position)
    if text[position] != ":":
        raise json.JSONDecodeError("expecting a colon", text, position)
    return key, position + 1


def _parse_scalar(text: str, position: int, number_of: Callable[[str], int | float]) -> tuple[Any, int]:
    if text[position] == '"':
        return scanstring(text, position + 1, True)
    number = _NUMBER.match(text, position)
    if number:
        return number_of(number.group()), number.end()
    for name, value in _LITERALS:
        if text.startswith(name, position):
            return value, position + len(name)
    raise json.JSONDecodeError("expecting a value", text, position)


def _join_pairs(text: str) -> str:
    """Join surrogate pairs of two characters, which JavaScript cannot tell from the character itself."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _quote(text: str) -> str:
    quoted = encode_basestring(text)
    if _SURROGATE.search(quoted):
        return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", _join_pairs(quoted))
    return quoted


def _ordered_items(value: dict[str, Any]) -> list[tuple[str, Any]]:
    """List the items in V8's order: array indices ascending, then the other keys in their original order."""
    indices = [key for key in value if _INDEX_KEY.fullmatch(key) and int(key) <= _LAST_ARRAY_INDEX]
    if not indices:
        return list(value.items())
    first = set(indices)
    return [(key, value[key]) for key in sorted(indices, key=int)] + [
        item for item in value.items() if item[0] not in first
    ]


def print_text(
    value: Any,
    pretty: bool,
    items_of: Callable[[dict[str, Any]], list[tuple[str, Any]]] = _ordered_items,
    text_of: Callable[[int | float], str] = number_text,
) -> str:
    """Print a value of any depth, without recursion; see `canonical_text` for the error.

    `items_of` lists the items of an object in the order of printing; `text_of` prints a number.
    """
    parts: list[str] = []
    frames: list[tuple[Any, bool]] = []  # the remaining entries of each open container, and whether it is an object
    length = 0
    colon = ": " if pretty else ":"
    head = ""  # the text before the next value: separator, line break, indentation, key
    while True:
        if type(value) is dict and value:
            parts.append(head + "{")
            frames.append((iter(items_of(value)), True))
            opened = True
        elif type(value) is list and value:
            parts.append(head + "[")
            frames.append((iter(value), False))
            opened = True
        else:
            parts.append(head + _scalar_text(value, text_of))
            opened = False
        length += len(parts[-1])
        # Move on to the next element, and close finished containers.
        while frames:
            if length > TEXT_LIMIT:
                raise TextTooLongError(f"more than {TEXT_LIMIT} characters")
            rest, is_object = frames[-1]
            for element in rest:
                head = "" if opened else ","
                if pretty:
                    head += "\n" + "  " * len(frames)
                if is_object:
                    key, value = element
                    head += _quote(key) + colon
                else:
                    value = element
                break
            else:
                frames.pop()
                parts.append(("\n" + "  " * len(frames) if pretty else "") + ("}" if is_object else "]"))
                length += len(parts[-1])
                opened = False
                continue
            break
        else:
            if length > TEXT_LIMIT:
                raise TextTooLongError(f"more than {TEXT_LIMIT} characters")
            return "".join(parts)


def _scalar_text(value: Any, text_of: Callable[[int | float], str]) -> str:
    kind = type(value)
    if kind is str:
        return _quote(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is dict:
        return "{}"
    if kind is list:
        return "[]"
    return text_of(value)
