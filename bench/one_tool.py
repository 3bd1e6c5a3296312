"""One tool's answer to a question of `others`: `python -m bench.one_tool QUESTION TOOL FILE` prints its cost."""

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.cpu import peak_mib

#: Numbered messages, and the links between them, for DuckDB's recursive queries.
LINKS = """
with recursive nodes as (
    select row_number() over () as node, graph_kind, graph_id, node_id, previous, is_root from read_parquet(?)
), links as materialized (
    select distinct above.node as above, below.node as below
    from (
        select graph_kind, graph_id, node, unnest(previous) as previous_id from nodes where not is_root
    ) as below
    join nodes as above
        on above.graph_kind = below.graph_kind
        and above.graph_id = below.graph_id
        and above.node_id = below.previous_id
), """


def networkx_depth(file: Path) -> int:
    """Sum the depths: topological generations."""
    import networkx

    return sum(depth * len(nodes) for depth, nodes in enumerate(networkx.topological_generations(_networkx(file))))


def networkx_ancestors(file: Path) -> int:
    """Count the pairs of a message and an ancestor, by a search from each message."""
    import networkx

    graph = _networkx(file)
    return sum(len(networkx.ancestors(graph, node)) for node in graph)


def networkx_components(file: Path) -> int:
    """Count weakly connected components."""
    import networkx

    return networkx.number_weakly_connected_components(_networkx(file))


def rustworkx_depth(file: Path) -> int:
    """Sum the depths: topological generations."""
    import rustworkx

    return sum(depth * len(nodes) for depth, nodes in enumerate(rustworkx.topological_generations(_rustworkx(file))))


def rustworkx_ancestors(file: Path) -> int:
    """Count the pairs of a message and an ancestor, by a search from each message."""
    import rustworkx

    graph = _rustworkx(file)
    return sum(len(rustworkx.ancestors(graph, node)) for node in graph.node_indices())


def rustworkx_components(file: Path) -> int:
    """Count weakly connected components."""
    import rustworkx

    return rustworkx.number_weakly_connected_components(_rustworkx(file))


def igraph_depth(file: Path) -> int:
    """Sum the depths, in Python along the topological order of igraph."""
    graph = _igraph(file)
    depth = [0] * graph.vcount()
    below = graph.get_adjlist("out")
    for node in graph.topological_sorting():
        for child in below[node]:
            depth[child] = max(depth[child], depth[node] + 1)
    return sum(depth)


def igraph_ancestors(file: Path) -> int:
    """Count the pairs of a message and an ancestor, by a search from each message."""
    graph = _igraph(file)
    return sum(graph.neighborhood_size(order=graph.vcount(), mode="in")) - graph.vcount()


def igraph_components(file: Path) -> int:
    """Count weakly connected components."""
    return len(_igraph(file).connected_components(mode="weak"))


def duckdb_depth(file: Path) -> int:
    """Sum the depths, one recursive round for each; a message keeps its greatest depth."""
    return _duckdb(
        file,
        """depths(node, depth) using key (node) as (
            select node, 0 from nodes where is_root
            union
            select links.below, max(depths.depth) + 1 from depths join links on links.above = depths.node
            group by links.below
        )
        select sum(depth) from depths""",
    )


def duckdb_ancestors(file: Path) -> int:
    """Count the pairs of a message and an ancestor, one recursive round for each distance."""
    return _duckdb(
        file,
        """pairs(above, below) as (
            select above, below from links
            union
            select pairs.above, links.below from pairs join links on links.above = pairs.below
        )
        select count(*) from pairs""",
    )


def duckdb_components(file: Path) -> int:
    """Count components: the least number of a component spreads along its links."""
    return _duckdb(
        file,
        """ends as materialized (
            select above as one, below as other from links union all select below, above from links
        ), labels(node, label) using key (node) as (
            select node, node from nodes
            union
            select ends.other, min(labels.label) from labels
            join ends on ends.one = labels.node
            join recurring.labels as present on present.node = ends.other
            where labels.label < present.label
            group by ends.other
        )
        select count(distinct label) from labels""",
    )


def tangles_depth(file: Path) -> int:
    """Sum the depths by the kernel of `int_tangle_levels`, as a worker runs it."""
    import pyarrow.compute as pc

    return sum(pc.sum(batch["depth"]).as_py() or 0 for batch in _walked(file))


def tangles_ancestors(file: Path) -> int:
    """Count the pairs by the kernels of `int_tangle_levels` and `int_tangle_ancestors`, the latter without a limit."""
    from dbt_tangles.algorithms.graph.graph_batches import ancestors_of_partition

    return sum(len(batch) for batch in ancestors_of_partition(iter(_walked(file)), limit=2**31 - 1))


def tangles_components(file: Path) -> int:
    """Count the tangles with members by the kernel of `int_tangle_levels`: the members of a tangle are connected."""
    import pyarrow as pa

    members = pa.Table.from_batches(_walked(file)).select(["graph_kind", "graph_id", "depth"]).drop_null()
    return len(members.group_by(["graph_kind", "graph_id"]).aggregate([]))


TOOLS = ("tangles", "networkx", "rustworkx", "igraph", "duckdb")
_FUNCTIONS: dict[str, tuple[Callable[[Path], int], ...]] = {
    "depth": (tangles_depth, networkx_depth, rustworkx_depth, igraph_depth, duckdb_depth),
    "ancestors": (tangles_ancestors, networkx_ancestors, rustworkx_ancestors, igraph_ancestors, duckdb_ancestors),
    "components": (tangles_components, networkx_components, rustworkx_components, igraph_components, duckdb_components),
}
QUESTIONS = tuple(_FUNCTIONS)
ANSWERS = {question: dict(zip(TOOLS, functions, strict=True)) for question, functions in _FUNCTIONS.items()}


def _networkx(file: Path) -> Any:
    """Make a graph of names."""
    import networkx

    graph = networkx.DiGraph()
    for node, previous in _rows(file):
        graph.add_node(node)
        graph.add_edges_from((other, node) for other in previous)
    return graph


def _rustworkx(file: Path) -> Any:
    """Make a graph of numbers."""
    import rustworkx

    number, edges = _numbered(file)
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(number))
    graph.extend_from_edge_list(edges)
    return graph


def _igraph(file: Path) -> Any:
    """Make a graph of numbers."""
    import igraph

    number, edges = _numbered(file)
    return igraph.Graph(n=number, edges=edges, directed=True)


def _duckdb(file: Path, query: str) -> int:
    """Ask DuckDB for a number."""
    import duckdb

    return int(duckdb.execute(LINKS + query, [str(file)]).fetchone()[0])


def _walked(file: Path) -> list:
    """Return the batches of `walk_partition`."""
    import pyarrow.parquet as pq

    from dbt_tangles.algorithms.graph.graph_batches import walk_partition

    return list(walk_partition(iter(pq.read_table(file).to_batches())))


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
    answer, began = ANSWERS[sys.argv[1]][sys.argv[2]], time.monotonic()
    found = answer(Path(sys.argv[3]))
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "cpu_s": round(used.ru_utime + used.ru_stime, 2),
                "wall_s": round(time.monotonic() - began, 2),
                "peak_mib": peak_mib(),
                "answer": found,
            }
        )
    )
