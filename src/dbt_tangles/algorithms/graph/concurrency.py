"""Concurrent members and faults of writers, by rows of bits: which members a member follows.

A row of bits has the members that a member follows: its previous, and the members that these follow. All rows of a
graph would take too much memory, so a sweep finds their part about 512 members at a time. In a graph of n members, a
member with a ancestors and d descendants has n - 1 - a - d concurrent members. Descendants are ancestors in the
reversed graph.

An author knows its own messages and all messages that these follow. A member should therefore follow each earlier
message of its author (by sequence), and should not list a message that its author's latest earlier message follows.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.graph.orders import Dag
from dbt_tangles.algorithms.graph.topological_generations import children
from dbt_tangles.algorithms.structures.bits import lowest_bit, popcount
from dbt_tangles.algorithms.structures.space import with_space
from dbt_tangles.columns.arrays import keep_entries, starts
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: Maximum number of words that the rows of a graph combine, in each direction (less than a second). The number depends
#: on the graph alone, so that all replicas leave out the same results.
MOST_STEPS = 250_000_000
#: Maximum number of messages that are listed as left out by one member.
MOST_LEFT_OUT = 100
#: The words of a row.
WORDS = 8


class Concurrency(NamedTuple):
    """What the members of many graphs do not follow. A graph above `MOST_STEPS` has no results."""

    count: np.ndarray  # int32[members], the members that neither follow nor precede it, or -1 without a result
    left_start: np.ndarray  # int64[members + 1], offsets into `left_out`
    # int32[...], the earlier messages of its author that a member does not follow, or `MOST_LEFT_OUT` of them
    left_out: np.ndarray
    is_stale: np.ndarray  # bool[edges], whether the latest earlier message of the member's author follows the previous


class _Own(NamedTuple):
    """The messages of each author of each graph."""

    author: np.ndarray  # int64[members], the author of each member, or -1
    sequence: np.ndarray  # int32[members]
    before: np.ndarray  # int64[members], the place of the author's latest earlier message in `order`, or -1
    order: np.ndarray  # int64[...], the members with an author, by author, sequence and id
    last: np.ndarray  # int64[...], the last member by the author up to this place in `order`
    bits: np.ndarray  # uint64[authors, WORDS], scratch: the members of a block by each author


class _Queries(NamedTuple):
    """The previous of which a member asks whether its author's latest earlier message follows it, in order."""

    edge: np.ndarray  # int64[queries]
    previous: np.ndarray  # int32[queries]
    follower: np.ndarray  # int64[queries], that message; its number is higher


def concurrency(
    dag: Dag,
    redundant: np.ndarray,
    author: np.ndarray,
    sequence: np.ndarray,
    most_steps: int = MOST_STEPS,
    most_left_out: int = MOST_LEFT_OUT,
) -> Concurrency:
    """Count concurrent members, and find the faults of writers.

    Args:
        dag: The members and their edges.
        redundant: bool[edges], edges that a longer path implies.
        author: int32[members], the same number for members of one author; -1 for a member that is not checked and that
            no member is expected to follow.
        sequence: int32[members]. Of messages with one sequence, neither is earlier; the greater id is the later one.
        most_steps: As `MOST_STEPS`.
        most_left_out: As `MOST_LEFT_OUT`.
    """
    n, sizes = len(dag.node), np.diff(dag.graph_start)
    start, previous = keep_entries(dag.start, dag.previous, ~redundant)
    is_searched = sizes * np.diff(start[dag.graph_start]) // 128 <= most_steps
    is_chain = _are_chains(dag.graph_start, start, previous)
    own = _own_messages(dag, author, sequence)
    is_stale = np.zeros(len(dag.previous), np.bool_)
    before, pairs = _sweep(
        (dag.graph_start, start, previous), (is_searched, is_chain), own, _queries(dag, own), is_stale, most_left_out
    )
    # Member k becomes member n - 1 - k, so that the reversed edges lead to lower numbers as well.
    child_start, child = children(start, previous)
    reverse = n - dag.graph_start[::-1], len(child) - child_start[::-1], (n - 1 - child[::-1]).astype(np.int32)
    reverse = tuple(map(np.ascontiguousarray, reverse))
    nobody = _own_messages(dag, np.full(n, -1, np.int32), sequence)
    marks = is_searched[::-1].copy(), is_chain[::-1].copy()
    after, _ = _sweep(reverse, marks, nobody, _queries(dag, nobody), is_stale[:0], 0)
    others = np.repeat((sizes - 1).astype(np.int32), sizes)
    count = np.where(np.repeat(is_searched | is_chain, sizes), others - before - after[::-1], np.int32(-1))
    member = pairs >> 32
    left_out = (pairs & (2**32 - 1)).astype(np.int32)[np.argsort(member, kind="stable")]
    return Concurrency(count, starts(np.bincount(member, minlength=n)), left_out, is_stale)


def _are_chains(graph_start: np.ndarray, start: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """Mark the graphs whose members each list the member before them alone, as in a feed: bool[graphs]."""
    place = np.arange(len(start) - 1) - np.repeat(graph_start[:-1], np.diff(graph_start))
    is_link = np.diff(start) == 1
    is_link[is_link] = previous[start[:-1][is_link]] == np.flatnonzero(is_link) - 1
    return np.diff(starts(is_link | (place == 0))[graph_start]) == np.diff(graph_start)


def _own_messages(dag: Dag, author: np.ndarray, sequence: np.ndarray) -> _Own:
    """Sort the messages of each author of each graph."""
    graph = np.repeat(np.arange(len(dag.graph_start) - 1), np.diff(dag.graph_start))
    order = np.flatnonzero(author >= 0)
    order = order[np.lexsort((dag.node[order], sequence[order], author[order], graph[order]))]
    is_first = _changes(graph[order]) | _changes(author[order])
    number = np.cumsum(is_first) - 1
    place = np.arange(len(order))
    # The first place with the same author and sequence: the place before it has the latest earlier message.
    equal = np.maximum.accumulate(np.where(is_first | _changes(sequence[order]), place, 0))
    last = np.maximum.accumulate(order + number * len(author)) - number * len(author)
    numbers, before = np.full((2, len(author)), -1)
    numbers[order] = number
    before[order] = np.where(is_first[equal], -1, equal - 1)
    return _Own(numbers, sequence, before, order, last, np.zeros((is_first.sum(), WORDS), np.uint64))


def _changes(values: np.ndarray) -> np.ndarray:
    """Mark the entries that differ from the one before: bool[values]."""
    changes = np.ones(len(values), np.bool_)
    changes[1:] = values[1:] != values[:-1]
    return changes


def _queries(dag: Dag, own: _Own) -> _Queries:
    """List the edges to a lower number than that of the latest earlier message of the member's author."""
    before = np.repeat(own.before, np.diff(dag.start))
    edge = np.flatnonzero(before >= 0)
    follower = own.order[before[edge]]
    is_asked = follower > dag.previous[edge]
    edge, follower = edge[is_asked], follower[is_asked]
    by_previous = np.argsort(dag.previous[edge], kind="stable")
    edge = edge[by_previous]
    return _Queries(edge, dag.previous[edge], follower[by_previous])


@compiled
def _sweep(edges, marks, own, queries, is_stale, most_left_out):
    """Count ancestors, write `is_stale`, and list the messages that are left out.

    Args:
        edges: `graph_start`, `start` and `previous` as in `Dag`.
        marks: bool[graphs] each, the graphs to search, and the chains, where a member follows all before it.
        own: An `_Own`, whose bits are used.
        queries: A `_Queries`; their results are written to `is_stale`.
        is_stale: bool[edges].
        most_left_out: As `MOST_LEFT_OUT`.

    Returns:
        int32[members], the ancestors of each; int64[...], a member times 2^32 and a message that it leaves out.
    """
    graph_start, start, previous = edges
    is_searched, is_chain = marks
    largest = max((np.diff(graph_start) * (is_searched & ~is_chain)).max(), 1) if len(is_searched) > 0 else 1
    rows = np.empty((largest, WORDS), np.uint64)
    ancestors = np.zeros(len(start) - 1, np.int32)
    left_count = np.zeros(len(start) - 1, np.int32)
    listed = np.empty(most_left_out, np.int64)
    pairs = np.empty(1024, np.int64)
    used = query = 0
    for g in range(len(graph_start) - 1):
        first, end = graph_start[g], graph_start[g + 1]
        for block in range(first, end, 64 * WORDS):
            behind = min(block + 64 * WORDS, end)
            query_end = query
            while query_end < len(queries.edge) and queries.previous[query_end] < behind:
                query_end += 1
            if is_chain[g]:
                for m in range(block, behind):
                    ancestors[m] = m - first
                for q in range(query, query_end):
                    is_stale[queries.edge[q]] = True
            elif is_searched[g]:
                _mark_own(block, behind, own, True)
                _fill_rows(block, behind, end, start, previous, rows, ancestors)
                for m in range(block, end):
                    if own.author[m] >= 0 and left_count[m] < most_left_out:
                        number = _list_unfollowed(m, block, own, rows, listed, most_left_out - left_count[m])
                        if number > 0:
                            pairs = _with_pairs(pairs, used, m, listed[:number])
                            left_count[m] += number
                            used += number
                for q in range(query, query_end):
                    place = queries.previous[q] - block
                    is_stale[queries.edge[q]] = (
                        rows[queries.follower[q] - block, place >> 6] >> np.uint64(place & 63) & np.uint64(1) != 0
                    )
                _mark_own(block, behind, own, False)
            query = query_end
        for m in range(first, end):
            if (is_searched[g] or is_chain[g]) and own.before[m] >= 0:
                number = _list_later(m, own, listed, most_left_out - left_count[m])
                pairs = _with_pairs(pairs, used, m, listed[:number])
                used += number
    return ancestors, pairs[:used].copy()


@compiled
def _with_pairs(pairs, used, member, listed):
    """Append pairs of a member and the messages it leaves out; return the array, or a larger copy of it."""
    pairs = with_space(pairs, used, len(listed))
    for i in range(len(listed)):
        pairs[used + i] = member << 32 | listed[i]
    return pairs


@inner
def _mark_own(block, behind, own, is_set):
    """Mark the members of a block in the bits of their authors, or clear these."""
    for m in range(block, behind):
        author, place = own.author[m], m - block
        if author >= 0 and is_set:
            own.bits[author, place >> 6] |= np.uint64(1) << np.uint64(place & 63)
        elif author >= 0:
            own.bits[author] = np.uint64(0)


@inner
def _fill_rows(block, behind, end, start, previous, rows, ancestors):
    """Write the rows of the members from a block to the end of its graph about the block, and count their bits."""
    for m in range(block, end):
        at = m - block
        for w in range(WORDS):
            rows[at, w] = np.uint64(0)
        for e in range(start[m], start[m + 1]):
            place = previous[e] - block
            if place >= 0:
                for w in range(WORDS):
                    rows[at, w] |= rows[place, w]
                if place < behind - block:
                    rows[at, place >> 6] |= np.uint64(1) << np.uint64(place & 63)
        for w in range(WORDS):
            ancestors[m] += popcount(rows[at, w])


@inner
def _list_unfollowed(m, block, own, rows, listed, most):
    """List the earlier messages of a member's author in the block that it does not follow, and return their number."""
    number = 0
    for w in range(WORDS):
        bits = own.bits[own.author[m], w]
        if bits != 0:
            bits &= ~rows[m - block, w]
        while bits != 0 and number < most:
            other = block + 64 * w + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            if other < m and own.sequence[other] < own.sequence[m]:
                listed[number] = other
                number += 1
    return number


@inner
def _list_later(m, own, listed, most):
    """List the earlier messages of a member's author that have a higher number, and return their number."""
    number = 0
    place = own.before[m]
    # `last` falls with the place: once it is lower than the member, no place before has a higher number.
    while place >= 0 and number < most and own.author[own.order[place]] == own.author[m] and own.last[place] > m:
        if own.order[place] > m:
            listed[number] = own.order[place]
            number += 1
        place -= 1
    return number
