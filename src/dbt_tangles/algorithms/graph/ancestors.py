"""The transitive closure of each graph: every pair of a member and an ancestor, with the longest distance."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.members import number_members, single_chunk
from dbt_tangles.kernel_runtime.compiled import compiled

ANCESTOR_SCHEMA = pa.schema(
    [
        ("graph_kind", pa.string()),
        ("graph_id", pa.string()),
        ("node_id", pa.string()),
        ("ancestor_id", pa.string()),
        ("distance", pa.int32()),
    ]
)
MAX_CHUNK_ROWS = 200_000


class _Pairs(NamedTuple):
    """Output of one batch: int32[rows] each, members by number."""

    member: np.ndarray
    ancestor: np.ndarray
    distance: np.ndarray


def ancestor_pairs(table: pa.Table, limit: int, chunk_rows: int = MAX_CHUNK_ROWS) -> Iterator[pa.RecordBatch]:
    """List each member's ancestors, with the length of the longest path to each.

    A graph of m members has up to m * (m - 1) / 2 pairs, hence the limit. The kernel walks down from one member at a
    time. Memory is one chunk of rows and one integer per member of a graph, however many pairs there are.

    Args:
        table: As for `members.number_members`.
        limit: Graphs with more members are skipped.
        chunk_rows: Maximum number of rows per batch.

    Yields:
        Batches of `ANCESTOR_SCHEMA`.
    """
    dag, row = number_members(table)
    names, roots, ids = (single_chunk(table[name], chunk_rows) for name in ("graph_kind", "graph_id", "node_id"))
    sizes = np.diff(dag.graph_start)
    wanted = sizes <= limit
    distance = np.zeros(sizes[wanted].max(initial=0), np.int32)
    # Where the next batch resumes: graph, member, and the position of its walk.
    state = np.array([0, -1, -1], np.int64)
    room = min(chunk_rows, 1 + int((sizes * (sizes - 1) // 2)[wanted].sum()))
    while state[0] < len(sizes):
        pairs = _Pairs(*(np.empty(room, np.int32) for _ in range(3)))
        count = _fill_pairs(dag, wanted, distance, state, pairs)
        if count:
            at = pa.array(row[pairs.member[:count]])
            columns = [names.take(at), roots.take(at), ids.take(at), ids.take(pa.array(row[pairs.ancestor[:count]]))]
            columns = [column.cast(pa.string()) for column in columns]
            yield pa.record_batch([*columns, pa.array(pairs.distance[:count])], schema=ANCESTOR_SCHEMA)


@compiled
def _fill_pairs(dag, wanted, distance, state, pairs):
    """Write the next pairs, resuming at `state`; return their number."""
    graph_start, start, previous = dag.graph_start, dag.start, dag.previous
    member, ancestor, apart = pairs.member, pairs.ancestor, pairs.distance
    graph, m, at = state
    count = 0
    while graph < len(graph_start) - 1:
        first, end = graph_start[graph], graph_start[graph + 1]
        if m < 0:
            m = first if wanted[graph] else end
        while m < end:
            if at < 0:
                for e in range(start[m], start[m + 1]):
                    distance[previous[e] - first] = 1
                at = m - 1
            while at >= first:
                d = distance[at - first]
                if d > 0:
                    if count == len(member):
                        state[:] = graph, m, at
                        return count
                    member[count] = m
                    ancestor[count] = at
                    apart[count] = d
                    count += 1
                    distance[at - first] = 0
                    for e in range(start[at], start[at + 1]):
                        p = previous[e] - first
                        distance[p] = max(distance[p], d + 1)
                at -= 1
            at = -1
            m += 1
        m = -1
        graph += 1
    state[:] = graph, m, at
    return count
