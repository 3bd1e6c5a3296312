"""Finds framing mistakes: files that are cut into lines at the wrong places, or that are not text.

One such mistake merges any number of messages into a single line. The parser reports only a symptom (an unexpected
character at some column); this module names the mistake itself. It gets only lines that failed to parse, so all other
lines cost as much as without it.

Source: flumelog-offset 3.4, frames (length, data, length, offset: big-endian); bipf 1.9, tags; the first bytes of
compressed files and databases, as `file` (magic) lists them.
"""

import codecs
import json
import re
from typing import Any

from dbt_tangles.reasons import Framing

#: A mistake, and a sentence about the line.
Mistake = tuple[Framing, str]

_SOUGHT_BYTES = 2**12  # bytes of a line that are examined for an encoding
_LEAST_UTF16_BYTES = 6
_LEAST_NUL_SHARE = 0.25  # of all bytes: half of the bytes at even or at odd places
_LEAST_MARKED_SHARE = 0.1  # after the mark of UTF-16
_MOST_TRIES = 8

_MAGICS = {
    b"\x1f\x8b": "gzip data (such a file is read if its name ends in .gz)",
    b"BZh": "bzip2 data (such a file is read if its name ends in .bz2)",
    b"\x28\xb5\x2f\xfd": "Zstandard data (such a file is read if its name ends in .zst)",
    b"\xfd7zXZ\0": "xz data",
    b"PK\x03\x04": "a zip archive",
    b"SQLite format 3\0": "an SQLite database",
    b"PAR1": "a parquet file",
}
# A frame's length before or after an object: big-endian and below 16 MiB, so its first byte is 0.
_FRAME = re.compile(rb'\0[^\0].{0,2}\{"|\}\0{1,2}[^\0{]', re.DOTALL)
_BIPF = (b"\x18key", b"\x28value")

_SPACE = re.compile(r"[ \t\r\n]*")
# Text between consecutive objects: line ends, commas of a list, NUL and the separator of RFC 7464.
_GAP = re.compile(r"[ \t\r\n,\0\x1e]*")
_FIRST_KEY = re.compile(r'\{\s*"[^"\\]*"\s*:')
_decoder = json.JSONDecoder()


def framing_mistake(raw: bytes) -> Mistake | None:
    """Find the mistake because of which a line is not one JSON value.

    Args:
        raw: A line that failed to parse, or the beginning of a line that is too long to be read.

    Returns:
        The mistake, if it is a known one. Its sentence contains numbers, but never a part of the line.
    """
    if _is_utf16(raw):
        return Framing.UTF16, "text in UTF-16: convert the file to UTF-8 (iconv -f UTF-16 -t UTF-8)"
    for magic, name in _MAGICS.items():
        if raw.startswith(magic):
            return Framing.BINARY_LOG, f"binary: the line begins as {name}"
    if _FRAME.search(raw.rstrip(b"\0")):
        return (
            Framing.BINARY_LOG,
            "binary: JSON in frames that begin with a length, as in a log.offset; export the log as lines of JSON",
        )
    if all(tag in raw for tag in _BIPF):
        return Framing.BINARY_LOG, "binary: BIPF, as in a log.bipf; export the log as lines of JSON"
    text = raw.decode("utf-8", "replace")
    start = skip_space(text, 0)
    if text.startswith("[", start):
        return _array_begun(text, start + 1)
    return _several(text, start) if text.startswith("{", start) else None


def array_mistake(document: Any) -> Mistake | None:
    """Return the mistake that a parsed line is an array of objects, if it is one."""
    if type(document) is not list or not document or type(document[0]) is not dict:
        return None
    return Framing.JSON_ARRAY, _array_detail(f"{len(document):,} values")


def skip_space(text: str, at: int) -> int:
    """Return the place at or after `at` where no white space of JSON is."""
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it always matches


def _is_utf16(raw: bytes) -> bool:
    """Whether bytes have NUL in nearly every other place, as JSON in UTF-16 has; a mark alone may be of any binary."""
    head = raw[:_SOUGHT_BYTES]
    if len(head) < _LEAST_UTF16_BYTES:
        return False
    less, more = sorted((head[::2].count(0), head[1::2].count(0)))
    has_mark = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return more >= (_LEAST_MARKED_SHARE if has_mark else _LEAST_NUL_SHARE) * len(head) and 10 * less <= more


def _array_detail(size: str) -> str:
    return f"a JSON array of {size}: give each object a line of its own (jq -c '.[]')"


def _array_begun(text: str, start: int) -> Mistake | None:
    """Check for an array that is cut or ends badly, from the character after its bracket."""
    start = skip_space(text, start)
    end = _object_end(text, start)
    if end is None or not text.startswith((",", "]"), skip_space(text, end)):
        return None
    return Framing.JSON_ARRAY, _array_detail("objects, cut off or followed by other text")


def _several(text: str, start: int) -> Mistake | None:
    """Check a text that begins with an object for a second object."""
    end = _object_end(text, start)
    if end is None:
        return _torn(text, start)
    second = _GAP.match(text, end).end()  # type: ignore[union-attr]
    if not text.startswith("{", second):
        return None
    gap, where = text[end:second], f"more than one JSON object: the second begins at character {second + 1}"
    if "\n" in gap:
        return Framing.SEVERAL_MESSAGES, f"{where}, in a line of its own (ssb_log_format: lines reads such a log)"
    if "\r" in gap:
        return (
            Framing.CR_LINE_ENDS,
            f"{where}, behind a carriage return (CR) alone: replace each by a line feed (tr '\\r' '\\n')",
        )
    return Framing.SEVERAL_MESSAGES, f"{where}, in the same line: put a line feed (LF) before it"


def _torn(text: str, start: int) -> Mistake | None:
    """Check whether an object that is cut off is followed by a complete object with the same first key."""
    key = _FIRST_KEY.match(text, start)
    if key is None:
        return None
    place = start
    for _ in range(_MOST_TRIES):
        place = text.find(key.group(), place + 1)
        if place < 0:
            return None
        end = _object_end(text, place)
        if end is not None and not text[end:].strip():
            return (
                Framing.SEVERAL_MESSAGES,
                f"more than one JSON object: one that is cut off, and one that begins at character {place + 1}",
            )
    return None


def _object_end(text: str, start: int) -> int | None:
    """Return the position after the complete object that begins at `start`, if there is one."""
    if not text.startswith("{", start):
        return None
    try:
        return _decoder.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None
