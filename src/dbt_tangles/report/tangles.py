"""Lays out a tangle: its members, and the messages that are set aside."""

from __future__ import annotations

from dbt_tangles.cli import graphs
from dbt_tangles.cli.duplicate_tangles import TablesOnce
from dbt_tangles.cli.page import join_names
from dbt_tangles.queries import query
from dbt_tangles.report.layout import lay_out
from dbt_tangles.report.lists import add_lists, is_aside, is_in, mark, one_by
from dbt_tangles.report.parts import Part, queries

#: Reasons of claims that make no candidate: the values of `int_tangle_claims.claim_error`.
MALFORMED_CLAIMS = frozenset(("malformed_tangle", "wrong_type", "not_a_writer"))


def part(tables: TablesOnce, row: dict, nodes: int) -> Part:
    """Lay out a row of the query `tangle_subjects`."""
    names = tables.names_on(row["root_id"], row["tangle_name"])
    graph = graphs.tangle(tables, row["tangle_name"], row["root_id"], nodes)
    ids = [node.id for node in graph.nodes]
    where = {"name": row["tangle_name"], "root": row["root_id"]}
    times = {each["message_id"]: each for each in tables.rows(query("tangle_times"), ids=ids, **where)}
    view = lay_out(graph, {id_: each["author"] for id_, each in times.items()})
    _add_lists(view, times)
    ties = tables.row(query("tangle_ties"), **where)
    view["facts"] = row["facts"] | {"ties in the order": ties["n"] if ties else 0}
    also = [f"{name}:{row['root_id']}" for name in names if name != row["tangle_name"]]
    entry = row["entry"] | {"name": join_names(names), "also": also}
    return Part(entry, view, queries(view, "message"), row["root_id"], row["root_status"])


def _add_lists(view: dict, times: dict[str, dict]) -> None:
    """Add the nodes and links that the facts count, and one node for each author of a member."""
    is_malformed = MALFORMED_CLAIMS.__contains__
    add_lists(
        view,
        members=is_in,
        set_aside=lambda node: is_aside(node) and not is_malformed(node["words"]),
        malformed_claims=lambda node: is_aside(node) and is_malformed(node["words"]),
        tangle_forks=mark("fork"),
        merges=mark("merge"),
        tips=mark("tip"),
        ties_in_the_order=lambda node: is_in(node) and ", tie with " in node["words"],
    )
    lists, nodes = view["lists"], view["nodes"]
    lists["authors"] = one_by(nodes, lists["members"], "lane")
    links = [(child, parent) for child, parent, *_ in view["edges"] if is_in(nodes[child]) and is_in(nodes[parent])]
    at = [times.get(node["id"], {}).get("asserted_ms") for node in nodes]
    lists["links back in time"] = [
        [child, parent]
        for child, parent in links
        if at[child] is not None and at[parent] is not None and at[child] < at[parent]
    ]
