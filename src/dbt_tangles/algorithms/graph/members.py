"""Members of many graphs as a DAG on arrays, built from a table of known depths."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.dense_ids import group_rows, number_nodes
from dbt_tangles.algorithms.graph.links import link
from dbt_tangles.algorithms.graph.orders import Dag, positions, renumber
from dbt_tangles.algorithms.graph.strings import lists_of, strings_of


class Members(NamedTuple):
    """The numbered rows of a table of members."""

    dag: Dag  # The members by graph and position, and their edges
    row: np.ndarray  # int32[members], the row of each member


def number_members(table: pa.Table) -> Members:
    """Number a table of members by graph, depth and id.

    Args:
        table: One row per member, in any order: `graph_kind`, `graph_id`, `node_id`, `previous` list<string>, `depth`
            int32 (a row without depth is skipped). The list of a member at depth 0 is ignored, as is a previous that is
            not a member.

    Returns:
        The members.

    Raises:
        ValueError: A depth does not exceed that of a previous, or exceeds the longest possible path of its graph.
    """
    ids = strings_of(table["node_id"])
    graph, graph_count = group_rows(strings_of(table["graph_kind"]), strings_of(table["graph_id"]))
    nodes = number_nodes(graph, graph_count, ids)
    depth = table["depth"].cast(pa.int32()).fill_null(-1).to_numpy()[nodes.row]
    links = link(nodes, ids, lists_of(table["previous"]), depth >= 0, depth == 0)
    dag = renumber(nodes.graph_start, links.start, links.previous, positions(nodes.graph_start, depth))
    in_order = depth[dag.node]
    merged = np.repeat(in_order, np.diff(dag.start))
    if (in_order[dag.previous] >= merged).any():
        raise ValueError("a depth is not greater than that of a previous: compute the depths with walk_graphs")
    return Members(dag, nodes.row[dag.node])


def single_chunk(column: pa.ChunkedArray, rows_at_once: int) -> pa.Array:
    """Combine the chunks of a string column, for repeated `take`.

    Args:
        column: A column of strings.
        rows_at_once: Maximum number of rows of one `take`.

    Returns:
        The column in one chunk, with 64-bit offsets where a `take` might exceed two gigabytes.
    """
    longest = pc.max(pc.binary_length(column)).as_py() or 0
    if column.nbytes >= 2**31 - 1 or longest * rows_at_once >= 2**31 - 1:
        column = column.cast(pa.large_string())
    return column.combine_chunks()
