"""Galloping search (J. L. Bentley and A. C. Yao, An almost optimal algorithm for unbounded searching, 1976)."""

from collections.abc import Callable

from dbt_tangles.kernel_runtime.compiled import inner


def galloping(is_below: Callable) -> Callable:
    """Make a search for the first index at which a predicate is false: doubling steps, then bisection.

    Args:
        is_below: A compiled function of an index and further arguments: True up to some index, False from there on.

    Returns:
        A function of `low`, `end` and the further arguments of `is_below`. It returns the first index above `low` where
        the predicate is false, or `end`, and evaluates the predicate only strictly between the two. The time is
        logarithmic in the distance from `low`. It is compiled into its callers.
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
