"""Arrays that grow."""

from __future__ import annotations

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled


@compiled
def with_space(values, used, more):
    """Make sure that there is space behind the used part of an array.

    Args:
        values: Any array of one dimension.
        used: How many entries of it are used, from the first.
        more: How many are to come.

    Returns:
        The array, or a copy of its used part that has at least twice its length.
    """
    if used + more <= len(values):
        return values
    larger = np.empty(max(2 * len(values), used + more), values.dtype)
    larger[:used] = values[:used]
    return larger
