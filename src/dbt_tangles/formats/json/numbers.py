"""Reads whole numbers of JSON by their value, like JavaScript and JSON Schema, in any notation.

Source: ECMA-262, ``Number.isInteger`` and ``Number.isSafeInteger``; JSON Schema, "integer".
"""

from functools import partial
from typing import Any

#: JavaScript's largest safe integer.
MAX_SAFE = 2**53 - 1
MAX_INT32 = 2**31 - 1
MAX_INT64 = 2**63 - 1


def whole_number(value: Any, least: int, most: int) -> int | None:
    """Read a parsed JSON value as a whole number.

    Args:
        value: As a JSON parser returns it. ``1.0`` and ``1e0`` are 1; ``true`` and ``"1"`` are not numbers. A number
            with a fraction or exponent, or one that the parser reads as a float, is accepted up to `MAX_SAFE`.
        least: The lowest accepted number.
        most: The highest accepted number.

    Returns:
        The number; None for any other value.
    """
    if type(value) is float:
        # A parser may have rounded a larger number to this one.
        if not value.is_integer() or abs(value) > MAX_SAFE:
            return None
        value = int(value)
    return value if type(value) is int and least <= value <= most else None


#: Reads a whole number of 32 bits.
int32 = partial(whole_number, least=-MAX_INT32 - 1, most=MAX_INT32)
#: Reads a whole number of 64 bits.
int64 = partial(whole_number, least=-MAX_INT64 - 1, most=MAX_INT64)
#: Reads a number that ``Number.isSafeInteger`` accepts.
safe_integer = partial(whole_number, least=-MAX_SAFE, most=MAX_SAFE)
