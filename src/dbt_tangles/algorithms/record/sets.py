"""Sums of weights: the entries of a simple set, and the intervals of the entries of a complex set.

A transformation adds integer weights, ``{ENTRY: WEIGHT}`` or ``{ENTRY: {POSITION: WEIGHT}}``. A position is a whole
number, such as a sequence or a time, from which an entry belongs to the set (sum above 0), or no longer does.

Source: @tangle/simple-set 3.0.1 and @tangle/complex-set 3.0.3, with is-my-json-valid 2.20.6.
"""

import re
from collections.abc import Iterable
from typing import Any

_MAX_SAFE = 2**53 - 1
#: The characters that a dot in a JavaScript pattern excludes.
_LINE_ENDS = frozenset("\n\r\u2028\u2029")
_POSITION = re.compile("[0-9]+")
#: JavaScript objects list such keys first, by number: the indices of arrays.
_INDEX = re.compile("0|[1-9][0-9]{0,9}")
_MOST_INDICES = 2**32 - 1


def is_simple_set(transformation: dict[str, Any]) -> bool:
    """Whether an object maps entries to integer weights."""
    return all(_is_entry(entry) and _is_integer(weight) for entry, weight in transformation.items())


def is_complex_set(transformation: dict[str, Any]) -> bool:
    """Whether an object maps entries to objects that map positions to integer weights."""
    return all(
        _is_entry(entry)
        and type(weights) is dict
        and all(_POSITION.fullmatch(position) and _is_integer(weight) for position, weight in weights.items())
        for entry, weights in transformation.items()
    )


def _is_entry(entry: str) -> bool:
    return entry != "" and _LINE_ENDS.isdisjoint(entry)


def _is_integer(weight: Any) -> bool:
    if type(weight) is float:
        return weight.is_integer() or abs(weight) > _MAX_SAFE
    return type(weight) is int


def present_entries(transformations: Iterable[dict[str, Any]]) -> list[str]:
    """List the entries of a simple set whose weights sum to more than 0, in the order of JavaScript's sort."""
    weights: dict[str, float] = {}
    for transformation in transformations:
        _add(weights, transformation)
    return sorted((entry for entry, weight in weights.items() if weight > 0), key=_utf_16)


def present_intervals(
    transformations: Iterable[dict[str, Any]], keeps_zeros: bool
) -> dict[str, list[dict[str, float | None]]]:
    """List the intervals of each entry of a complex set that has at least one, sorted by entry in UTF-16 units.

    The positions of an entry are visited in ascending order. An interval starts at a sum above 0 and ends at the next
    sum of 0 or less. The end of the last interval may be None.

    Args:
        transformations: Valid transformations, in any order.
        keeps_zeros: Whether a sum of 0 ends an interval too; otherwise its position is skipped. The library removes
            such sums when it adds two transformations, so they remain in a record of a single message.

    Returns:
        For each entry its intervals ``{"start": POSITION, "end": POSITION}``. The library's output lacks the entry
        ``__proto__``, which is a special key of JavaScript objects.
    """
    entries: dict[str, dict[str, float]] = {}
    for transformation in transformations:
        for entry, weights in transformation.items():
            _add(entries.setdefault(entry, {}), weights)
    entries.pop("__proto__", None)
    found = ((entry, _intervals(weights, keeps_zeros)) for entry, weights in entries.items())
    return dict(sorted((pair for pair in found if pair[1]), key=lambda pair: _utf_16(pair[0])))


def _add(weights: dict[str, float], transformation: dict[str, Any]) -> None:
    for entry, weight in transformation.items():
        weights[entry] = weights.get(entry, 0.0) + float(weight)


def _utf_16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _intervals(weights: dict[str, float], keeps_zeros: bool) -> list[dict[str, float | None]]:
    intervals: list[dict[str, float | None]] = []
    is_open = False
    for position, weight in sorted(weights.items(), key=_place):
        if not is_open and weight > 0:
            intervals.append({"start": _number(position), "end": None})
            is_open = True
        elif is_open and (weight < 0 or (weight == 0 and keeps_zeros)):
            intervals[-1]["end"] = _number(position)
            is_open = False
    return intervals


def _place(event: tuple[str, float]) -> tuple[float, bool, str]:
    """Order positions by number. Of equal numbers, such as `1` and `01`, array indices come first."""
    text = event[0]
    return float(text), not (_INDEX.fullmatch(text) and int(text) < _MOST_INDICES), text


def _number(digits: str) -> float:
    """Round a position to a double, as JavaScript does; exact whole numbers are printed without a decimal point."""
    number = float(digits)
    return int(number) if number <= _MAX_SAFE else number
