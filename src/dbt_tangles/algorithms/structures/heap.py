"""A binary heap of numbers (J. W. J. Williams, Algorithm 232: Heapsort, 1964), in an array that the caller owns.

Entries are ordered by `key`, an array with a number per entry, and then by the entry itself; if `key` is None, by the
entry alone. The caller keeps the size of the heap.
"""

from dbt_tangles.kernel_runtime.compiled import inner


@inner
def is_before(key, a, b):
    """Whether an entry sorts before another."""
    if key is None:
        return a < b
    return key[a] < key[b] or (key[a] == key[b] and a < b)


@inner
def push(heap, size, entry, key):
    """Insert an entry, for which the array must have room; return the new size."""
    at = size
    while at > 0 and is_before(key, entry, heap[(at - 1) >> 1]):
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = entry
    return size + 1


@inner
def drop_first(heap, size, key):
    """Remove the first entry, which is `heap[0]`; return the new size."""
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
