"""Lays out a feed around the end of its chain."""

from __future__ import annotations

from dbt_tangles.cli import graphs
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.report.layout import lay_out
from dbt_tangles.report.parts import Part, queries


def part(tables: Tables, row: dict, nodes: int) -> Part:
    """Lay out a row of the query `feed_subjects`."""
    graph = graphs.feed(tables, "", row["author"], nodes, _until(tables, row, nodes))
    view = lay_out(
        graph, {node.id: "not in the chain" if node.state == graphs.ASIDE else "chain" for node in graph.nodes}
    )
    view["holes"] = _holes([n for n in view["rows"] if n is not None], starts_early=not row["verified_length"])
    of_feed = {"table": "feed_messages", "author": row["author"]}
    view["lists"] = {"messages": of_feed, "in the chain": {**of_feed, "verdict": "in_chain"}}
    view["facts"] = row["facts"]
    return Part(row["entry"], view, queries(view, "message"))


def _until(tables: Tables, row: dict, nodes: int) -> int | None:
    """Return the last sequence to draw of a broken feed, so that about half of the nodes are off the chain."""
    if row["status"] == "complete":
        return None
    found = tables.row(query("feed_until"), author=row["author"], off_chain=max(nodes // 2, 1))
    return found and found["until"]


def _holes(sequences: list[int], starts_early: bool) -> list[list]:
    """List the gaps between the ascending sequences of the rows: the row below each gap, and its label."""
    before = [0 if starts_early else sequences[0] - 1, *sequences[:-1]] if sequences else []
    return [
        [n, f"{low + 1:,} is missing" if high - low == 2 else f"{low + 1:,} to {high - 1:,} are missing"]
        for n, (low, high) in enumerate(zip(before, sequences, strict=True))
        if high - low > 1
    ]
