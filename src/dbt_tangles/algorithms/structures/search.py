"""Binary search (lower bound) in ascending values."""

import numpy as np

from dbt_tangles.kernel_runtime.compiled import inner


@inner
def first_not_below(values, end, number):
    """Find the first of ascending values that is not less than a number."""
    low = np.int64(0)
    high = np.int64(end)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low
