"""Sums and maxima of leading entries (P. M. Fenwick, A new data structure for cumulative frequency tables, 1994).

A tree over n entries is an array of n + 1; entries count from 0, and `tree[0]` is not used. Each step takes
O(log(n)).
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.kernel_runtime.compiled import inner


@inner
def sum_before(tree, place):
    """Add up the entries before a place.

    Args:
        tree: int[n + 1].
        place: From 0 to n.
    """
    total = np.int64(0)
    while place > 0:
        total += tree[place]
        place &= place - 1
    return total


@inner
def add(tree, size, place, number):
    """Add a number to an entry.

    Args:
        tree: int[size + 1 or more].
        size: How many entries there are.
        place: The entry.
        number: What is added.
    """
    place += 1
    while place <= size:
        tree[place] += number
        place += place & -place


@inner
def gather_sums(tree, size):
    """Make a tree of sums in linear time where each `tree[place + 1]` is an entry so far.

    Args:
        tree: int[size + 1 or more].
        size: How many entries there are.
    """
    for at in range(1, size + 1):
        above = at + (at & -at)
        if above <= size:
            tree[above] += tree[at]


@inner
def find_sum(tree, size, number):
    """Find the entry at which the sum passes a number.

    Args:
        tree: int[size + 1 or more], of entries that are not negative.
        size: How many entries there are.
        number: Not negative, less than the sum of all.

    Returns:
        The entry, and what is left of the number after all entries before it.
    """
    step = np.int64(1)
    while step * 2 <= size:
        step *= 2
    place = np.int64(0)
    while step > 0:
        if place + step <= size and tree[place + step] <= number:
            place += step
            number -= tree[place]
        step >>= 1
    return place, number


@inner
def raise_maximum(tree, size, place, item, key):
    """Let an item stand at an entry of a tree of maxima; of equals those stay that were there first.

    Args:
        tree: int[size + 1 or more], items, -1 for none.
        size: How many entries there are.
        place: The entry.
        item: The item.
        key: What items are compared by, a number for each.
    """
    place += 1
    while place <= size:
        if tree[place] < 0 or key[tree[place]] < key[item]:
            tree[place] = item
        place += place & -place
