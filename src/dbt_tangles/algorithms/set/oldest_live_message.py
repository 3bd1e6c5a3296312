"""The oldest live message of each set: the earliest root among its per-item roots, as pzp-set `squeeze` needs it.

A message is live for an item if it adds or deletes the item and no later message on the item descends from it. Descent
counts through additions and deletions of the set's own account only, as in pzp-set. A squeeze replaces all live
messages by one that repeats all items, so it gains as many depths as the oldest live message is below the deepest one.

pzp-set updates its per-item roots at each arrival and keeps too many of them when a message arrives before its
ancestors. The result here is that of a peer whose messages arrive in causal order.

Source: pzp-set 1.0.1, item roots and squeezePotential.
"""

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner


@compiled
def find_oldest_live(tangles, is_own, operations):
    """Find the oldest live message of each set.

    The last message on each item is live, so the earliest of them is an upper bound, and only items that were first
    touched before the bound are searched, 64 of them in one sweep: the bits of a word. A set takes at most
    (messages + links) * items / 64 steps.

    Args:
        tangles: A `set_messages.SetTangles`.
        is_own: bool[messages], whether the operations of a message count; descent leads through these messages only.
        operations: A `operations.Operations`.

    Returns:
        int32[sets], the message, or -1 if no message adds or deletes an item.
    """
    oldest = np.full(len(tangles.set_start) - 1, np.int32(-1))
    bits = np.zeros((2, len(is_own)), np.uint64)
    for s in range(len(oldest)):
        first_item, end_item = operations.item_start[s], operations.item_start[s + 1]
        end = tangles.set_start[s + 1]
        bound = end
        for i in range(first_item, end_item):
            t = operations.latest[i]
            while t >= 0 and not is_own[operations.message[t]]:
                t = operations.before[t]
            if t >= 0:
                bound = min(bound, operations.message[t])
        # Items ascend by their first operation.
        while first_item < end_item and operations.message[operations.first[first_item]] < bound:
            items = first_item, min(first_item + 64, end_item)
            bound = _sweep(items, (bound, end), tangles, is_own, operations, bits)
            first_item += 64
        if bound < end:
            oldest[s] = bound
    return oldest


@inner
def _sweep(items, bounds, tangles, is_own, operations, bits):
    """Return the earliest message that is live for one of up to 64 items, or the bound.

    `items` are the first item and the end; `bounds` the bound and the end of the set; `bits` uint64[2, messages], zero
    before and after, the items that a message touches, and those of its descendants.
    """
    bound, end = bounds
    touched, followed = bits[0], bits[1]
    one = np.uint64(1)
    lowest = end
    for i in range(items[0], items[1]):
        t = operations.latest[i]
        while t >= 0:
            m = operations.message[t]
            if is_own[m]:
                touched[m] |= one << np.uint64(i - items[0])
                lowest = min(lowest, m)
            t = operations.before[t]
    for m in range(end - 1, lowest - 1, -1):
        on_item = touched[m] | followed[m]
        if on_item and is_own[m]:
            for e in range(tangles.start[m], tangles.start[m + 1]):
                if tangles.previous[e] >= lowest:
                    followed[tangles.previous[e]] |= on_item
    for m in range(lowest, bound):
        if touched[m] & ~followed[m]:
            bound = m
            break
    bits[:, lowest:end] = 0
    return bound
