"""Parses a line of a JSON log: length limit, UTF-8, JSON as ``JSON.parse`` judges it, one object per line.

`orjson` parses nearly every line. ``JSON.parse`` accepts more: lone surrogates, numbers beyond the range of doubles
(they become infinite), and any depth.

Source: ECMA-262, ``JSON.parse``.
"""

import json
import re
from typing import Any, NamedTuple

import orjson

from dbt_tangles.formats.json.framing import array_mistake, framing_mistake, skip_space
from dbt_tangles.reasons import Reasons

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


class LineError(Exception):
    """The line is unusable; the arguments are the reason and the detail."""


class LineReasons(NamedTuple):
    """The reasons of a format for lines without a JSON object, and the detail of the last."""

    too_long: Reasons | str
    invalid_utf8: Reasons | str
    malformed_json: Reasons | str
    not_an_object: Reasons | str
    not_an_object_detail: str | None = "not a JSON object"


def parse_object(
    raw: bytes | None, raw_length: int | None, max_line_bytes: int, reasons: LineReasons
) -> tuple[dict[str, Any], bool]:
    """Parse a line that should be a JSON object.

    Args:
        raw: The bytes of the line, possibly truncated; null like empty.
        raw_length: The length of the whole line in bytes, if known.
        max_line_bytes: Longer lines are rejected unread.
        reasons: The reasons of the format.

    Returns:
        The object, and whether it may have lone surrogates or infinite numbers.

    Raises:
        LineError: The line is too long, or not a JSON object.
    """
    raw = raw or b""
    if len(raw) > max_line_bytes or (raw_length or 0) > max_line_bytes:
        detail = f"line longer than {max_line_bytes} bytes"
        raise LineError(*(framing_mistake(raw[:max_line_bytes]) or (reasons.too_long, detail)))
    try:
        document, is_exact = parse(raw)
    except (InvalidUtf8Error, MalformedJsonError) as error:
        reason = reasons.invalid_utf8 if type(error) is InvalidUtf8Error else reasons.malformed_json
        raise LineError(*(framing_mistake(raw) or (reason, str(error)))) from None
    if type(document) is not dict:
        raise LineError(*(array_mistake(document) or (reasons.not_an_object, reasons.not_an_object_detail)))
    return document, is_exact


def parse(raw: bytes) -> tuple[Any, bool]:
    """Parse a line as ``JSON.parse`` does.

    Args:
        raw: The bytes of a line; JSON white space around the value is allowed.

    Returns:
        The value, and whether it may have lone surrogates or infinite numbers. Whole numbers of up to 64 bits are
        integers if they have neither fraction nor exponent; all other numbers are doubles.

    Raises:
        InvalidUtf8Error: The bytes are not UTF-8.
        MalformedJsonError: They are UTF-8, but not JSON (a byte order mark, NaN and raw control characters included).
    """
    try:
        return orjson.loads(raw), False
    except orjson.JSONDecodeError:
        return parse_exact(raw), True


def parse_exact(raw: bytes) -> Any:
    """Parse as `parse` does, without orjson."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidUtf8Error(f"not UTF-8 at byte {error.start + 1}") from None
    try:
        try:
            return _decoder.decode(text)
        except RecursionError:
            return parse_deep(text)
    except _ConstantError as error:
        place = next(match.start() for match in _CONSTANT.finditer(text) if match[1])
        raise _malformed(json.JSONDecodeError(f"no number of JSON: {error}", text, place)) from None
    except json.JSONDecodeError as error:
        raise _malformed(error) from None


class _ConstantError(Exception):
    """The text has a number that Python's parser accepts and JSON forbids."""


def _refuse_constant(name: str) -> Any:
    raise _ConstantError(name)


def _number_of(token: str) -> int | float:
    try:
        return orjson.loads(token)
    except orjson.JSONDecodeError:  # beyond the doubles
        return float(token)


_decoder = json.JSONDecoder(parse_int=_number_of, parse_float=_number_of, parse_constant=_refuse_constant)


def _malformed(error: json.JSONDecodeError) -> MalformedJsonError:
    """Describe the fault that a parser found, and its column in characters from 1."""
    text = error.doc
    if not text.strip("\ufeff \t\r\n") and "\ufeff" in text:
        return MalformedJsonError("a byte order mark alone")
    if not text.strip("\0 \t\r\n"):
        fault = "NUL bytes alone, of UTF-16 or of a hole in the file" if "\0" in text else "empty line"
        return MalformedJsonError(fault)
    message = _MESSAGE_END.sub("", error.msg)
    line = f"line {error.lineno}, " if error.lineno > 1 else ""
    part = _PRINTED_HINT if _PRINTED_PART.fullmatch(text) else ""
    return MalformedJsonError(f"not JSON at {line}column {error.colno}: {message[:1].lower()}{message[1:]}{part}")


def parse_deep(text: str) -> Any:
    """Parse without recursion, for texts nested too deep for Python's own parser.

    Raises:
        json.JSONDecodeError: The text is not JSON.
    """
    try:
        return _parse_nested(text)
    except IndexError:
        raise json.JSONDecodeError("the text ends early", text, len(text)) from None
    except StopIteration as stop:
        raise json.JSONDecodeError("expecting a value", text, stop.value) from None


def _parse_nested(text: str) -> Any:
    opened: list[Any] = []  # containers that have not ended
    keys: list[str | None] = []  # the key of the entry that each of them waits for
    at = skip_space(text, 0)
    while True:
        # A value starts here.
        value: Any
        if text[at] not in "[{":
            value, at = _decoder.scan_once(text, at)
        else:
            value = [] if text[at] == "[" else {}
            at = skip_space(text, at + 1)
            if text[at] != ("}" if type(value) is dict else "]"):
                opened.append(value)
                keys.append(None)
                if type(value) is dict:
                    keys[-1], at = _parse_key(text, at)
                continue
            at += 1
        # The value is complete: store it, and close the containers that end here.
        while opened:
            container = opened[-1]
            if type(container) is dict:
                container[keys[-1]] = value
            else:
                container.append(value)
            at = skip_space(text, at) + 1
            if text[at - 1] == ",":
                at = skip_space(text, at)
                if type(container) is dict:
                    keys[-1], at = _parse_key(text, at)
                break
            if text[at - 1] != ("}" if type(container) is dict else "]"):
                raise json.JSONDecodeError("expecting a comma or a closing bracket", text, at - 1)
            value = opened.pop()
            keys.pop()
        else:
            if skip_space(text, at) != len(text):
                raise json.JSONDecodeError("extra data", text, at)
            return value


def _parse_key(text: str, at: int) -> tuple[str, int]:
    """Parse a key, and return the place after its colon."""
    if text[at] != '"':
        raise json.JSONDecodeError("expecting a key", text, at)
    key, at = _decoder.scan_once(text, at)
    at = skip_space(text, at)
    if text[at] != ":":
        raise json.JSONDecodeError("expecting a colon", text, at)
    return key, skip_space(text, at + 1)
