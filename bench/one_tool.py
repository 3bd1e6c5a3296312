"""One tool's answer to the question of `others`: `python -m bench.one_tool TOOL FILE` prints its cost as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.cpu import peak_mib


def of_networkx(file: Path) -> int:
    """A networkx graph of names; its topological generations are the depths."""
    import networkx

    graph = networkx.DiGraph()
    for node, previous in _rows(file):
        graph.add_node(node)
        graph.add_edges_from((other, node) for other in previous)
    return sum(depth * len(nodes) for depth, nodes in enumerate(networkx.topological_generations(graph)))


def of_rustworkx(file: Path) -> int:
    """The same on numbers, with rustworkx."""
    import rustworkx

    number, edges = _numbered(file)
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(number))
    graph.extend_from_edge_list(edges)
    return sum(depth * len(nodes) for depth, nodes in enumerate(rustworkx.topological_generations(graph)))


def of_igraph(file: Path) -> int:
    """The topological order by igraph, and the depths along it in Python."""
    import igraph

    number, edges = _numbered(file)
    graph = igraph.Graph(n=number, edges=edges, directed=True)
    depth = [0] * number
    below = graph.get_adjlist("out")
    for node in graph.topological_sorting():
        for child in below[node]:
            depth[child] = max(depth[child], depth[node] + 1)
    return sum(depth)


def of_duckdb(file: Path) -> int:
    """A recursive CTE of DuckDB, one round for each depth; a message keeps its greatest depth."""
    import duckdb

    asked = duckdb.execute(
        """
        with recursive nodes as (
            select row_number() over () as node, graph_kind, graph_id, node_id, previous, is_root
            from read_parquet(?)
        ), links as materialized (
            select distinct above.node as above, below.node as below
            from (
                select graph_kind, graph_id, node, unnest(previous) as previous_id from nodes where not is_root
            ) as below
            join nodes as above
                on above.graph_kind = below.graph_kind
                and above.graph_id = below.graph_id
                and above.node_id = below.previous_id
        ), depths(node, depth) using key (node) as (
            select node, 0 from nodes where is_root
            union
            select links.below, max(depths.depth) + 1
            from depths join links on links.above = depths.node
            group by links.below
        )
        select sum(depth) from depths
        """,
        [str(file)],
    )
    return int(asked.fetchone()[0])


def of_tangles(file: Path) -> int:
    """The kernel of `int_tangle_levels`, as a worker runs it."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from dbt_tangles.algorithms.graph.graph_batches import walk_partition

    batches = walk_partition(iter(pq.read_table(file).to_batches()))
    return sum(pc.sum(batch["depth"]).as_py() or 0 for batch in batches)


ANSWERS: dict[str, Callable[[Path], int]] = {
    "tangles": of_tangles,
    "networkx": of_networkx,
    "rustworkx": of_rustworkx,
    "igraph": of_igraph,
    "duckdb": of_duckdb,
}


def _rows(file: Path):
    """Yield each message and its previous messages, under names that are unique to its tangle."""
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(file).iter_batches(
        columns=["graph_kind", "graph_id", "node_id", "previous", "is_root"]
    ):
        for row in batch.to_pylist():
            graph = row["graph_kind"], row["graph_id"]
            listed = () if row["is_root"] else {(*graph, other) for other in row["previous"] or ()}
            yield (*graph, row["node_id"]), listed


def _numbered(file: Path) -> tuple[int, list[tuple[int, int]]]:
    """Number the messages; return the links between them."""
    numbers: dict[tuple, int] = {}
    links = []
    for node, previous in _rows(file):
        below = numbers.setdefault(node, len(numbers))
        links += [(numbers.setdefault(other, len(numbers)), below) for other in previous]
    return len(numbers), links


if __name__ == "__main__":
    answer, began = ANSWERS[sys.argv[1]], time.monotonic()
    found = answer(Path(sys.argv[2]))
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "cpu_s": round(used.ru_utime + used.ru_stime, 2),
                "wall_s": round(time.monotonic() - began, 2),
                "peak_mib": peak_mib(),
                "depth_sum": found,
            }
        )
    )
