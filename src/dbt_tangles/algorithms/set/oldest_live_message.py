"""The oldest message that still stands behind an item.

A writer that squeezes a set repeats all items in one message, which then stands behind each of them. How much that
would gain depends on the oldest message that stands behind an item now: one that adds or deletes the item, and that
no other message which does so follows. Following is by links, through additions and deletions of the set's own account
only, as the peers have it.

The peers keep these messages up to date as others arrive, and keep too many when a message arrives before one that it
follows. What is found here is what a peer finds when messages arrive in any order that links allow.
"""

from __future__ import annotations

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner

# Up to this many sweeps are not worth a thought about something better.
FEW_SWEEPS = 4
CLOCK_ENTRIES = 2**25


@compiled
def find_oldest_live(set_start, root, start, previous, is_entry, touches, clock_entries):
    """Find, for each set, the earliest message that adds or deletes an item and is followed by no other that does.

    The last message on each item is followed by none, so the earliest of those is a bound, and only items that were
    touched before it are looked at. Then there are two ways to learn what follows what; see `_oldest_by_clocks` and
    `_oldest_by_sweeps`. The second takes (messages + links) * items / 64 steps at the very most; the first is given up before
    it takes longer than that, and needs steps in proportion to the messages while few of them are concurrent.

    Args:
        set_start: int64[sets + 1], into the messages.
        root: int32[sets], the message that is a set's root, or -1: then nothing is known to follow anything.
        start: int64[messages + 1].
        previous: int32[edges], earlier messages.
        is_entry: bool[messages]; the others are passed over, and nothing follows through them.
        touches: A `touched.Touches`.
        clock_entries: The most entries, of four bytes, in the clocks of one set.

    Returns:
        int32[sets], the message; -1 where no item was ever touched.
    """
    add_start, added, del_start, deleted, code_count = touches
    sets = len(set_start) - 1
    oldest = np.full(sets, np.int32(-1))
    number_of = np.empty(code_count, np.int32)
    numbered_in = np.full(code_count, np.int32(-1))
    for s in range(sets):
        begin, end = set_start[s], set_start[s + 1]
        # Items are numbered in the order of their first touch.
        count = 0
        items = 0
        for m in range(begin, end):
            if is_entry[m]:
                for kind in range(2):
                    list_start, code = (add_start, added) if kind == 0 else (del_start, deleted)
                    count += list_start[m + 1] - list_start[m]
                    for k in range(list_start[m], list_start[m + 1]):
                        if numbered_in[code[k]] != s:
                            numbered_in[code[k]] = s
                            number_of[code[k]] = items
                            items += 1
                            if oldest[s] < 0:
                                oldest[s] = m
        if items == 0 or root[s] < 0:
            continue
        # The messages of each item, ascending.
        touch_start = np.zeros(items + 1, np.int64)
        add_touches = np.empty(count, np.int32)
        for turn in range(2):
            if turn == 1:
                for i in range(items, 0, -1):
                    touch_start[i] = touch_start[i - 1]
                touch_start[0] = 0
                for i in range(items):
                    touch_start[i + 1] += touch_start[i]
                fill = touch_start[:-1].copy()
            for m in range(begin, end):
                if is_entry[m]:
                    for kind in range(2):
                        list_start, code = (add_start, added) if kind == 0 else (del_start, deleted)
                        for k in range(list_start[m], list_start[m + 1]):
                            i = number_of[code[k]]
                            if turn == 0:
                                touch_start[i] += 1
                            else:
                                add_touches[fill[i]] = m
                                fill[i] += 1
        bound = end
        for i in range(items):
            bound = min(bound, add_touches[touch_start[i + 1] - 1])
        open_items = 0
        while open_items < items and add_touches[touch_start[open_items]] < bound:
            open_items += 1
        sweeps = (open_items + 63) // 64
        found = -1
        if sweeps > FEW_SWEEPS:
            found = _oldest_by_clocks(
                begin,
                end,
                start,
                previous,
                is_entry,
                touch_start,
                add_touches,
                open_items,
                bound,
                sweeps,
                clock_entries,
            )
        if found < 0:
            found = _oldest_by_sweeps(
                begin, end, start, previous, is_entry, touch_start, add_touches, open_items, bound
            )
        oldest[s] = found
    return oldest


@inner
def _oldest_by_clocks(begin, end, start, previous, is_entry, touch_start, add_touches, open_items, bound, width, room):
    """Cover the messages of a set with chains, and note for each message how far along each chain it has come.

    A message prolongs a chain whose end it follows, the latest of them, or begins a new one.

    Returns:
        The earliest message, or -1 when there are more chains than `width` or more entries than `room`.
    """
    clock = np.empty(min(room, (end - begin) * width + 1), np.int32)
    clock_start = np.empty(end - begin + 1, np.int64)
    chain = np.empty(end - begin, np.int32)
    last = np.empty(width, np.int32)
    chains = 0
    used = 0
    for m in range(begin, end):
        clock_start[m - begin] = used
        if not is_entry[m]:
            continue
        if used + chains + 1 > len(clock):
            return -1
        own = clock[used : used + chains + 1]
        own[:] = -1
        for e in range(start[m], start[m + 1]):
            p = previous[e]
            # What is passed over has no entries here.
            other = clock[clock_start[p - begin] : clock_start[p - begin + 1]]
            for c in range(len(other)):
                own[c] = max(own[c], other[c])
        best = -1
        for c in range(chains):
            if own[c] >= 0 and own[c] == last[c] and (best < 0 or own[c] > own[best]):
                best = c
        if best < 0:
            if chains == width:
                return -1
            best = chains
            chains += 1
        own[best] = m
        last[best] = m
        chain[m - begin] = best
        used += chains
    clock_start[end - begin] = used
    standing = np.empty(chains, np.int32)
    for i in range(open_items):
        count = 0
        for k in range(touch_start[i], touch_start[i + 1]):
            m = add_touches[k]
            own = clock[clock_start[m - begin] : clock_start[m - begin + 1]]
            left = 0
            for j in range(count):
                c = chain[standing[j] - begin]
                if c >= len(own) or own[c] < standing[j]:
                    standing[left] = standing[j]
                    left += 1
            standing[left] = m
            count = left + 1
        bound = min(bound, standing[0])
    return bound


@inner
def _oldest_by_sweeps(begin, end, start, previous, is_entry, touch_start, add_touches, open_items, bound):
    """Sweep over the messages of a set from late to early: which of 64 items does something that follows touch?

    Returns:
        The earliest message.
    """
    one = np.uint64(1)
    touched = np.zeros(end - begin, np.uint64)
    followed = np.zeros(end - begin, np.uint64)
    for first_item in range(0, open_items, 64):
        lowest = add_touches[touch_start[first_item]]
        if lowest >= bound:
            break
        end_item = min(first_item + 64, open_items)
        highest = lowest
        for i in range(first_item, end_item):
            for k in range(touch_start[i], touch_start[i + 1]):
                touched[add_touches[k] - begin] |= one << np.uint64(i - first_item)
            highest = max(highest, add_touches[touch_start[i + 1] - 1])
        for m in range(highest, lowest - 1, -1):
            bits = touched[m - begin] | followed[m - begin]
            if bits and is_entry[m]:
                for e in range(start[m], start[m + 1]):
                    if previous[e] >= lowest:
                        followed[previous[e] - begin] |= bits
        for i in range(first_item, end_item):
            for k in range(touch_start[i], touch_start[i + 1]):
                if add_touches[k] >= bound:
                    break
                if not followed[add_touches[k] - begin] >> np.uint64(i - first_item) & one:
                    bound = add_touches[k]
                    break
        touched[lowest - begin : highest - begin + 1] = 0
        followed[lowest - begin : highest - begin + 1] = 0
    return bound
