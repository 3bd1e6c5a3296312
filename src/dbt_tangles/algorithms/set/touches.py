"""The touches of pzp sets: a touch is a message together with an item that it adds or deletes.

Items are numbered by set, then first touch, and touches by message, so that an item belongs to one set.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.columns.arrays import starts
from dbt_tangles.kernel_runtime.compiled import compiled


class Touches(NamedTuple):
    """The items of many sets, and the touches on them."""

    item_start: np.ndarray  # int64[sets + 1], into the items
    entry: np.ndarray  # int64[items], the entry that names each item first
    first: np.ndarray  # int32[items], the first touch on each item
    latest: np.ndarray  # int32[items], the last one
    adds: np.ndarray  # bool[messages], whether it counts and adds an item
    start: np.ndarray  # int64[messages + 1], into the touches
    message: np.ndarray  # int32[touches]
    item: np.ndarray  # int32[touches]
    deletes: np.ndarray  # bool[touches], whether the message deletes the item (additions come first)
    before: np.ndarray  # int32[touches], the previous touch on the item, or -1


@compiled
def list_touches(set_start, counted, lists, code, code_count):
    """List the touches of the messages that count, each item of a message once.

    Args:
        set_start: int64[sets + 1], into the messages.
        counted: bool[messages].
        lists: The additions, then the deletions of each message: (int64[messages + 1], int64[...]), into `code`.
        code: int32[entries]; equal codes are equal items, in every set.
        code_count: One more than the highest code.

    Returns:
        `Touches`.
    """
    sets = len(set_start) - 1
    item_start = np.zeros(sets + 1, np.int64)
    adds = np.zeros(len(counted), np.bool_)
    start = np.zeros(len(counted) + 1, np.int64)
    entry = np.empty(len(code), np.int64)
    first_touch, latest = np.empty(len(code), np.int32), np.empty(len(code), np.int32)
    message, item = np.empty(len(code), np.int32), np.empty(len(code), np.int32)
    before = np.empty(len(code), np.int32)
    deletes = np.zeros(len(code), np.bool_)
    item_of = np.full(code_count, np.int32(-1))
    items = 0
    count = 0
    for s in range(sets):
        for m in range(set_start[s], set_start[s + 1]):
            first = count
            adds[m] = counted[m] and lists[0][0][m] < lists[0][0][m + 1]
            for kind in range(2):
                list_start, entries = lists[kind]
                for k in range(list_start[m], list_start[m + 1] if counted[m] else 0):
                    c = code[entries[k]]
                    if item_of[c] < item_start[s]:
                        item_of[c] = items
                        entry[items] = entries[k]
                        first_touch[items] = count
                        latest[items] = -1
                        items += 1
                    i = item_of[c]
                    if latest[i] < first:
                        message[count] = m
                        item[count] = i
                        before[count] = latest[i]
                        latest[i] = count
                        count += 1
                    deletes[latest[i]] |= kind == 1
            start[m + 1] = count
        item_start[s + 1] = items
    return Touches(
        item_start,
        entry[:items].copy(),
        first_touch[:items].copy(),
        latest[:items].copy(),
        adds,
        start,
        message[:count].copy(),
        item[:count].copy(),
        deletes[:count].copy(),
        before[:count].copy(),
    )


@compiled
def insertions(touches, counted):
    """Find the touch that put each item into its set: int32[items], -1 for an item that is not in the set.

    The additions, then the deletions of each message are applied in reduction order. Adding a present item changes
    nothing. An item that is deleted and added again moves to the end.

    Args:
        touches: `Touches`.
        counted: bool[messages], the messages to apply.

    Source: pzp-set 1.0.1, values.
    """
    inserted = np.full(len(touches.latest), np.int32(-1))
    for t in range(len(touches.message)):
        if counted[touches.message[t]]:
            i = touches.item[t]
            if touches.deletes[t]:
                inserted[i] = -1
            elif inserted[i] < 0:
                inserted[i] = t
    return inserted


def positions(touches: Touches, inserted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order the present items of each set by insertion.

    Args:
        touches: The items.
        inserted: int32[items], see `insertions`.

    Returns:
        int64[present], the present items in order; int32[items], the position of each in its set, or -1.
    """
    present = np.argsort(inserted, kind="stable")[np.count_nonzero(inserted < 0) :]
    owner = np.searchsorted(touches.item_start, present, side="right")
    position = np.full(len(inserted), np.int32(-1))
    position[present] = np.arange(len(present)) - np.searchsorted(owner, owner)
    return present, position


def messages_by_item(touches: Touches, is_listed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List the messages of some touches, by item: int64[items + 1], offsets into int32[...], ascending for each item.

    Args:
        touches: The touches.
        is_listed: bool[touches].
    """
    listed = np.flatnonzero(is_listed)
    item = touches.item[listed]
    by_item = listed[np.argsort(item, kind="stable")]
    return starts(np.bincount(item, minlength=len(touches.latest))), touches.message[by_item]
