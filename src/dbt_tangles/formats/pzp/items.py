"""Encodes entries of ``add`` and ``del`` as tokens (`columns.item_tokens`)."""

from typing import Any

from dbt_tangles.columns.item_tokens import MARK
from dbt_tangles.formats.json.printing import compact_bytes

# An infinite number and null print alike in JSON, so infinities have their own text.
_INFINITIES = {float("inf"): "1e999", float("-inf"): "-1e999"}


def token_of(entry: Any) -> str:
    """Encode an entry as a token."""
    if type(entry) is str and not entry.startswith(MARK):
        try:
            entry.encode()
            return entry
        except UnicodeEncodeError:
            pass
    if type(entry) is float and entry in _INFINITIES:
        return MARK + _INFINITIES[entry]
    return MARK + compact_bytes(entry).decode()


def tokens_of(entries: list[Any]) -> list[str]:
    """Encode the entries of an array as tokens."""
    for entry in entries:
        if type(entry) is not str or entry < " " or not entry.isascii():
            return [token_of(each) for each in entries]
    return entries
