"""Quorums of every degree over the nodes of many bases.

An indexer votes for a node with the first of its own nodes that is the node or a descendant. A node that sees a
majority of votes knows a quorum of the first degree; the first such node of each indexer is its vote of the next
degree.

The nodes of a log that see a node are the end of the log. So a vote is a length, a clock comparison says whether a node
sees it, and galloping search finds the vote of the next degree from the vote before.

Source: the design document of Autobase, Quorums.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase.bases import are_within_limit, extract_views, number_bases, split_views
from dbt_tangles.algorithms.autobase.clocks import NEVER, clocks, depths, first_followers
from dbt_tangles.algorithms.autobase.views import find_logs
from dbt_tangles.algorithms.autobase.votes import first_with_majority
from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH
from dbt_tangles.kernel_runtime.compiled import compiled, inner

QUORUM_SCHEMA = pa.schema(
    [
        ("base_id", pa.string()),
        ("node_id", pa.string()),
        ("degree", pa.int32()),
        ("reached_by", pa.string()),
        ("writers", pa.list_(pa.string())),
    ]
)

#: The most voters that are found at a time.
VOTERS = 4_000_000


class Quorums(NamedTuple):
    """Quorums, by node, then degree.

    Attributes:
        node: int32[quorums], the node that each is over.
        degree: int32[quorums], from 1.
        reached_by: int32[quorums], the first node by depth, writer and length that knows the quorum.
        voter_start: int64[quorums + 1], into `voter`.
        voter: int32[...], indexers of the view, ascending: those whose vote of the degree before `reached_by` sees.
    """

    node: np.ndarray
    degree: np.ndarray
    reached_by: np.ndarray
    voter_start: np.ndarray
    voter: np.ndarray


class _IndexedLogs(NamedTuple):
    """Views with the logs of their indexers, clocks, depths and first followers."""

    view_start: np.ndarray  # int64[views + 1]
    floor_start: np.ndarray  # int64[views + 1]
    first: np.ndarray  # int64[indexers of all views], the first node of each log
    known: np.ndarray  # int64[indexers of all views], the length of each log
    clock_start: np.ndarray  # int64[views + 1], of `clocks.clocks`
    clock: np.ndarray  # int32[...], of the same
    depth: np.ndarray  # int32[nodes]
    follower: np.ndarray  # int32[...], of `clocks.first_followers`


def quorums(
    view_start: np.ndarray,
    start: np.ndarray,
    previous: np.ndarray,
    indexer: np.ndarray,
    floor_start: np.ndarray,
    max_degree: int,
) -> Iterator[Quorums]:
    """Find the quorums over every node of many views.

    Takes memory in proportion to nodes times indexers, and to the quorums yielded at once.

    Args:
        view_start: int64[views + 1]; arrays as in `views`.
        start: int64[nodes + 1].
        previous: int32[edges].
        indexer: int32[nodes].
        floor_start: int64[views + 1].
        max_degree: The highest degree to find. With a single indexer every degree is reached at once.

    Yields:
        The quorums of some nodes, then those of the next.

    Raises:
        ValueError: The edges close a cycle, or `max_degree` is less than 1.
    """
    if max_degree < 1:
        raise ValueError(f"max_degree is {max_degree}; the first degree is 1, so pass 1 or more")
    depth = depths(view_start, start, previous)
    indexed = _IndexedLogs(
        view_start,
        floor_start,
        *_find_all_logs(view_start, indexer, floor_start),
        *clocks(view_start, start, previous, indexer, floor_start),
        depth,
        first_followers(view_start, start, previous, indexer, floor_start, depth),
    )
    widest = int(np.diff(floor_start).max(initial=0))
    chunk = max(1, VOTERS // (max_degree * max(1, widest)))
    for begin in range(0, len(indexer), chunk):
        yield Quorums(*_quorums(begin, min(begin + chunk, len(indexer)), max_degree, widest, indexed))


def quorums_of_bases(table: pa.Table, max_degree: int) -> Iterator[pa.RecordBatch]:
    """Find the quorums over every node of many bases.

    Args:
        table: As for `bases.order_bases`; bases of more than `bases.ENTRY_LIMIT` indexers times nodes are left out.
        max_degree: As in `quorums`.

    Yields:
        Rows of `QUORUM_SCHEMA`, one for each node and reached degree: `reached_by`, the first node by depth, writer and
        length that knows the quorum; `writers`, the indexers whose votes it sees, ascending.

    Raises:
        ValueError: `max_degree` is less than 1; as `bases.number_bases`; or the edges close a cycle.
        OverflowError: There are more than 2^31 - 1 rows or listed ids.
    """
    if not len(table):
        return
    bases = number_bases(table)
    in_reach = np.flatnonzero(are_within_limit(bases))
    if not len(in_reach):
        return
    for base, top in split_views(bases, in_reach, np.full(len(in_reach), -1)):
        views = extract_views(bases, base, top)
        row = bases.row[views.node]
        for found in quorums(
            views.start,
            views.edge_start,
            views.previous,
            bases.indexer[views.node],
            views.floor_start,
            max_degree,
        ):
            voters = np.diff(found.voter_start)
            view = np.searchsorted(views.start, found.node, "right") - 1
            # Indexers are written as keys.
            name = bases.indexer_name[np.repeat(bases.indexer_start[base[view]], voters) + found.voter]
            for begin in range(0, len(found.node), ROWS_PER_BATCH):
                end = min(begin + ROWS_PER_BATCH, len(found.node))
                bounds = found.voter_start[begin : end + 1]
                writers = bases.names.take(pa.array(name[bounds[0] : bounds[-1]])).cast(pa.string())
                node_row = pa.array(row[found.node[begin:end]])
                columns = [
                    table["base_id"].take(node_row),
                    table["node_id"].take(node_row),
                    pa.array(found.degree[begin:end]),
                    table["node_id"].take(pa.array(row[found.reached_by[begin:end]])),
                    pa.ListArray.from_arrays(pa.array((bounds - bounds[0]).astype(np.int32)), writers),
                ]
                yield from pa.table(columns, QUORUM_SCHEMA.names).cast(QUORUM_SCHEMA).combine_chunks().to_batches()


@compiled
def _find_all_logs(view_start, indexer, floor_start):
    first = np.empty(floor_start[-1], np.int64)
    known = np.empty(floor_start[-1], np.int64)
    for v in range(len(view_start) - 1):
        f, g = floor_start[v], floor_start[v + 1]
        find_logs(view_start[v], view_start[v + 1], indexer, first[f:g], known[f:g])
    return first, known


@compiled
def _quorums(begin, end, max_degree, widest, indexed):
    """Find the quorums over the nodes from `begin` to `end`; the fields of `Quorums`."""
    view_start, floor_start, first, known, clock_start, clock, depth, follower = indexed
    room = (end - begin) * max_degree
    rows = np.empty((3, room), np.int32)
    node, degree, reached_by = rows[0], rows[1], rows[2]
    voter_start = np.zeros(room + 1, np.int64)
    voter = np.empty(room * widest, np.int32)
    votes_room = np.empty((2, widest), np.int32)
    count = 0
    voters = 0
    v = np.searchsorted(view_start, begin, "right") - 1
    for x in range(begin, end):
        while view_start[v + 1] <= x:
            v += 1
        view, f, g = view_start[v], floor_start[v], floor_start[v + 1]
        n = g - f
        if n == 0:
            continue
        clocks = clock[clock_start[v] : clock_start[v + 1]].reshape(view_start[v + 1] - view, n)
        votes, following = votes_room[0, :n], votes_room[1, :n]
        at = clock_start[v] + (x - view) * n
        votes[:] = follower[at : at + n]
        for d in range(1, max_degree + 1):
            best = _first_with_quorum(votes, following, first[f:g], known[f:g], view, (clocks, depth))
            if best < 0:
                break
            node[count] = x
            degree[count] = d
            reached_by[count] = best
            for k in range(n):
                if votes[k] <= clocks[best - view, k]:
                    voter[voters] = k
                    voters += 1
            count += 1
            voter_start[count] = voters
            votes[:] = following
    return (
        node[:count].copy(),
        degree[:count].copy(),
        reached_by[:count].copy(),
        voter_start[: count + 1].copy(),
        voter[:voters].copy(),
    )


@inner
def _first_with_quorum(votes, following, first, known, begin, facts):
    """Find the first node, by depth, that knows a majority of some votes, and the votes of the next degree."""
    clocks, depth = facts
    best = np.int64(-1)
    for k in range(len(votes)):
        following[k] = first_with_majority(votes[k], known[k], first[k] - begin, clocks, votes)
        if following[k] != NEVER:
            y = first[k] + following[k] - 1
            if best < 0 or depth[y] < depth[best] or (depth[y] == depth[best] and y < best):
                best = y
    return best
