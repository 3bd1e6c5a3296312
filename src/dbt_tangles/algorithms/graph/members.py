"""Members of many graphs as a DAG on arrays, built from a table of known depths."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.orders import Dag, positions, renumber
from dbt_tangles.columns.dense_ids import number_rows
from dbt_tangles.columns.links import link
from dbt_tangles.columns.strings import lists_of
from dbt_tangles.kernel_runtime.row_schema import Int32

#: The key columns of a graph.
GRAPH = ["graph_kind", "graph_id"]


class Member(NamedTuple):
    """A member of a graph."""

    graph_kind: str | None
    graph_id: str | None
    node_id: str  # Unique in its graph
    previous: list[str] | None  # Ignored at depth 0, as are ids that are not members
    depth: Int32
    author: str | None
    sequence: Int32 | None


class Members(NamedTuple):
    """The numbered rows of a table of members."""

    dag: Dag  # The members by graph and position, and their edges
    row: np.ndarray  # int32[members], the row of each member


def number_members(table: pa.Table) -> Members:
    """Number rows of `Member` by graph, depth and id.

    Raises:
        ValueError: A depth does not exceed that of a previous, or exceeds the longest possible path of its graph.
    """
    nodes, ids = number_rows(table, GRAPH, "node_id")
    depth = table["depth"].to_numpy()[nodes.row]
    links = link(nodes, ids, lists_of(table["previous"]), depth >= 0, depth == 0)
    dag = renumber(nodes.graph_start, links.start, links.previous, positions(nodes.graph_start, depth))
    in_order = depth[dag.node]
    merged = np.repeat(in_order, np.diff(dag.start))
    if (in_order[dag.previous] >= merged).any():
        raise ValueError("a depth is not greater than that of a previous: compute the depths with `walk`")
    return Members(dag, nodes.row[dag.node])
