"""Renames the columns of tangles to those of the graph algorithms, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GRAPH_NAMES = {"tangle_name": "graph_kind", "root_id": "graph_id", "message_id": "node_id"}
TANGLE_NAMES = {graph: tangle for tangle, graph in GRAPH_NAMES.items()}


def graph_columns(rows: DataFrame) -> DataFrame:
    """Rename the columns of tangle messages to those of graph nodes."""
    return rows.withColumnsRenamed(GRAPH_NAMES)


def tangle_columns(rows: DataFrame) -> DataFrame:
    """Rename the columns of graph nodes to those of tangle messages."""
    return rows.withColumnsRenamed(TANGLE_NAMES)
