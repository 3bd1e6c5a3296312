"""Reads a message's content: parses its JSON text, as `ssb_messages.content` has it, and shortens texts in it."""

from typing import Any

from dbt_tangles.formats.json.parse import InvalidUtf8Error, MalformedJsonError, parse

#: Characters of a preview, and of the text that is read for it.
_SHOWN, _READ = 80, 320


def preview(text: Any) -> str | None:
    """Return the beginning of a text on one line, without control characters; None if it has no words."""
    if type(text) is not str:
        return None
    words = " ".join(text[:_READ].split())
    if not words.isprintable():
        words = "".join(filter(str.isprintable, words))
    return words[:_SHOWN].rstrip() or None


def parse_content(text: str | None) -> dict[str, Any] | None:
    """Parse the JSON text of a content as JavaScript does; None for other values than objects."""
    try:
        content, _ = parse((text or "null").encode())
    except (InvalidUtf8Error, MalformedJsonError):
        return None
    return content if type(content) is dict else None
