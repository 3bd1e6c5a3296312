"""Parses the JSON text of a message's content, as the column `content` of `ssb_messages` has it."""

from typing import Any

import orjson

from dbt_tangles.formats.ssb.canonical import InvalidUtf8Error, MalformedJsonError, parse_exact


def parse_content(text: str | None) -> dict[str, Any] | None:
    """Parse the JSON text of a content as JavaScript does; None for other values than objects."""
    try:
        content = orjson.loads(text or "null")
    except orjson.JSONDecodeError:
        try:
            content = parse_exact((text or "").encode())
        except (InvalidUtf8Error, MalformedJsonError):
            return None
    return content if type(content) is dict else None
