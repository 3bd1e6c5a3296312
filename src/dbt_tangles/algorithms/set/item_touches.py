"""What the messages of one set add and delete, as touches: a touch is a message and an item."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner


class Touches(NamedTuple):
    """The items that messages add and delete, as codes: equal for equal items, in whatever set.

    Attributes:
        add_start: int64[messages + 1], into `added`.
        added: int32[...].
        del_start: int64[messages + 1], into `deleted`.
        deleted: int32[...].
        count: How many codes there are.
    """

    add_start: np.ndarray
    added: np.ndarray
    del_start: np.ndarray
    deleted: np.ndarray
    count: int


class LinkedTouches(NamedTuple):
    """The touches of one set, numbered in the order of its messages, and linked backwards.

    Attributes:
        latest: int64[codes], `base` of `link_touches` and the latest touch on each item; less where the set has none.
        toucher: int32[...], the message of each touch.
        code_of: int32[...], its item.
        deletes: bool[...], whether the item is deleted in the end.
        before: int32[...], the touch before on the item, or -1.
    """

    latest: np.ndarray
    touch_message: np.ndarray
    touch_item: np.ndarray
    deletes: np.ndarray
    before: np.ndarray


@compiled
def allocate_touches(set_start, counted, touches):
    """Make room for the touches of any one of some sets: no more than the entries of its messages.

    Args:
        set_start: int64[sets + 1], into the messages.
        counted: bool[messages]; the others touch nothing.
        touches: A `Touches`.

    Returns:
        A `LinkedTouches`.
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
    """Number the touches of a message behind those before, and link each to the one before on its item.

    Args:
        m: The message.
        count: How many touches there are before.
        touches: A `Touches`.
        base: More than anything that `linked.latest` has of other sets.
        linked: A `LinkedTouches`, to be filled.

    Returns:
        How many touches there are now.
    """
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
    """Number the touches of a set in the order of its messages, and link those on one item backwards.

    Args:
        begin: The first message of the set.
        end: Behind the last.
        counted: bool[messages]; the others touch nothing.
        touches: A `Touches`.
        base: More than anything in `linked.latest`.
        linked: A `LinkedTouches`, to be filled.

    Returns:
        How many touches there are.
    """
    count = 0
    for m in range(begin, end):
        if counted[m]:
            count = add_touches(m, count, touches, base, linked)
    return count
