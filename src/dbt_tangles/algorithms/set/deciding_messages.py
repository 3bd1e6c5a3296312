"""Which message decides on each item, and what that means for pruning and for the next message.

An item is in the set if the last message that adds or deletes it adds it. That one decides, now and whatever message
is added later: a message that sorts before it changes nothing, and one that sorts behind it decides itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.set.item_touches import allocate_touches, link_touches
from dbt_tangles.kernel_runtime.compiled import compiled


class DecidingMessages(NamedTuple):
    """What `find_deciding_messages` finds; of the items, each that was ever touched in a set, by the message that decides on it.

    Attributes:
        decides: bool[messages]; whether a message decides on some item.
        is_pruning_safe: bool[sets]; whether the same items are there if only the item roots are left.
        message: int32[items], the message that decides, ascending.
        code: int32[items].
        deepest_start: int64[items + 1], into `deepest`.
        deepest: int32[...], the messages on the item that are as deep as the one that decides, ascending.
        is_open: bool[...], by `deepest`; whether that one deletes the item, and no later one supersedes it.
    """

    decides: np.ndarray
    is_pruning_safe: np.ndarray
    message: np.ndarray
    code: np.ndarray
    deepest_start: np.ndarray
    deepest: np.ndarray
    is_open: np.ndarray


@compiled
def find_deciding_messages(set_start, depth, counted, is_item_root, is_superseded, touches):
    """Find the deciding messages of many sets, in linear time.

    Args:
        set_start: int64[sets + 1], into the messages.
        depth: int64[messages]; never falls within a set.
        counted: bool[messages]; the others touch nothing.
        is_item_root: bool[messages].
        is_superseded: bool[messages]; whether a later message that counts supersedes it.
        touches: A `touched.Touches`.

    Returns:
        A `DecidingMessages`.
    """
    sets = len(set_start) - 1
    decides = np.zeros(len(depth), np.bool_)
    is_safe = np.ones(sets, np.bool_)
    everything = len(touches.added) + len(touches.deleted)
    message = np.empty(everything, np.int32)
    code = np.empty(everything, np.int32)
    deepest_start = np.zeros(everything + 1, np.int64)
    deepest = np.empty(everything, np.int32)
    is_open = np.empty(everything, np.bool_)
    items = 0
    linked = allocate_touches(set_start, counted, touches)
    latest, touch_message, touch_item, deletes, before = linked
    base = np.int64(0)
    for s in range(sets):
        touch_count = link_touches(set_start[s], set_start[s + 1], counted, touches, base, linked)
        for last in range(touch_count):
            if latest[touch_item[last]] - base != last:
                continue
            m = touch_message[last]
            decides[m] = True
            message[items] = m
            code[items] = touch_item[last]
            count = 0
            t = last
            while t >= 0 and depth[touch_message[t]] == depth[m]:
                count += 1
                t = before[t]
            end = deepest_start[items] + count
            deepest_start[items + 1] = end
            items += 1
            t = last
            for k in range(1, count + 1):
                deepest[end - k] = touch_message[t]
                is_open[end - k] = deletes[t] and not is_superseded[touch_message[t]]
                t = before[t]
            t = last
            while t >= 0 and not is_item_root[touch_message[t]]:
                t = before[t]
            if (t < 0 or deletes[t]) != deletes[last]:
                is_safe[s] = False
        base += touch_count
    end = deepest_start[items]
    return DecidingMessages(
        decides,
        is_safe,
        message[:items].copy(),
        code[:items].copy(),
        deepest_start[: items + 1].copy(),
        deepest[:end].copy(),
        is_open[:end].copy(),
    )


@compiled
def positions_after_pruning(item_start, entry, left_start, left_entry, added, code_count):
    """Find the place of each item in the order that is left after pruning.

    Args:
        item_start: int64[sets + 1], into the items.
        entry: int64[items], into `added`; the items of a set in their order.
        left_start: int64[sets + 1], into the items that are left.
        left_entry: int64[...], into `added`; in the order that is left.
        added: int32[...], the code of each entry.
        code_count: One more than the highest code.

    Returns:
        int32[items], -1 for an item that is not left.
    """
    place = np.empty(len(entry), np.int32)
    left_at = np.full(code_count, np.int64(-1))
    for s in range(len(item_start) - 1):
        for k in range(left_start[s], left_start[s + 1]):
            left_at[added[left_entry[k]]] = k
        for k in range(item_start[s], item_start[s + 1]):
            place[k] = max(left_at[added[entry[k]]] - left_start[s], -1)
    return place
