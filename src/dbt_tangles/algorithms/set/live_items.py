"""What is in each set, and which messages no later one supersedes.

Messages are numbered by place (see the package), and so are their lists.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled


@compiled
def list_live_items(set_start, counted, touches):
    """Apply the additions and deletions of each message, one message after another.

    An addition of what is in the set changes nothing, and the deletions of a message follow its additions. What is
    deleted and added again is put at the end.

    Args:
        set_start: int64[sets + 1], into the messages.
        counted: bool[messages]; the others are passed over.
        touches: A `touched.Touches`.

    Returns:
        `item_start` int64[sets + 1], and for each present item, by set and order, the entry of `added` that put it
        there, int64[items], and its message, int32[items].
    """
    add_start, added, del_start, deleted, code_count = touches
    sets = len(set_start) - 1
    item_start = np.zeros(sets + 1, np.int64)
    entry = np.empty(len(added), np.int64)
    message = np.empty(len(added), np.int32)
    # Insertions count from 0 through all sets; what was inserted before a set began is not in it.
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
    return item_start, entry[:kept].copy(), message[:kept].copy()


@compiled
def item_roots(counted, list_start, superseded):
    """Find the messages that no later message supersedes.

    What a message lists is superseded for good while the message is there and has its data, whether or not the
    message is superseded itself. What does not come earlier, itself included, is not superseded by it.

    Args:
        counted: bool[messages]; the others neither supersede nor are item roots.
        list_start: int64[messages + 1], into `superseded`.
        superseded: int32[...], the message each entry names, or -1.

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
