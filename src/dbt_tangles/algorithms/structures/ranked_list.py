"""A list with insertion anywhere and rank queries, as a treap (Aragon and Seidel, Randomized search trees, 1989).

Items are numbers below a size, each at most once in the list. Shown items have their own number as a key; hidden items
have no key. The list is a binary tree in list order whose priorities are hashes, so each operation takes expected
O(log(items)).
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner, interpreted_as


class RankedList(NamedTuple):
    """The treap as arrays; -1 stands for a missing item."""

    root: np.ndarray  # int32[1]
    left: np.ndarray  # int32[size]
    right: np.ndarray  # int32[size]
    parent: np.ndarray  # int32[size]
    count: np.ndarray  # int32[size], the number of items in the subtree of an item, itself included
    shown: np.ndarray  # int32[size], the number of shown items in the subtree
    largest: np.ndarray  # int32[size], the largest key in the subtree, or -1
    is_hidden: np.ndarray  # bool[size]


@compiled
def ranked_list(size):
    """Create an empty list for items below a size, all shown."""
    return RankedList(
        np.full(1, np.int32(-1)),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.zeros(size, np.bool_),
    )


@inner
def length(items):
    """Count the shown items."""
    return np.int64(items.shown[items.root[0]]) if items.root[0] >= 0 else np.int64(0)


@inner
def place_of(items, x):
    """Return the rank of an item: the number of items before it, of all items and of shown items."""
    count, shown = np.int64(0), np.int64(0)
    below = items.left[x]
    if below >= 0:
        count += items.count[below]
        shown += items.shown[below]
    while items.parent[x] >= 0:
        up = items.parent[x]
        if items.right[up] == x:
            count += items.count[up] - items.count[x]
            shown += items.shown[up] - items.shown[x]
        x = up
    return count, shown


@inner
def first_shown(items):
    """Find the first shown item, or -1."""
    return _first_shown_below(items, np.int64(items.root[0]))


@inner
def next_shown(items, x):
    """Find the next shown item after an item, or -1."""
    y = _first_shown_below(items, np.int64(items.right[x]))
    while y < 0 and items.parent[x] >= 0:
        up = items.parent[x]
        if items.left[up] == x:
            y = np.int64(up) if not items.is_hidden[up] else _first_shown_below(items, np.int64(items.right[up]))
        x = up
    return y


@inner
def put_before_larger(items, x, after):
    """Insert an item: a hidden one directly after another, a shown one before the next larger key after it."""
    if items.is_hidden[x]:
        _link_behind(items, x, after)
        return
    y = _first_larger(items, x, after)
    if y < 0:
        _link_last(items, x)
    else:
        _link_before(items, x, y)


@inner
def unlist(items, x):
    """Remove an item."""
    while items.left[x] >= 0 or items.right[x] >= 0:
        a, b = items.left[x], items.right[x]
        if b < 0 or (a >= 0 and _is_above(a, b)):
            _rotate_up(items, a)
        else:
            _rotate_up(items, b)
    up = items.parent[x]
    if up < 0:
        items.root[0] = -1
        return
    if items.left[up] == x:
        items.left[up] = -1
    else:
        items.right[up] = -1
    while up >= 0:
        _sum_up(items, up)
        up = items.parent[up]


def _mixed_integer(x):
    mask = (1 << 64) - 1
    z = (int(x) + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
    return z ^ z >> 31


@inner
@interpreted_as(_mixed_integer)
def _mixed(x):
    """Hash a number (S. Vigna's splitmix64)."""
    z = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner
def _is_above(x, y):
    return _mixed(x) < _mixed(y)


@inner
def _sum_up(items, x):
    count, shown, largest = np.int32(1), np.int32(0), np.int32(-1)
    if not items.is_hidden[x]:
        shown = np.int32(1)
        largest = np.int32(x)
    for below in (items.left[x], items.right[x]):
        if below >= 0:
            count += items.count[below]
            shown += items.shown[below]
            largest = max(largest, items.largest[below])
    items.count[x] = count
    items.shown[x] = shown
    items.largest[x] = largest


@inner
def _rotate_up(items, x):
    left, right, parent = items.left, items.right, items.parent
    p = parent[x]
    g = parent[p]
    if left[p] == x:
        left[p] = right[x]
        if right[x] >= 0:
            parent[right[x]] = p
        right[x] = p
    else:
        right[p] = left[x]
        if left[x] >= 0:
            parent[left[x]] = p
        left[x] = p
    parent[p] = x
    parent[x] = g
    if g < 0:
        items.root[0] = x
    elif left[g] == p:
        left[g] = x
    else:
        right[g] = x
    _sum_up(items, p)
    _sum_up(items, x)


@inner
def _first_shown_below(items, x):
    """Find the first shown item of a subtree, or -1."""
    if x < 0 or items.shown[x] == 0:
        return np.int64(-1)
    while True:
        below = items.left[x]
        if below >= 0 and items.shown[below] > 0:
            x = np.int64(below)
        elif not items.is_hidden[x]:
            return x
        else:
            x = np.int64(items.right[x])


@inner
def _first_larger_below(items, x, root):
    """Find the first item with a key larger than x in a subtree that has one."""
    y = np.int64(root)
    while True:
        below = items.left[y]
        if below >= 0 and items.largest[below] > x:
            y = np.int64(below)
        elif not items.is_hidden[y] and y > x:
            return y
        else:
            y = np.int64(items.right[y])


@inner
def _first_larger(items, x, after):
    """Find the first item after another that has a key larger than x, or -1."""
    if after < 0:
        root = items.root[0]
        return _first_larger_below(items, x, root) if root >= 0 and items.largest[root] > x else np.int64(-1)
    y = np.int64(after)
    if items.right[y] >= 0 and items.largest[items.right[y]] > x:
        return _first_larger_below(items, x, items.right[y])
    while items.parent[y] >= 0:
        up = np.int64(items.parent[y])
        if items.left[up] == y:
            if not items.is_hidden[up] and up > x:
                return up
            if items.right[up] >= 0 and items.largest[items.right[up]] > x:
                return _first_larger_below(items, x, items.right[up])
        y = up
    return np.int64(-1)


@inner
def _link(items, x, up):
    """Complete the insertion of an item that its parent already links to, and restore the heap order."""
    items.left[x] = -1
    items.right[x] = -1
    items.parent[x] = up
    _sum_up(items, x)
    while up >= 0:
        _sum_up(items, up)
        up = items.parent[up]
    while items.parent[x] >= 0 and _is_above(x, items.parent[x]):
        _rotate_up(items, x)


@inner
def _link_last(items, x):
    up = items.root[0]
    if up < 0:
        items.root[0] = x
    else:
        while items.right[up] >= 0:
            up = items.right[up]
        items.right[up] = x
    _link(items, x, up)


@inner
def _link_before(items, x, y):
    if items.left[y] < 0:
        items.left[y] = x
        up = np.int32(y)
    else:
        up = items.left[y]
        while items.right[up] >= 0:
            up = items.right[up]
        items.right[up] = x
    _link(items, x, up)


@inner
def _link_behind(items, x, after):
    if after >= 0 and items.right[after] < 0:
        items.right[after] = x
        _link(items, x, np.int32(after))
        return
    up = items.root[0] if after < 0 else items.right[after]
    if up < 0:
        items.root[0] = x
    else:
        while items.left[up] >= 0:
            up = items.left[up]
        items.left[up] = x
    _link(items, x, up)
