"""Recognises the kind of a log by the fields of its first lines."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import orjson

from dbt_tangles.ingest.line_checks import BYTE_ORDER_MARK

KINDS = SSB, PZP, AUTOBASE, EVENTS = "ssb", "pzp", "autobase", "events"
#: The number of lines that are examined.
SAMPLE = 200


def recognise(lines: Iterable[bytes]) -> str | None:
    """Return the kind of most lines or objects, damaged ones included; None if all kinds are unknown."""
    counts = Counter(kind for line in lines if (kind := _kind_of(line)))
    return min(counts, key=lambda kind: (-counts[kind], KINDS.index(kind))) if counts else None


def _kind_of(line: bytes) -> str | None:
    try:
        document: Any = orjson.loads(line.removeprefix(BYTE_ORDER_MARK))
    except orjson.JSONDecodeError:
        return None
    if type(document) is list and document:  # an array of messages, which becomes a finding
        document = document[0]
    if type(document) is not dict:
        return None
    if "timeline" in document and "event" in document:
        return EVENTS
    if type(document.get("base")) is str:
        return AUTOBASE
    if "metadata" in document or type(document.get("msg")) is dict:
        return PZP
    return SSB if "value" in document or ("author" in document and "content" in document) else None
