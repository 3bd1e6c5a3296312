"""Galloping search (J. L. Bentley and A. C. Yao, An almost optimal algorithm for unbounded searching, 1976)."""

from __future__ import annotations

from collections.abc import Callable

from dbt_tangles.kernel_runtime.compiled import inner


def galloping(is_below: Callable) -> Callable:
    """Make a search for the end of what lies below: steps that double, then halves.

    Args:
        is_below: A compiled function of a place and of more that it needs: True up to some place, False from there on.

    Returns:
        A function of `low`, which lies below or is not asked about, of `end`, which is not asked about either, and of
        what `is_below` needs more. It returns the first place above `low` that does not lie below, or `end`; in steps
        logarithmic in how far that is from `low`. It is compiled into whoever calls it.
    """

    @inner
    def search(low, end, *more):
        step = 1
        while low + step < end and is_below(low + step, *more):
            low += step
            step *= 2
        high = min(low + step, end)
        while high - low > 1:
            middle = (low + high) >> 1
            if is_below(middle, *more):
                low = middle
            else:
                high = middle
        return high

    return search
