"""Chooses and lays out sets: the largest, and those with the most invalid messages."""

from __future__ import annotations

from dbt_tangles.cli import graphs
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.report.layout import lay_out
from dbt_tangles.report.lists import add_lists, is_aside, is_in, mark
from dbt_tangles.report.parts import Kind, Limits, Part, number_of, total_of
from dbt_tangles.report.tangles import queries

_FACTS = {
    "message_count": "messages",
    "invalid_count": "not valid",
    "item_count": "items",
    "item_root_count": "item roots",
    "max_depth": "greatest depth",
    "tip_count": "tips",
    "root_status": "root",
}


def collect(tables: Tables, limits: Limits) -> Kind:
    """Choose sets and lay them out for drawing."""
    rows = tables.rows(query("set_subjects"), subjects=limits.subjects)
    return Kind(total_of(rows), [_part(tables, row, limits.nodes) for row in rows])


def _part(tables: Tables, row: dict, nodes: int) -> Part:
    set_id = row["set_id"]
    graph = graphs.set_(tables, row["domain"] or "", set_id, nodes)
    keys = tables.rows(query("set_keys"), ids=[node.id for node in graph.nodes])
    items = tables.rows(query("set_items"), set=set_id, nodes=nodes)
    adds: dict[str, list[str]] = {}
    for item in items:
        adds.setdefault(item["added_by"], []).append(item["item"])
    titles = {id_: "adds: " + ", ".join(each[:200] for each in added[:20]) for id_, added in adds.items()}
    view = lay_out(graph, {each["message_id"]: each["key"] for each in keys}, titles)
    view["facts"] = {words: row[column] for column, words in _FACTS.items()}
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
    entry = {
        "key": set_id,
        "title": row["domain"] or "domain not known",
        "name": "set",
        "id": set_id,
        "size": row["message_count"],
        "trouble": row["invalid_count"] or 0,
        "chosen": row["chosen"],
        "facts": f"{number_of(row['message_count'], 'message')}, {number_of(row['item_count'], 'item')}",
    }
    return Part(entry, view, queries(view, "pzp", set_id))
