"""Lays out a base: its nodes, their quorums, and the order of each observer."""

from dbt_tangles.cli import graphs
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.report.layout import lay_out
from dbt_tangles.report.parts import Part, add_lists, is_in, mark, one_by, queries


def part(tables: Tables, row: dict, nodes: int) -> Part:
    """Lay out a row of the query `base_subjects`."""
    base = row["base_id"]
    graph = graphs.base(tables, "", base, nodes)
    ids = [node.id for node in graph.nodes]
    rows = {each["node_id"]: each for each in tables.rows(query("base_positions"), base=base, ids=ids)}
    titles = {id_: each["value"] for id_, each in rows.items() if each["value"] is not None}
    view = lay_out(graph, {id_: id_.rpartition(":")[0] for id_ in ids}, titles)
    quorums = tables.rows(query("base_quorums"), base=base, ids=ids)
    degree = {each["node_id"]: each["degree"] for each in quorums}
    for node in view["nodes"]:
        node["votes"] = rows.get(node["id"], {}).get("votes")
        node["degree"] = degree.get(node["id"], 0)
    view["facts"] = row["facts"]
    view["quorums"] = quorums
    add_lists(view, nodes=is_in, heads=mark("head"))
    view["observers"] = _observers(tables, base, {node["id"]: n for n, node in enumerate(view["nodes"])}, nodes)
    order = [each for observer in view["observers"] if observer["observer"] == "all" for each in observer["order"]]
    settled = [each["node"] for each in order if each["is_settled"] and each["node"] is not None]
    others = [n for n in view["lists"]["nodes"] if n not in settled]
    view["lists"] |= {"settled": settled, "not settled": others}
    indexing = [n for n in view["lists"]["nodes"] if view["nodes"][n]["words"].partition(",")[0] == "indexing"]
    view["lists"]["indexing writers"] = one_by(view["nodes"], indexing, "lane")
    return Part(row["entry"], view, queries(view, "node", base))


def _observers(tables: Tables, base: str, number: dict[str, int], nodes: int) -> list[dict]:
    """Read the last nodes of each observer's order, and the length of its settled prefix."""
    observers = tables.rows(query("base_observers"), base=base)
    for observer in observers:
        name = observer["observer"]
        rows = tables.rows(query("base_order"), base=base, observer=name, first=observer["total"] - nodes)
        ids = [each["node_id"] for each in rows]
        settled = tables.rows(query("base_confirmations"), base=base, observer=name, ids=ids)
        why = {each["node_id"]: each for each in settled}
        waits = graphs.waits_of(tables, base, ids) if name == "all" else {}
        observer["order"] = [
            {
                "position": each["position"],
                "id": each["node_id"],
                "node": number.get(each["node_id"]),
                "is_settled": each["is_confirmed"],
                "settled_with": why.get(each["node_id"], {}).get("confirmed_by"),
                "delayed_by": why.get(each["node_id"], {}).get("contender"),
                "waits": waits.get(each["node_id"]),
            }
            for each in rows
        ]
    return observers
