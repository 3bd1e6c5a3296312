"""Fenwick trees: prefix sums and maxima (P. M. Fenwick, A new data structure for cumulative frequency tables, 1994).

A tree over n entries is an array of n + 1; entries count from 0, and `tree[0]` is unused. Each operation takes
O(log(n)).
"""

import numpy as np

from dbt_tangles.kernel_runtime.compiled import inner


@inner
def sum_before(tree, place):
    """Sum the entries before an index."""
    total = np.int64(0)
    while place > 0:
        total += tree[place]
        place &= place - 1
    return total


@inner
def add(tree, size, place, number):
    """Add a number to an entry."""
    place += 1
    while place <= size:
        tree[place] += number
        place += place & -place


@inner
def gather_sums(tree, size):
    """Turn an array with each entry at `tree[place + 1]` into a tree of sums, in linear time."""
    for at in range(1, size + 1):
        above = at + (at & -at)
        if above <= size:
            tree[above] += tree[at]


@inner
def raise_maximum(tree, size, place, item, key):
    """Enter an item into a tree of prefix maxima; on ties the earlier item stays."""
    place += 1
    while place <= size:
        if tree[place] < 0 or key[tree[place]] < key[item]:
            tree[place] = item
        place += place & -place
