"""Concurrent members: how many members of a graph a member neither follows nor precedes, by blocks of bit sets.

In a graph of n members, a member with a ancestors and d descendants has n - 1 - a - d concurrent members. Descendants
are ancestors in the reversed graph, so one kernel counts both. Three facts keep the number of bits small:

* A member with one previous has one more ancestor than this previous. Only merges need a count of their own.
* Let t have a single child c that is a merge or leads to one. A merge follows t if and only if it is c or follows c,
  so t counts as a part of c. Only members with several such children (forks) need a bit. The weight of a fork is the
  number of members that are a part of it, itself included.
* Forks come in blocks of up to 512. The sweep of a block visits only members that some fork of the block does not
  precede. In a transitively reduced graph, a link across a block implies such members.

Chains and trees need no sweep. In other graphs the time grows with the number of concurrent pairs, divided by the size
of a block; `MOST_STEPS` bounds it. The bits take at most 64 MiB for a graph of up to 8 million members, and eight bytes
for each member of a larger one.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.graph.arrays import keep_entries
from dbt_tangles.algorithms.graph.topological_generations import children
from dbt_tangles.algorithms.structures.bits import popcount
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: Maximum number of words that the sweeps of a graph combine, in each direction (a few seconds). The number depends on
#: the graph alone, so that all replicas leave out the same counts.
MOST_STEPS = 250_000_000
#: Maximum number of words of 64 forks in a block, and of words for all members of a graph of several words each.
BLOCK_WORDS = 8
GRAPH_WORDS = 2**23
#: Weights are below 2^31.
PLANES = 32


class _Network(NamedTuple):
    """The forks and their descendants, as far as they lead to merges; members are numbered as in `orders.Dag`."""

    graph_start: np.ndarray  # int64[graphs + 1]
    start: np.ndarray  # int64[members + 1]; start[m + 1] - start[m] previous of member m are forks or follow forks
    is_merge: np.ndarray  # bool[members]
    child_start: np.ndarray  # int64[members + 1], offsets into `child`
    child: np.ndarray  # int32[...], the children of forks and of their descendants, as far as they lead to merges
    weight: np.ndarray  # int32[members], the members that count as a part of each member


class _Scratch(NamedTuple):
    """The arrays of the sweeps.

    Attributes:
        absent: uint64[...], a row of words for each member of a graph: the forks of the block that are not among its
            ancestors.
        bit: int32[members], the bit of each fork of the block, -1 for other members.
        block: int32[members], the last block that reached the member.
        arrived: int32[members], the number of previous from which that block reached the member.
        begin: int64[members], the first child of each member behind the start of the block.
        queue: int32[members of the largest graph].
        planes: uint64[words of a block * PLANES], the forks of each word with bit k in their weight.
        plane_count: int64[words of a block], the number of planes with a fork.
    """

    absent: np.ndarray
    bit: np.ndarray
    block: np.ndarray
    arrived: np.ndarray
    begin: np.ndarray
    queue: np.ndarray
    planes: np.ndarray
    plane_count: np.ndarray


def concurrent_counts(
    graph_start: np.ndarray,
    start: np.ndarray,
    previous: np.ndarray,
    most_steps: int = MOST_STEPS,
    block_words: int = BLOCK_WORDS,
) -> np.ndarray:
    """Count the members of its graph that each member neither follows nor precedes.

    Args:
        graph_start: int64[graphs + 1], of members numbered as in `orders.Dag`.
        start: int64[members + 1].
        previous: int32[edges], each lower than the member that lists it. Without redundant edges the sweeps are short.
        most_steps: Graphs whose sweeps combine more words than this have no counts.
        block_words: Maximum number of words of 64 forks in a block; it changes only the time.

    Returns:
        int32[members]; -1 for all members of a graph above `most_steps`.
    """
    n = len(start) - 1
    before = ancestor_counts(graph_start, start, previous, most_steps, block_words)
    # Member k becomes member n - 1 - k, so that the reversed edges lead to lower numbers as well.
    child_start, child = children(start, previous)
    reverse = n - graph_start[::-1], len(child) - child_start[::-1], (n - 1 - child[::-1]).astype(np.int32)
    after = ancestor_counts(*reverse, most_steps, block_words)[::-1]
    sizes = np.diff(graph_start)
    others = np.repeat((sizes - 1).astype(np.int32), sizes)
    return np.where((before < 0) | (after < 0), np.int32(-1), others - before - after)


def ancestor_counts(
    graph_start: np.ndarray, start: np.ndarray, previous: np.ndarray, most_steps: int, block_words: int
) -> np.ndarray:
    """Count the ancestors of each member.

    Args:
        graph_start: int64[graphs + 1].
        start: int64[members + 1].
        previous: int32[edges], each lower than the member that lists it.
        most_steps: As for `concurrent_counts`.
        block_words: As for `concurrent_counts`.

    Returns:
        int32[members]; -1 for all members of a graph above `most_steps`.
    """
    graph_start, start = np.ascontiguousarray(graph_start), np.ascontiguousarray(start)
    leads = _lead_to_merges(start, previous)
    kept_start, kept = keep_entries(start, previous, np.repeat(leads, np.diff(start)))
    child_start = children(kept_start, kept).start
    weight = _weights(kept_start, kept, child_start)
    follows = _follow_forks(kept_start, kept, child_start)
    kept_start, kept = keep_entries(kept_start, kept, follows[kept])
    network = _Network(graph_start, kept_start, np.diff(start) > 1, *children(kept_start, kept), weight)
    swept, missed = _sweep_graphs(network, most_steps, block_words)
    missed[~follows] = -1
    return _counts(network, start, previous, swept, missed)


@compiled
def _lead_to_merges(start, previous):
    """Mark merges and their ancestors: bool[members]."""
    n = len(start) - 1
    leads = np.zeros(n, np.bool_)
    for k in range(n):
        m = n - 1 - k
        if start[m + 1] - start[m] > 1:
            leads[m] = True
        if leads[m]:
            for e in range(start[m], start[m + 1]):
                leads[previous[e]] = True
    return leads


@compiled
def _weights(start, previous, child_start):
    """Count the members that are a part of each member, itself included: int32[members]."""
    n = len(start) - 1
    weight = np.ones(n, np.int32)
    for m in range(n):
        for e in range(start[m], start[m + 1]):
            p = previous[e]
            if child_start[p + 1] - child_start[p] == 1:
                weight[m] += weight[p]
    return weight


@compiled
def _follow_forks(start, previous, child_start):
    """Mark forks and their descendants: bool[members]."""
    n = len(start) - 1
    follows = np.zeros(n, np.bool_)
    for m in range(n):
        follows[m] = child_start[m + 1] - child_start[m] > 1
        for e in range(start[m], start[m + 1]):
            if follows[previous[e]]:
                follows[m] = True
    return follows


@compiled
def _counts(network, start, previous, swept, missed):
    """Combine the weights and the sweeps: the ancestors of each member; `missed` is -1 where no ancestor is a fork."""
    graph_start, is_merge, weight = network.graph_start, network.is_merge, network.weight
    counts = np.zeros(len(start) - 1, np.int32)
    for g in range(len(graph_start) - 1):
        forks = 0
        for m in range(graph_start[g], graph_start[g + 1]):
            forks += swept[m]
            if swept[graph_start[g]] < 0:
                counts[m] = -1
            elif is_merge[m]:
                counts[m] = weight[m] - 1
                if missed[m] >= 0:
                    counts[m] += forks - missed[m]
            elif start[m + 1] > start[m]:
                counts[m] = counts[previous[start[m]]] + 1
    return counts


@compiled
def _sweep_graphs(network, most_steps, block_words):
    """Sweep all blocks of forks.

    Returns:
        int32[members], the weight of the block that begins at a member, or -1 at the first member of a graph above
        `most_steps`; and int32[members], the weight of the forks in blocks that begin at or before a merge, and that
        the merge does not follow.
    """
    graph_start, start, weight, child_start = network.graph_start, network.start, network.weight, network.child_start
    n = len(weight)
    largest = 1
    room = 1
    for g in range(len(graph_start) - 1):
        size = graph_start[g + 1] - graph_start[g]
        largest = max(largest, size)
        room = max(room, size * min(max(GRAPH_WORDS // max(size, 1), 1), block_words))
    scratch = _Scratch(
        np.empty(room, np.uint64),
        np.full(n, np.int32(-1)),
        np.full(n, np.int32(-1)),
        np.zeros(n, np.int32),
        child_start[:-1].copy(),
        np.empty(largest, np.int32),
        np.empty(block_words * PLANES, np.uint64),
        np.empty(block_words, np.int64),
    )
    swept = np.zeros(n, np.int32)
    missed = np.zeros(n, np.int32)
    forks = np.empty(largest, np.int32)
    open_members = np.empty(largest, np.int32)
    for g in range(len(graph_start) - 1):
        first, end = graph_start[g], graph_start[g + 1]
        fork_count = 0
        open_count = 0
        for m in range(first, end):
            if child_start[m + 1] - child_start[m] > 1:
                forks[fork_count] = m
                fork_count += 1
            if start[m] == start[m + 1] and child_start[m] < child_start[m + 1]:
                open_members[open_count] = m
                open_count += 1
        width = 64 * min(max(GRAPH_WORDS // max(end - first, 1), 1), block_words)
        steps = 0
        reached = first
        for at in range(0, fork_count, width):
            block = forks[at : min(at + width, fork_count)]
            for m in block:
                swept[block[0]] += weight[m]
            open_count = _open_members(network, scratch.begin, reached, block[0], open_members, open_count)
            scratch.queue[:open_count] = open_members[:open_count]
            steps += _sweep_forks(network, scratch, first, block, open_count, missed)
            reached = block[0]
            if steps > most_steps:
                swept[first] = -1
                break
    return swept, missed


@inner
def _open_members(network, begin, reached, lo, open_members, count):
    """Update the list of members with a child behind the start of a block; sources behind the start stay listed."""
    start, child_start, child = network.start, network.child_start, network.child
    for m in range(reached, lo):
        if start[m] < start[m + 1] and child_start[m] < child_start[m + 1]:
            open_members[count] = m
            count += 1
    kept = 0
    for i in range(count):
        m = open_members[i]
        while begin[m] < child_start[m + 1] and child[begin[m]] < lo:
            begin[m] += 1
        if begin[m] < child_start[m + 1]:
            open_members[kept] = m
            kept += 1
    return kept


@inner
def _sweep_forks(network, scratch, first, block, tail, missed):
    """Visit the members that some fork of a block does not precede, each after all its previous (Kahn)."""
    start, child_start, child = network.start, network.child_start, network.child
    absent, bit, reached_by, arrived = scratch.absent, scratch.bit, scratch.block, scratch.arrived
    begin, queue = scratch.begin, scratch.queue
    words = _prepare_block(network.weight, scratch, block)
    lo = block[0]
    for i in range(tail):
        _set_all(absent, (queue[i] - first) * words, words, len(block))
    steps = 0
    head = 0
    while head < tail:
        m = queue[head]
        head += 1
        row = (m - first) * words
        if m >= lo:
            if network.is_merge[m]:
                missed[m] += _weight_of(scratch, row, words)
                steps += words
            if bit[m] >= 0:
                absent[row + (bit[m] >> 6)] &= ~(np.uint64(1) << np.uint64(bit[m] & 63))
        if _is_empty(absent, row, words):
            continue
        for e in range(begin[m], child_start[m + 1]):
            c = child[e]
            to = (c - first) * words
            if reached_by[c] != lo:
                reached_by[c] = lo
                arrived[c] = 0
                _set_all(absent, to, words, len(block))
            for w in range(words):
                absent[to + w] &= absent[row + w]
            arrived[c] += 1
            if arrived[c] == start[c + 1] - start[c]:
                queue[tail] = c
                tail += 1
        steps += words * (child_start[m + 1] - begin[m])
    for m in block:
        bit[m] = -1
    return steps


@inner
def _prepare_block(weight, scratch, block):
    """Number the forks of a block, and slice their weights into planes of bits; return the number of words."""
    words = (len(block) + 63) >> 6
    scratch.planes[: words * PLANES] = 0
    scratch.plane_count[:words] = 0
    for i in range(len(block)):
        scratch.bit[block[i]] = i
        left = weight[block[i]]
        k = 0
        while left > 0:
            if left & 1:
                scratch.planes[(i >> 6) * PLANES + k] |= np.uint64(1) << np.uint64(i & 63)
            left >>= 1
            k += 1
        scratch.plane_count[i >> 6] = max(scratch.plane_count[i >> 6], k)
    return words


@inner
def _set_all(absent, row, words, count):
    """Set the first `count` bits of a row."""
    for w in range(words):
        absent[row + w] = ~np.uint64(0)
    if count & 63:
        absent[row + words - 1] = (np.uint64(1) << np.uint64(count & 63)) - np.uint64(1)


@inner
def _is_empty(absent, row, words):
    """Whether a row has no bit."""
    found = np.uint64(0)
    for w in range(words):
        found |= absent[row + w]
    return found == 0


@inner
def _weight_of(scratch, row, words):
    """Add the weights of the forks whose bits are set in a row."""
    total = 0
    for w in range(words):
        word = scratch.absent[row + w]
        for k in range(scratch.plane_count[w]):
            total += popcount(word & scratch.planes[w * PLANES + k]) << k
    return total
