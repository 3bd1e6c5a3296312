"""The transitive closure of each graph: every pair of a member and an ancestor, with the longest distance."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.members import GRAPH, Member, number_members
from dbt_tangles.columns.arrays import ranges
from dbt_tangles.kernel_runtime.compiled import compiled
from dbt_tangles.kernel_runtime.kernel import kernel
from dbt_tangles.kernel_runtime.output import Texts
from dbt_tangles.kernel_runtime.row_schema import Int32

#: The most possible pairs of the members that are searched together.
MOST_PAIRS = 1_000_000


class Pair(NamedTuple):
    """A member and an ancestor of it."""

    graph_kind: str | None
    graph_id: str | None
    node_id: str
    ancestor_id: str
    distance: Int32  # The length of the longest path between them


@kernel(keys=GRAPH, reads=Member, writes=Pair)
def ancestor_pairs(table: pa.Table, most_pairs: int = MOST_PAIRS) -> Iterator[dict]:
    """List each member's ancestors, with the length of the longest path to each.

    A graph of m members has up to m * (m - 1) / 2 pairs: give a `group_limit`. Memory is one batch of pairs and one
    integer per member of a graph, however many pairs there are.

    Args:
        table: Rows of `Member`.
        most_pairs: As `MOST_PAIRS`.

    Yields:
        Columns of `Pair`.

    Raises:
        ValueError: As `members.number_members`.
    """
    dag, row = number_members(table)
    kinds, graphs, ids = (Texts(table[name]) for name in ("graph_kind", "graph_id", "node_id"))
    sizes = np.diff(dag.graph_start)
    first = np.repeat(dag.graph_start[:-1], sizes)
    possible = np.arange(len(row)) - first
    distance = np.zeros(sizes.max(initial=0), np.int32)
    for begin, end in ranges(possible, most_pairs):
        pairs = np.empty((3, possible[begin:end].sum()), np.int32)
        member, ancestor, apart = pairs[:, : _fill_pairs(dag, first, begin, end, distance, pairs)]
        at = row[member]
        if len(at):
            ends = {"node_id": ids.at(at), "ancestor_id": ids.at(row[ancestor])}
            yield {"graph_kind": kinds.at(at), "graph_id": graphs.at(at), **ends, "distance": apart}


@compiled
def _fill_pairs(dag, first, begin, end, distance, pairs):
    """Write the pairs of members from `begin` to `end`, walking down from each; return their number."""
    start, previous = dag.start, dag.previous
    count = 0
    for m in range(begin, end):
        low = first[m]
        for e in range(start[m], start[m + 1]):
            distance[previous[e] - low] = 1
        for at in range(m - 1, low - 1, -1):
            d = distance[at - low]
            if d > 0:
                pairs[0, count] = m
                pairs[1, count] = at
                pairs[2, count] = d
                count += 1
                distance[at - low] = 0
                for e in range(start[at], start[at + 1]):
                    p = previous[e] - low
                    distance[p] = max(distance[p], d + 1)
    return count
