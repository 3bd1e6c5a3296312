"""The order of a timeline as an unrolled list: finds events by position and by key in O(sqrt(events)) short steps.

Blocks of at most `CAPACITY` entries stand in a directory. A Fenwick tree over the directory counts entries, so that a
position is a prefix sum (P. M. Fenwick, A new data structure for cumulative frequency tables, 1994). Each block has a
lift, a number to add to the ranks in it: to raise all events above some level costs one addition per block.

A key is a rank and an event in one number: the rank times 2^32, plus the event.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.structures.fenwick import add, find_sum, gather_sums, sum_before
from dbt_tangles.kernel_runtime.compiled import compiled, inner

CAPACITY = 256
RANK, BLOCK, FRESH, SEEN = range(4)
COUNT, LIFT, PLACE = range(3)
#: The fault of links that close a cycle, for the callers of these functions.
OWN_CAUSE = "an event is its own cause: the links of a timeline close a cycle; admit the arrivals first"


class Order(NamedTuple):
    """A timeline's events in order.

    Attributes:
        spot: int32[events, 4], the fields of an event, stored side by side. RANK: its rank minus the lift of its
            block; BLOCK: its block, or -1; FRESH: its new rank within a step, otherwise -1; SEEN: the last attempt
            that visited it, or the number of causes it waits for.
        block: int32[blocks, 3]. COUNT: entries; LIFT: the number to add to their ranks; PLACE: its index in the
            directory.
        entry: int32[blocks, CAPACITY], events.
        directory: int32[blocks]; the blocks in order, then the unused blocks.
        first: int64[blocks]; by place in the directory, the key of the first entry.
        tree: int64[blocks + 1]; by place, Fenwick's sums of counts.
        size: int64[2]; blocks in use, entries.
    """

    spot: np.ndarray
    block: np.ndarray
    entry: np.ndarray
    directory: np.ndarray
    first: np.ndarray
    tree: np.ndarray
    size: np.ndarray


@compiled
def new_order(events, largest):
    """Allocate an order that holds one timeline at a time.

    Args:
        events: Number of events of all timelines.
        largest: Number of events of the largest timeline, at least 1.

    Returns:
        An `Order`; call `clear` before use.
    """
    blocks = 4 * (largest // CAPACITY) + 4
    spot = np.zeros((events, 4), np.int32)
    spot[:, BLOCK] = -1
    spot[:, FRESH] = -1
    return Order(
        spot,
        np.zeros((blocks, 3), np.int32),
        np.empty((blocks, CAPACITY), np.int32),
        np.arange(blocks).astype(np.int32),
        np.zeros(blocks, np.int64),
        np.zeros(blocks + 1, np.int64),
        np.zeros(2, np.int64),
    )


@inner
def clear(order):
    """Begin the next timeline with one empty block."""
    order.size[0] = 1
    order.size[1] = 0
    for k in range(3):
        order.block[order.directory[0], k] = 0
    order.tree[1] = 0


@inner
def rank_of(order, event):
    """Look up the rank of an event that is in the order."""
    return np.int64(order.spot[event, RANK]) + order.block[order.spot[event, BLOCK], LIFT]


@inner
def key_of(order, event):
    """Look up the key of an event that is in the order."""
    return (rank_of(order, event) << 32) | event


@inner
def find(order, key):
    """Find the first entry whose key is not below another: a place in the directory, and in the block there."""
    first, block = order.first, order.block
    place = np.int64(0)
    end = order.size[0]
    while end - place > 1:
        middle = (place + end) >> 1
        if first[middle] <= key:
            place = middle
        else:
            end = middle
    at = order.directory[place]
    return place, _find_entry(order, at, block[at, COUNT], key - (np.int64(block[at, LIFT]) << 32))


@inner
def _find_entry(order, at, count, key):
    """Find the first entry of a block whose key, without the lift of the block, is not below another."""
    spot, entry = order.spot, order.entry
    low = np.int64(0)
    high = np.int64(count)
    while low < high:
        middle = (low + high) >> 1
        event = entry[at, middle]
        if ((np.int64(spot[event, RANK]) << 32) | event) < key:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def position_of(order, place, i):
    """Count the entries before one."""
    return sum_before(order.tree, place) + i


@inner
def position_of_event(order, event):
    """Count the entries before an event that is in the order."""
    spot, block = order.spot, order.block
    at = spot[event, BLOCK]
    i = _find_entry(order, at, block[at, COUNT], (np.int64(spot[event, RANK]) << 32) | event)
    return position_of(order, np.int64(block[at, PLACE]), i)


@inner
def event_at(order, position):
    """Find the event at a position."""
    place, i = find_sum(order.tree, order.size[0], position)
    return order.entry[order.directory[place], i]


@inner
def insert(order, key):
    """Insert an event; return its position."""
    spot, block, entry, first = order.spot, order.block, order.entry, order.first
    place, i = find(order, key)
    at = order.directory[place]
    if block[at, COUNT] == CAPACITY:
        _split(order, place)
        place, i = find(order, key)
        at = order.directory[place]
    for k in range(block[at, COUNT], i, -1):
        entry[at, k] = entry[at, k - 1]
    event = key & 0xFFFFFFFF
    entry[at, i] = event
    block[at, COUNT] += 1
    spot[event, RANK] = (key >> 32) - block[at, LIFT]
    spot[event, BLOCK] = at
    if i == 0:
        first[place] = key
    order.size[1] += 1
    add(order.tree, order.size[0], place, 1)
    return position_of(order, place, i)


@inner
def remove(order, event):
    """Remove an event; return the position it had."""
    spot, block, entry, directory, first = order.spot, order.block, order.entry, order.directory, order.first
    size = order.size
    at = spot[event, BLOCK]
    place = np.int64(block[at, PLACE])
    i = _find_entry(order, at, block[at, COUNT] - 1, (np.int64(spot[event, RANK]) << 32) | event)
    position = position_of(order, place, i)
    count = block[at, COUNT] - 1
    block[at, COUNT] = count
    size[1] -= 1
    spot[event, BLOCK] = -1
    for k in range(i, count):
        entry[at, k] = entry[at, k + 1]
    if count == 0 and size[0] > 1:
        used = size[0] - 1
        size[0] = used
        for k in range(place, used):
            directory[k] = directory[k + 1]
            first[k] = first[k + 1]
        directory[used] = at
        _index_blocks(order, place)
        return position
    if i == 0 and count > 0:
        first[place] = key_of(order, entry[at, 0])
    add(order.tree, size[0], place, -1)
    return position


@inner
def _index_blocks(order, place):
    """Update the places of blocks and the sums of counts, from a place on."""
    block, directory, tree, used = order.block, order.directory, order.tree, order.size[0]
    for at in range(place, used):
        block[directory[at], PLACE] = at
    for at in range(used):
        tree[at + 1] = block[directory[at], COUNT]
    gather_sums(tree, used)


@inner
def _pack(order):
    """Spread the entries evenly over the fewest blocks of which each is three quarters full."""
    spot, block, entry, directory, first = order.spot, order.block, order.entry, order.directory, order.first
    size = order.size
    total = size[1]
    key = np.empty(total, np.int64)
    k = 0
    for place in range(size[0]):
        at = directory[place]
        for i in range(block[at, COUNT]):
            key[k] = key_of(order, entry[at, i])
            k += 1
    fill = CAPACITY * 3 // 4
    used = (total + fill - 1) // fill
    size[0] = used
    k = 0
    for place in range(used):
        at = directory[place]
        block[at, LIFT] = 0
        block[at, COUNT] = min(fill, total - k)
        first[place] = key[k]
        for i in range(block[at, COUNT]):
            event = key[k] & 0xFFFFFFFF
            entry[at, i] = event
            spot[event, RANK] = key[k] >> 32
            spot[event, BLOCK] = at
            k += 1
    _index_blocks(order, 0)


@inner
def _split(order, place):
    """Split a full block in two; without an unused block, pack all blocks."""
    spot, block, entry, directory, first = order.spot, order.block, order.entry, order.directory, order.first
    used = order.size[0]
    if used == len(directory):
        # Many blocks lost most of their entries: full blocks would need fewer.
        _pack(order)
        return
    at = directory[place]
    other = directory[used]
    for k in range(used, place + 1, -1):
        directory[k] = directory[k - 1]
        first[k] = first[k - 1]
    directory[place + 1] = other
    half = CAPACITY // 2
    block[other, LIFT] = block[at, LIFT]
    block[other, COUNT] = CAPACITY - half
    block[at, COUNT] = half
    for i in range(half, CAPACITY):
        event = entry[at, i]
        entry[other, i - half] = event
        spot[event, BLOCK] = other
    first[place + 1] = key_of(order, entry[other, 0])
    order.size[0] = used + 1
    _index_blocks(order, place + 1)
