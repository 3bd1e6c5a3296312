"""A binary heap of numbers (J. W. J. Williams, Algorithm 232: Heapsort, 1964), in an array that the caller owns.

Entries are compared by `key`, an array with a number for each, and then themselves; where `key` is None, themselves
alone. Whoever owns the heap counts its entries.
"""

from __future__ import annotations

from dbt_tangles.kernel_runtime.compiled import inner


@inner
def is_before(key, a, b):
    """Say whether an entry comes before another.

    Args:
        key: A number for each entry, or None.
        a: An entry.
        b: Another.
    """
    if key is None:
        return a < b
    return key[a] < key[b] or (key[a] == key[b] and a < b)


@inner
def push(heap, size, entry, key):
    """Put an entry in.

    Args:
        heap: int[...], with room for it.
        size: How many there were.
        entry: The new one.
        key: As in `is_before`.

    Returns:
        How many there are now.
    """
    at = size
    while at > 0 and is_before(key, entry, heap[(at - 1) >> 1]):
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = entry
    return size + 1


@inner
def drop_first(heap, size, key):
    """Take out the first entry, which is `heap[0]`.

    Args:
        heap: int[...].
        size: How many there were, at least one.
        key: As in `is_before`.

    Returns:
        How many are left.
    """
    size -= 1
    last = heap[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and is_before(key, heap[below + 1], heap[below]):
            below += 1
        if not is_before(key, heap[below], last):
            break
        heap[at] = heap[below]
        at = below
    heap[at] = last
    return size
