"""Insertion sort, fast on nearly sorted input."""

from dbt_tangles.kernel_runtime.compiled import inner


@inner
def insertion_sort(keys):
    """Sort keys by insertion; after eight moves per key, switch to numpy's sort."""
    moves = 8 * len(keys)
    for k in range(1, len(keys)):
        key = keys[k]
        at = k
        while at > 0 and keys[at - 1] > key:
            keys[at] = keys[at - 1]
            at -= 1
        keys[at] = key
        moves -= k - at
        if moves < 0:
            keys.sort()
            return
