"""Lays out a private group: its epochs, the feeds in them, and its findings."""

from __future__ import annotations

from dbt_tangles.cli import graphs
from dbt_tangles.cli.graph import label
from dbt_tangles.cli.page import quantity
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.report.layout import lay_out
from dbt_tangles.report.lists import add_lists, is_in, mark
from dbt_tangles.report.parts import Part, queries

_OF_EPOCHS = ("epoch_id", "author", "depth", "added_count", "excluded_count", "missing_count", "returned_count")


def part(tables: Tables, row: dict, nodes: int) -> Part:
    """Lay out a row of the query `group_subjects`."""
    group = row["group_id"]
    graph = graphs.group(tables, "", group, nodes)
    rows = tables.rows(query("group_epochs"), group=group, nodes=nodes)
    epochs = [{name: each[name] for name in _OF_EPOCHS} for each in rows]
    epochs.sort(key=lambda epoch: (epoch["depth"] is None, epoch["depth"], epoch["epoch_id"]))
    view = lay_out(graph, {epoch["epoch_id"]: epoch["author"] for epoch in epochs})
    view["facts"] = row["facts"]
    add_lists(view, epochs=is_in, tips=mark("tip"))
    view["epochs"] = [{**epoch, "label": label(epoch["epoch_id"])} for epoch in epochs]
    view["feeds"], view["feed_total"] = _feeds(tables, group, [epoch["epoch_id"] for epoch in epochs], nodes)
    view["finding_total"] = row["entry"]["trouble"]
    view["findings"] = tables.rows(query("group_findings"), group=group)
    entry = row["entry"] | {"facts": f"{row['entry']['facts']}, {quantity(view['feed_total'], 'feed{|s}')}"}
    return Part(entry, view, queries(view, "message"), group)


def _feeds(tables: Tables, group: str, epochs: list[str], most: int) -> tuple[list[dict], int]:
    """List the feeds of a group and their roles in each epoch; feeds in the most epochs are kept."""
    number = {epoch: n for n, epoch in enumerate(epochs)}
    feeds: dict[str, dict] = {}
    rows = tables.rows(query("group_feeds"), group=group, epochs=epochs, nodes=most)
    for row in rows:
        feed = feeds.setdefault(row["feed_id"], {"id": row["feed_id"], "label": label(row["feed_id"]), "in": {}})
        feed["in"][number[row["epoch_id"]]] = [
            name for name in ("added", "excluded", "missing", "returned") if row[f"is_{name}"]
        ] + ["added, but not a member"] * bool(row["is_added"] and not row["is_member"])
    return sorted(feeds.values(), key=lambda feed: (min(feed["in"]), feed["id"])), rows[0]["feed_total"] if rows else 0
