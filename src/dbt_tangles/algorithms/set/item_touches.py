"""The touches of pzp sets: a touch is a message together with an item that it adds or deletes."""

from typing import NamedTuple

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner


class Touches(NamedTuple):
    """The items that messages add and delete, as codes: equal codes are equal items, in every set."""

    add_start: np.ndarray  # int64[messages + 1], into `added`
    added: np.ndarray  # int32[...]
    del_start: np.ndarray  # int64[messages + 1], into `deleted`
    deleted: np.ndarray  # int32[...]
    count: int  # The number of codes


class LinkedTouches(NamedTuple):
    """The touches of one set in the order of its messages; a linked list per item, from the latest backwards.

    Attributes:
        latest: int64[codes], `base` of `link_touches` plus the latest touch on each item; less than `base` for items
            that the set never touches.
        touch_message: int32[...], the message of each touch.
        touch_item: int32[...], its item.
        deletes: bool[...], whether the message deletes the item.
        before: int32[...], the previous touch on the item, or -1.
    """

    latest: np.ndarray
    touch_message: np.ndarray
    touch_item: np.ndarray
    deletes: np.ndarray
    before: np.ndarray


@compiled
def allocate_touches(set_start, counted, touches):
    """Allocate `LinkedTouches` for the largest of some sets.

    Args:
        set_start: int64[sets + 1], into the messages.
        counted: bool[messages], whether the touches of a message count.
        touches: `Touches`.

    Returns:
        `LinkedTouches`.
    """
    add_start, del_start = touches.add_start, touches.del_start
    most = 0
    for s in range(len(set_start) - 1):
        count = 0
        for m in range(set_start[s], set_start[s + 1]):
            if counted[m]:
                count += add_start[m + 1] - add_start[m] + del_start[m + 1] - del_start[m]
        most = max(most, count)
    return LinkedTouches(
        np.full(touches.count, np.int64(-1)),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.bool_),
        np.empty(most, np.int32),
    )


@inner
def add_touches(m, count, touches, base, linked):
    """Append the touches of a message, and link each to the previous touch on its item."""
    add_start, added, del_start, deleted, _ = touches
    latest, touch_message, touch_item, deletes, before = linked
    first = count
    for kind in range(2):
        item_start, items = (add_start, added) if kind == 0 else (del_start, deleted)
        for k in range(item_start[m], item_start[m + 1]):
            t = np.int32(max(latest[items[k]] - base, -1))
            if t < first:
                touch_message[count] = m
                touch_item[count] = items[k]
                deletes[count] = kind == 1
                before[count] = t
                latest[items[k]] = base + count
                count += 1
            elif kind == 1:
                deletes[t] = True
    return count


@inner
def link_touches(begin, end, counted, touches, base, linked):
    """List the touches of a set in the order of its messages, linked by item."""
    count = 0
    for m in range(begin, end):
        if counted[m]:
            count = add_touches(m, count, touches, base, linked)
    return count
