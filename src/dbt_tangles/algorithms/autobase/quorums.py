"""Which indexers know of a node, which of them know that most do, and so on: quorums of every degree.

An indexer votes for a node with the first of its own nodes that is it or follows it. Where most votes are known, there
is a quorum of the first degree; the first node of each indexer that knows so is its vote of the next degree.

What sees a node is, of each indexer, the end of its log. So a vote is a length, whether a node knows of it is a
comparison with the node's clock, and the vote of the next degree is found by leaps, from the vote before.

Source: the design document of Autobase, Quorums.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.autobase.bases import are_within_limit, extract_views, number_bases, split_views
from dbt_tangles.algorithms.autobase.clocks import NEVER, clocks, depths, first_followers
from dbt_tangles.algorithms.autobase.views import find_logs
from dbt_tangles.algorithms.autobase.votes import first_with_majority
from dbt_tangles.kernel_runtime.arrow_batches import ROWS_PER_BATCH, collect
from dbt_tangles.kernel_runtime.compiled import compiled

QUORUM_SCHEMA = pa.schema(
    [
        ("base_id", pa.string()),
        ("node_id", pa.string()),
        ("degree", pa.int32()),
        ("reached_at", pa.string()),
        ("writers", pa.list_(pa.string())),
    ]
)

#: So many voters are found at a time, at most.
VOTERS = 4_000_000


class Quorums(NamedTuple):
    """Quorums, by node, then degree.

    Attributes:
        node: int32[quorums], over which node each is.
        degree: int32[quorums], from 1.
        reached_at: int32[quorums]; of the nodes that know of it the first by depth, then writer, then length.
        voter_start: int64[quorums + 1], into `voter`.
        voter: int32[...], indexers of the view, ascending: those whose vote of the degree before that node knows.
    """

    node: np.ndarray
    degree: np.ndarray
    reached_at: np.ndarray
    voter_start: np.ndarray
    voter: np.ndarray


def quorums(
    view_start: np.ndarray,
    start: np.ndarray,
    previous: np.ndarray,
    indexer: np.ndarray,
    floor_start: np.ndarray,
    max_degree: int,
) -> Iterator[Quorums]:
    """Find the quorums over every node of many views, whoever wrote it.

    Takes memory in proportion to nodes times indexers, and to what is yielded at once.

    Args:
        view_start: As in `consensus.order_views`, like the others: int64[views + 1].
        start: int64[nodes + 1].
        previous: int32[edges].
        indexer: int32[nodes].
        floor_start: int64[views + 1].
        max_degree: Higher degrees are not looked for. With a single indexer every degree is reached at once.

    Yields:
        The quorums of some nodes, then those of the next.

    Raises:
        ValueError: The edges close a cycle, or no degree is looked for.
    """
    if max_degree < 1:
        raise ValueError(f"the highest degree is {max_degree}, and the first is 1")
    depth = depths(view_start, start, previous)
    clock_start, clock = clocks(view_start, start, previous, indexer, floor_start)
    follower = first_followers(view_start, start, previous, indexer, floor_start, depth)
    first, known = _find_all_logs(view_start, indexer, floor_start)
    widest = int(np.diff(floor_start).max(initial=0))
    chunk = max(1, VOTERS // (max_degree * max(1, widest)))
    for begin in range(0, len(indexer), chunk):
        yield Quorums(
            *_quorums(
                begin,
                min(begin + chunk, len(indexer)),
                max_degree,
                widest,
                view_start,
                floor_start,
                first,
                known,
                clock_start,
                clock,
                follower,
                depth,
            )
        )


def quorums_of_bases(table: pa.Table, max_degree: int) -> Iterator[pa.RecordBatch]:
    """Find the quorums over every node of many bases.

    Args:
        table: As for `bases.order_bases`; bases of more than `bases.ENTRY_LIMIT` indexers times nodes are passed over.
        max_degree: As in `quorums`.

    Yields:
        Rows of `QUORUM_SCHEMA`, one for each node and degree that is reached: `reached_at`, the node that knows of it
        and is the first of those by depth, then writer, then length; `writers`, the indexers whose votes it knows,
        ascending.

    Raises:
        ValueError: No degree is looked for; what `bases.number_bases` raises; or there is a cycle.
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
            # An indexer of a view is a name.
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
                    table["node_id"].take(pa.array(row[found.reached_at[begin:end]])),
                    pa.ListArray.from_arrays(pa.array((bounds - bounds[0]).astype(np.int32)), writers),
                ]
                yield from pa.table(columns, QUORUM_SCHEMA.names).cast(QUORUM_SCHEMA).combine_chunks().to_batches()


def quorum_batches(batches: Iterator[pa.RecordBatch], max_degree: int) -> Iterator[pa.RecordBatch]:
    """Yield `quorums_of_bases` of the whole bases in a partition."""
    table = collect(batches)
    if table is not None:
        yield from quorums_of_bases(table, max_degree)


@compiled
def _find_all_logs(view_start, indexer, floor_start):
    first = np.empty(floor_start[-1], np.int64)
    known = np.empty(floor_start[-1], np.int64)
    for v in range(len(view_start) - 1):
        f, g = floor_start[v], floor_start[v + 1]
        find_logs(view_start[v], view_start[v + 1], indexer, first[f:g], known[f:g])
    return first, known


@compiled
def _quorums(
    begin,
    end,
    max_degree,
    widest,
    view_start,
    floor_start,
    first,
    known,
    clock_start,
    clock,
    follower,
    depth,
):
    room = (end - begin) * max_degree
    node = np.empty(room, np.int32)
    degree = np.empty(room, np.int32)
    reached_at = np.empty(room, np.int32)
    voter_start = np.zeros(room + 1, np.int64)
    voter = np.empty(room * widest, np.int32)
    votes_room = np.empty(widest, np.int32)
    next_room = np.empty(widest, np.int32)
    count = 0
    voters = 0
    v = np.searchsorted(view_start, begin, "right") - 1
    for x in range(begin, end):
        while view_start[v + 1] <= x:
            v += 1
        view, f = view_start[v], floor_start[v]
        n = floor_start[v + 1] - f
        if n == 0:
            continue
        rows = clock[clock_start[v] : clock_start[v + 1]].reshape(view_start[v + 1] - view, n)
        votes, following = votes_room[:n], next_room[:n]
        at = clock_start[v] + (x - view) * n
        votes[:] = follower[at : at + n]
        for d in range(1, max_degree + 1):
            best = np.int64(-1)
            for k in range(n):
                # Who knows most votes has one itself: it follows or is one of them.
                following[k] = first_with_majority(votes[k], known[f + k], first[f + k] - view, rows, votes)
                if following[k] != NEVER:
                    y = first[f + k] + following[k] - 1
                    if best < 0 or depth[y] < depth[best] or (depth[y] == depth[best] and y < best):
                        best = y
            if best < 0:
                break
            node[count] = x
            degree[count] = d
            reached_at[count] = best
            row = rows[best - view]
            for k in range(n):
                if votes[k] <= row[k]:
                    voter[voters] = k
                    voters += 1
            count += 1
            voter_start[count] = voters
            votes[:] = following
    return (
        node[:count].copy(),
        degree[:count].copy(),
        reached_at[:count].copy(),
        voter_start[: count + 1].copy(),
        voter[:voters].copy(),
    )
