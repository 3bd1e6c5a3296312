"""Deciding messages of pzp sets: the last message on each item in reduction order, and the consequences for pruning.

An item is in the set if the last message that adds or deletes it adds it. A message that arrives later either sorts
before the deciding message and changes nothing, or sorts behind it and decides instead.

Source: protospec.md, "Msg content" (the messages to supersede); the rule for pruning is the project's.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.set.item_touches import allocate_touches, link_touches
from dbt_tangles.kernel_runtime.compiled import compiled, inner


class DecidingMessages(NamedTuple):
    """The deciding message of each item that was ever touched in its set.

    Attributes:
        decides: bool[messages], whether a message decides any item.
        is_pruning_safe: bool[sets], whether the set keeps its items if only the item roots remain.
        message: int32[items], the deciding message, ascending.
        code: int32[items].
        deepest_start: int64[items + 1], into `deepest`.
        deepest: int32[...], the messages on the item that are as deep as the deciding one, ascending.
        is_open: bool[...], by `deepest`: whether the message deletes the item and is not superseded by a later one.
    """

    decides: np.ndarray
    is_pruning_safe: np.ndarray
    message: np.ndarray
    code: np.ndarray
    deepest_start: np.ndarray
    deepest: np.ndarray
    is_open: np.ndarray


@compiled
def find_deciding_messages(tangles, counted, is_item_root, is_superseded, touches):
    """Find the deciding messages of many sets, in linear time.

    Args:
        tangles: A `set_arrays.SetTangles`.
        counted: bool[messages], whether the touches of a message count.
        is_item_root: bool[messages].
        is_superseded: bool[messages], whether a later message that counts supersedes it.
        touches: An `item_touches.Touches`.

    Returns:
        `DecidingMessages`.
    """
    set_start, depth = tangles.set_start, tangles.depth
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
            end = deepest_start[items] + _count_deepest(last, depth, linked)
            deepest_start[items + 1] = end
            t = last
            for k in range(end - 1, deepest_start[items] - 1, -1):
                deepest[k] = touch_message[t]
                is_open[k] = deletes[t] and not is_superseded[touch_message[t]]
                t = before[t]
            items += 1
            if _deletes_after_pruning(last, is_item_root, linked) != deletes[last]:
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


@inner
def _count_deepest(last, depth, linked):
    """Count the touches on an item that are as deep as its last touch."""
    count = 0
    t = last
    while t >= 0 and depth[linked.touch_message[t]] == depth[linked.touch_message[last]]:
        count += 1
        t = linked.before[t]
    return count


@inner
def _deletes_after_pruning(last, is_item_root, linked):
    """Say whether the item of a last touch is absent if only the item roots remain."""
    t = last
    while t >= 0 and not is_item_root[linked.touch_message[t]]:
        t = linked.before[t]
    return t < 0 or linked.deletes[t]


@compiled
def positions_after_pruning(live, left, added, code_count):
    """Find the position of each present item among the items that remain after pruning.

    Args:
        live: The `live_items.LiveItems` of the sets.
        left: The `live_items.LiveItems` of the same sets after pruning.
        added: int32[...], the code of each entry.
        code_count: One more than the highest code.

    Returns:
        int32[items], -1 for an item that does not remain.
    """
    place = np.empty(len(live.entry), np.int32)
    left_at = np.full(code_count, np.int64(-1))
    for s in range(len(live.start) - 1):
        for k in range(left.start[s], left.start[s + 1]):
            left_at[added[left.entry[k]]] = k
        for k in range(live.start[s], live.start[s + 1]):
            place[k] = max(left_at[added[live.entry[k]]] - left.start[s], -1)
    return place
