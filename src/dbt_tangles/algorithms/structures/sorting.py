"""Insertion sort and natural merge sort, fast on nearly sorted input."""

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


@inner
def merge_sort(values, spare):
    """Sort numbers by merging runs; two runs already in order cost one comparison."""
    count = len(values)
    run = 1
    while run < count:
        for low in range(0, count - run, 2 * run):
            middle = low + run
            high = min(middle + run, count)
            if values[middle - 1] > values[middle]:
                for k in range(low, middle):
                    spare[k] = values[k]
                a, b, at = low, middle, low
                while a < middle:
                    if b < high and values[b] < spare[a]:
                        values[at] = values[b]
                        b += 1
                    else:
                        values[at] = spare[a]
                        a += 1
                    at += 1
        run *= 2
