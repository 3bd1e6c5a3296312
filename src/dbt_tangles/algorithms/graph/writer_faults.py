"""Faults of writers: members that leave out earlier messages of their author, and previous that were no tips to it.

An author knows its own messages and all messages that these follow. A member should therefore follow each earlier
message of its author (by sequence), and should not list a message that its author's latest earlier message follows.

The members come in blocks of 64 in topological order. A sweep finds, for each later member, the members of the block
that it does not follow, as bits of a word. It ends where each further member follows the whole block. Time therefore
grows with the number of concurrent pairs, divided by 64; `MOST_STEPS` bounds it.
"""

from typing import NamedTuple

import numpy as np

from dbt_tangles.algorithms.graph.arrays import starts
from dbt_tangles.algorithms.graph.orders import Dag
from dbt_tangles.algorithms.structures.bits import lowest_bit
from dbt_tangles.kernel_runtime.compiled import compiled, inner

#: Maximum number of links and bits that the sweeps of a graph visit (a few seconds). The number depends on the graph
#: alone, so that all replicas leave out the same faults.
MOST_STEPS = 250_000_000
#: Maximum number of messages that are listed as left out by one member.
MOST_LEFT_OUT = 100


class WriterFaults(NamedTuple):
    """The faults of the members of many graphs.

    Attributes:
        left_start: int64[members + 1], offsets into `left_out`.
        left_out: int32[...], the earlier messages of its author that it does not follow, or
            `MOST_LEFT_OUT` of them.
        is_stale: bool[edges], whether the latest earlier message of the member's author follows the previous.
        is_checked: bool[members], false for all members of a graph above `MOST_STEPS`, which have no faults here.
    """

    left_start: np.ndarray
    left_out: np.ndarray
    is_stale: np.ndarray
    is_checked: np.ndarray


class _Own(NamedTuple):
    """The messages of each author of each graph."""

    author: np.ndarray  # int64[members], the author of each member, or -1
    sequence: np.ndarray  # int32[members]
    before: np.ndarray  # int64[members], the place of the author's latest earlier message in `order`, or -1
    order: np.ndarray  # int64[...], the members with an author, by author, sequence and id
    last: np.ndarray  # int64[...], the last member by the author up to this place in `order`
    last_member: np.ndarray  # int64[authors], the last member by each author


class _Queries(NamedTuple):
    """The previous of which a member asks whether its author's latest earlier message follows it, in order."""

    edge: np.ndarray  # int64[queries]
    previous: np.ndarray  # int32[queries]
    follower: np.ndarray  # int64[queries], that message; its number is higher


class _Block(NamedTuple):
    """Up to 64 members of a graph, and the queries about them."""

    first: int  # the first member of the graph
    lo: int
    hi: int
    reach: int  # the last child of the members before the block, or the last source
    query: int
    query_end: int


class _Scratch(NamedTuple):
    """The arrays of the sweeps, and the list that they fill."""

    absent: np.ndarray  # uint64[members of the largest graph], the members of the block that a member does not follow
    last_child: np.ndarray  # int64[members]
    own_bits: np.ndarray  # uint64[authors], the members of the block by each author
    left_start: np.ndarray
    left_out: np.ndarray


class _Faults(NamedTuple):
    """The faults found so far."""

    count: np.ndarray  # int64[members], the messages that a member leaves out
    is_stale: np.ndarray  # bool[edges]


_NO_LIST = np.empty(0, np.int32)


def writer_faults(
    dag: Dag, author: np.ndarray, sequence: np.ndarray, most_steps: int = MOST_STEPS, most_left_out: int = MOST_LEFT_OUT
) -> WriterFaults:
    """Find the faults of all members.

    Args:
        dag: The members and their edges. The sources of a graph have its lowest numbers.
        author: int32[members], the same number for members of one author; -1 for a member that is not checked and that
            no member is expected to follow.
        sequence: int32[members]. Of messages with one sequence, neither is earlier; the greater id is the later one.
        most_steps: As `MOST_STEPS`.
        most_left_out: As `MOST_LEFT_OUT`.
    """
    own = _own_messages(dag, author, sequence)
    questions = own, _queries(dag, own)
    limits = most_steps, most_left_out
    # The first pass counts the messages that are left out, and the second one lists them.
    count, is_stale, is_checked = _find_faults(dag, *questions, limits, starts(np.zeros(len(author))), _NO_LIST)
    left_start = starts(count)
    left_out = np.empty(left_start[-1], np.int32)
    if len(left_out):
        _find_faults(dag, *questions, limits, left_start, left_out)
    return WriterFaults(left_start, left_out, is_stale, is_checked)


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
    ends = np.flatnonzero(np.append(is_first[1:], True)) if len(order) else place
    return _Own(numbers, sequence, before, order, last, last[ends])


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
def _find_faults(dag, own, queries, limits, left_start, left_out):
    """Find the faults of all graphs, and list the messages that are left out if `left_out` has room for them.

    Returns:
        int64[members], the number of messages that each member leaves out; `is_stale`; and `is_checked`.
    """
    graph_start, start = dag.graph_start, dag.start
    most_steps, most_left_out = limits
    n = len(own.author)
    largest = 1
    for g in range(len(graph_start) - 1):
        largest = max(largest, graph_start[g + 1] - graph_start[g])
    scratch = _Scratch(
        np.empty(largest, np.uint64), np.arange(n), np.zeros(len(own.last_member), np.uint64), left_start, left_out
    )
    faults = _Faults(np.zeros(n, np.int64), np.zeros(len(dag.previous), np.bool_))
    is_checked = np.ones(n, np.bool_)
    query = 0
    for g in range(len(graph_start) - 1):
        first, end = graph_start[g], graph_start[g + 1]
        is_skipped = len(left_out) > 0 and left_start[first] == left_start[end]
        reach = _mark_last_children(first, end, dag, scratch.last_child)
        steps = 0
        for lo in range(first, end, 64):
            hi = min(lo + 64, end)
            query_end = query
            while query_end < len(queries.edge) and queries.previous[query_end] < hi:
                query_end += 1
            if steps <= most_steps and not is_skipped:
                block = _Block(first, lo, hi, reach, query, query_end)
                steps += _sweep_own_block(block, dag, own, queries, scratch, faults, most_left_out)
            query = query_end
            for m in range(lo, hi):
                reach = max(reach, scratch.last_child[m])
        for m in range(first, end):
            if steps <= most_steps and not is_skipped:
                steps += _list_later(m, own, scratch, faults.count, most_left_out)
        if steps > most_steps:
            is_checked[first:end] = False
            faults.count[first:end] = 0
            faults.is_stale[start[first] : start[end]] = False
    return faults.count, faults.is_stale, is_checked


@inner
def _mark_last_children(first, end, dag, last_child):
    """Write the last child of each member, and return the last source."""
    source = first
    for m in range(first, end):
        if dag.start[m] == dag.start[m + 1]:
            source = m
        for e in range(dag.start[m], dag.start[m + 1]):
            last_child[dag.previous[e]] = m
    return source


@inner
def _sweep_own_block(block, dag, own, queries, scratch, faults, most_left_out):
    """Find the faults that concern the members of a block, and return the number of steps."""
    start, previous, first, lo, hi, reach = dag.start, dag.previous, block.first, block.lo, block.hi, block.reach
    absent, own_bits = scratch.absent, scratch.own_bits
    one = np.uint64(1)
    whole = ~np.uint64(0) >> np.uint64(64 - (hi - lo))
    asked = _mark_own(block, own, queries, own_bits)
    steps = 0
    m = lo
    while m <= min(reach, asked):
        word = whole
        for e in range(start[m], start[m + 1]):
            if previous[e] >= lo:
                word &= absent[previous[e] - first]
        if m < hi:
            word &= ~(one << np.uint64(m - lo))
        absent[m - first] = word
        steps += 1 + start[m + 1] - start[m]
        if word != 0:
            reach = max(reach, scratch.last_child[m])
        bits = word & own_bits[own.author[m]] if own.author[m] >= 0 else np.uint64(0)
        while bits != 0 and faults.count[m] < most_left_out:
            other = lo + lowest_bit(bits)
            bits &= bits - one
            steps += 1
            if other < m and own.sequence[other] < own.sequence[m]:
                _add(m, other, scratch, faults.count)
        m += 1
    for q in range(block.query, block.query_end):
        follower = queries.follower[q]
        bit = np.uint64(queries.previous[q] - lo)
        faults.is_stale[queries.edge[q]] = follower >= m or (absent[follower - first] >> bit) & one == 0
    for m in range(lo, hi):
        if own.author[m] >= 0:
            own_bits[own.author[m]] = 0
    return steps


@inner
def _mark_own(block, own, queries, own_bits):
    """Mark the members of a block by each author, and return the last member that asks about the block."""
    asked = -1
    for m in range(block.lo, block.hi):
        if own.author[m] >= 0:
            own_bits[own.author[m]] |= np.uint64(1) << np.uint64(m - block.lo)
            asked = max(asked, own.last_member[own.author[m]])
    for q in range(block.query, block.query_end):
        asked = max(asked, queries.follower[q])
    return asked


@inner
def _list_later(m, own, scratch, count, most_left_out):
    """Add the earlier messages of a member's author that have a higher number, and return the number of steps."""
    steps = 0
    place = own.before[m]
    # `last` falls with the place: once it is lower than the member, no place before has a higher number.
    while place >= 0 and own.author[own.order[place]] == own.author[m] and own.last[place] > m:
        if count[m] == most_left_out:
            break
        steps += 1
        if own.order[place] > m:
            _add(m, own.order[place], scratch, count)
        place -= 1
    return steps


@inner
def _add(m, other, scratch, count):
    """Count a message that a member leaves out, and list it if there is room."""
    if len(scratch.left_out) > 0:
        scratch.left_out[scratch.left_start[m] + count[m]] = other
    count[m] += 1
