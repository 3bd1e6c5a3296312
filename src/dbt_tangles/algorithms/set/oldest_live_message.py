"""The oldest live message of each set: the earliest root among its per-item roots, as pzp-set `squeeze` needs it.

A message is live for an item if it adds or deletes the item and no later message on the item descends from it. Descent
counts through additions and deletions of the set's own account only, as in pzp-set. A squeeze replaces all live
messages by one that repeats all items, so it gains as many depths as the oldest live message is below the deepest one.

pzp-set updates its per-item roots at each arrival and keeps too many of them when a message arrives before its
ancestors. The result here is that of a peer whose messages arrive in causal order.

Source: pzp-set 1.0.1, item roots and squeezePotential.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.kernel_runtime.compiled import compiled, inner

# Up to this many sweeps, sweeps are used without trying clocks first.
FEW_SWEEPS = 4
CLOCK_ENTRIES = 2**25


class _Set(NamedTuple):
    """One set: its messages from `begin` to `end`, and the arrays of `find_oldest_live`."""

    begin: int
    end: int
    start: np.ndarray
    previous: np.ndarray
    is_entry: np.ndarray


class _ItemMessages(NamedTuple):
    """The messages on the items of one set."""

    start: np.ndarray  # int64[items + 1], into `message`. Items are numbered in the order of their first message
    message: np.ndarray  # int32[...], ascending for each item


class _Clocks(NamedTuple):
    """Chain clocks of one set."""

    entry: np.ndarray  # int32[room], the latest ancestor on a chain, or -1
    start: np.ndarray  # int64[messages + 1], into `entry`
    chain: np.ndarray  # int32[messages], the chain of each message


@compiled
def find_oldest_live(tangles, root, is_entry, touches, clock_entries):
    """Find the oldest live message of each set.

    The last message on each item is live, so the earliest last message is an upper bound, and only items with a message
    before the bound are searched. There are two searches. `_oldest_by_sweeps` takes at most
    (messages + links) * items / 64 steps. `_oldest_by_clocks` gives up before it takes longer than that, and takes
    time linear in the messages as long as few of them are concurrent.

    Args:
        tangles: A `set_arrays.SetTangles`.
        root: int32[sets], the root of each set, or -1: then its tangle is unknown, and the first message is returned.
        is_entry: bool[messages], whether a message counts; descent leads through these messages only.
        touches: An `item_touches.Touches`.
        clock_entries: The most clock entries of one set, four bytes each.

    Returns:
        int32[sets], the message, or -1 if no message touches an item.
    """
    set_start, start, previous, _ = tangles
    sets = len(set_start) - 1
    oldest = np.full(sets, np.int32(-1))
    number_of = np.empty(touches.count, np.int32)
    numbered_in = np.full(touches.count, np.int32(-1))
    for s in range(sets):
        begin, end = set_start[s], set_start[s + 1]
        items, count, oldest[s] = _number_items(s, begin, end, is_entry, touches, (number_of, numbered_in))
        if items == 0 or root[s] < 0:
            continue
        on_items = _ItemMessages(np.zeros(items + 1, np.int64), np.empty(count, np.int32))
        _group_messages(begin, end, is_entry, touches, number_of, on_items)
        bound = end
        for i in range(items):
            bound = min(bound, on_items.message[on_items.start[i + 1] - 1])
        open_items = 0
        while open_items < items and on_items.message[on_items.start[open_items]] < bound:
            open_items += 1
        of = _Set(begin, end, start, previous, is_entry)
        sweeps = (open_items + 63) // 64
        found = -1
        if sweeps > FEW_SWEEPS:
            found = _oldest_by_clocks(of, on_items, open_items, bound, sweeps, clock_entries)
        if found < 0:
            found = _oldest_by_sweeps(of, on_items, open_items, bound)
        oldest[s] = found
    return oldest


@inner
def _number_items(s, begin, end, is_entry, touches, numbers):
    """Number the items of a set in the order of their first message."""
    add_start, added, del_start, deleted, _ = touches
    number_of, numbered_in = numbers
    items = 0
    count = 0
    first = -1
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
                        if first < 0:
                            first = m
    return items, count, first


@inner
def _group_messages(begin, end, is_entry, touches, number_of, on_items):
    """Group the messages of a set by item: a counting sort."""
    add_start, added, del_start, deleted, _ = touches
    start, message = on_items
    items = len(start) - 1
    for turn in range(2):
        if turn == 1:
            # Each start becomes the place of the item's next message, and ends as the start of the next item.
            total = np.int64(0)
            for i in range(items):
                total += start[i]
                start[i] = total - start[i]
        for m in range(begin, end):
            if is_entry[m]:
                for kind in range(2):
                    list_start, code = (add_start, added) if kind == 0 else (del_start, deleted)
                    for k in range(list_start[m], list_start[m + 1]):
                        i = number_of[code[k]]
                        if turn == 1:
                            message[start[i]] = m
                        start[i] += 1
    for i in range(items, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0


@inner
def _oldest_by_clocks(of, on_items, open_items, bound, width, room):
    """Find the oldest live message by chain clocks."""
    begin, end, start, previous, is_entry = of
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
            # A message that does not count has no entries.
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
    clocks = _Clocks(clock, clock_start, chain)
    return _earliest_standing(on_items, open_items, bound, begin, clocks, np.empty(chains, np.int32))


@inner
def _earliest_standing(on_items, open_items, bound, begin, clocks, standing):
    """Find the earliest live message of some items."""
    item_start, message = on_items
    clock, clock_start, chain = clocks
    for i in range(open_items):
        count = 0
        for k in range(item_start[i], item_start[i + 1]):
            m = message[k]
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
def _oldest_by_sweeps(of, on_items, open_items, bound):
    """Find the oldest live message by sweeps from late to early messages, 64 items at a time as bits of a word."""
    begin, end, start, previous, is_entry = of
    item_start, message = on_items
    one = np.uint64(1)
    touched = np.zeros(end - begin, np.uint64)
    followed = np.zeros(end - begin, np.uint64)
    for first_item in range(0, open_items, 64):
        lowest = message[item_start[first_item]]
        if lowest >= bound:
            break
        end_item = min(first_item + 64, open_items)
        highest = lowest
        for i in range(first_item, end_item):
            for k in range(item_start[i], item_start[i + 1]):
                touched[message[k] - begin] |= one << np.uint64(i - first_item)
            highest = max(highest, message[item_start[i + 1] - 1])
        for m in range(highest, lowest - 1, -1):
            bits = touched[m - begin] | followed[m - begin]
            if bits and is_entry[m]:
                for e in range(start[m], start[m + 1]):
                    if previous[e] >= lowest:
                        followed[previous[e] - begin] |= bits
        for i in range(first_item, end_item):
            for k in range(item_start[i], item_start[i + 1]):
                if message[k] >= bound:
                    break
                if not followed[message[k] - begin] >> np.uint64(i - first_item) & one:
                    bound = message[k]
                    break
        touched[lowest - begin : highest - begin + 1] = 0
        followed[lowest - begin : highest - begin + 1] = 0
    return bound
