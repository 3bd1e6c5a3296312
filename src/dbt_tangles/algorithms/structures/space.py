"""Growable arrays."""

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled


@compiled
def with_space(values, used, more):
    """Ensure that an array has space after its used part.

    Args:
        values: An array of one dimension.
        used: The number of used entries, from the first.
        more: The number of entries to add.

    Returns:
        The array, or a copy of its used part with at least twice the length.
    """
    if used + more <= len(values):
        return values
    larger = np.empty(max(2 * len(values), used + more), values.dtype)
    larger[:used] = values[:used]
    return larger
