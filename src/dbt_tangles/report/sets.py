"""Lays out a set: its messages, and its items."""

from __future__ import annotations

from dbt_tangles.cli import graphs
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.report.layout import lay_out
from dbt_tangles.report.lists import add_lists, is_aside, is_in, mark
from dbt_tangles.report.parts import Part, queries


def part(tables: Tables, row: dict, nodes: int) -> Part:
    """Lay out a row of the query `set_subjects`."""
    set_id = row["set_id"]
    graph = graphs.set_(tables, row["domain"] or "", set_id, nodes)
    keys = tables.rows(query("set_keys"), ids=[node.id for node in graph.nodes])
    items = tables.rows(query("set_items"), set=set_id, nodes=nodes)
    adds: dict[str, list[str]] = {}
    for item in items:
        adds.setdefault(item["added_by"], []).append(item["item"])
    titles = {id_: "adds: " + ", ".join(each[:200] for each in added[:20]) for id_, added in adds.items()}
    view = lay_out(graph, {each["message_id"]: each["key"] for each in keys}, titles)
    view["facts"] = row["facts"]
    add_lists(
        view,
        messages=is_in,
        not_valid=lambda node: is_aside(node) or "held" in node["marks"],
        item_roots=mark("item root"),
        tips=mark("tip"),
    )
    view["lists"]["items"] = [item["item"] for item in items]
    view["items"] = items
    view["item_total"] = row["item_count"] or 0
    return Part(row["entry"], view, queries(view, "pzp", set_id))
