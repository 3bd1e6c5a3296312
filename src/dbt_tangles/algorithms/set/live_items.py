"""The items of pzp sets by replay in reduction order, and the item roots.

Source: pzp-set 1.0.1, values and minRequiredDepth; protospec.md, "Msg content" (item roots).
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled


class LiveItems(NamedTuple):
    """The present items of many sets, by set, then insertion."""

    start: np.ndarray  # int64[sets + 1], into the items
    entry: np.ndarray  # int64[items], the entry of `Touches.added` that inserted each item
    message: np.ndarray  # int32[items], the message of that entry


@compiled
def list_live_items(set_start, counted, touches):
    """Apply the additions, then the deletions of each message, in reduction order.

    Adding a present item changes nothing. An item that is deleted and added again moves to the end.

    Args:
        set_start: int64[sets + 1], into the messages.
        counted: bool[messages], whether the touches of a message count.
        touches: An `item_touches.Touches`.

    Returns:
        `LiveItems`.
    """
    add_start, added, del_start, deleted, code_count = touches
    sets = len(set_start) - 1
    item_start = np.zeros(sets + 1, np.int64)
    entry = np.empty(len(added), np.int64)
    message = np.empty(len(added), np.int32)
    # Insertions are numbered through all sets; an insertion from before the set's first one is not in the set.
    inserted = np.full(code_count, np.int64(-1))
    insertions = 0
    kept = 0
    for s in range(sets):
        begin = insertions
        for m in range(set_start[s], set_start[s + 1]):
            if not counted[m]:
                continue
            for k in range(add_start[m], add_start[m + 1]):
                if inserted[added[k]] < begin:
                    inserted[added[k]] = insertions
                    at = kept + insertions - begin
                    entry[at] = k
                    message[at] = m
                    insertions += 1
            for k in range(del_start[m], del_start[m + 1]):
                inserted[deleted[k]] = -1
        first = kept
        for k in range(insertions - begin):
            if inserted[added[entry[first + k]]] == begin + k:
                entry[kept] = entry[first + k]
                message[kept] = message[first + k]
                kept += 1
        item_start[s + 1] = kept
    return LiveItems(item_start, entry[:kept].copy(), message[:kept].copy())


@compiled
def item_roots(counted, list_start, superseded):
    """Find the item roots: the messages that no later message supersedes.

    A superseded message stays superseded while its superseder has data, even if the superseder is superseded itself. A
    message does not supersede itself or later messages.

    Args:
        counted: bool[messages]; other messages neither supersede nor are item roots.
        list_start: int64[messages + 1], into `superseded`.
        superseded: int32[...], the message that each entry names, or -1.

    Returns:
        bool[messages].
    """
    is_item_root = counted.copy()
    for m in range(len(counted)):
        if counted[m]:
            for k in range(list_start[m], list_start[m + 1]):
                if 0 <= superseded[k] < m:
                    is_item_root[superseded[k]] = False
    return is_item_root
