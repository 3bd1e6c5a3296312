"""The columns of tangles under the names that the graph layer has for them, and back: nothing else is renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GRAPH_NAMES = {"tangle_name": "graph_kind", "root_id": "graph_id", "message_id": "node_id"}
#: What names a graph.
GRAPH_KEYS = ["graph_kind", "graph_id"]
TANGLE_NAMES = {graph: tangle for tangle, graph in GRAPH_NAMES.items()}


def graph_columns(rows: DataFrame) -> DataFrame:
    """Give messages of tangles their names as nodes of graphs."""
    return rows.withColumnsRenamed(GRAPH_NAMES)


def tangle_columns(rows: DataFrame) -> DataFrame:
    """Give back to nodes of graphs their names as messages of tangles."""
    return rows.withColumnsRenamed(TANGLE_NAMES)
