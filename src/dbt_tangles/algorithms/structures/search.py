"""Binary search."""

from __future__ import annotations

import numpy as np

from dbt_tangles.kernel_runtime.compiled import inner


@inner
def first_not_below(values, end, number):
    """Find the first of ascending values that is not below a number.

    Args:
        values: int[end or more].
        end: How many are looked at.
        number: The number.

    Returns:
        Its place, or `end`.
    """
    low = np.int64(0)
    high = np.int64(end)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low
