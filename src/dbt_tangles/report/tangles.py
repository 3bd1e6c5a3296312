"""Chooses and lays out tangles: the largest, and those with the most messages set aside."""

from __future__ import annotations

from dbt_tangles.cli import graphs
from dbt_tangles.cli.duplicate_tangles import TablesOnce
from dbt_tangles.cli.graph import MISSING
from dbt_tangles.cli.page import join_names
from dbt_tangles.queries import query
from dbt_tangles.report.layout import lay_out
from dbt_tangles.report.lists import add_lists, is_aside, is_in, mark, one_by
from dbt_tangles.report.parts import Kind, Limits, Part, WhyQuery, number_of, total_of

#: Reasons of claims that make no candidate: the values of `int_tangle_claims.claim_error`.
MALFORMED_CLAIMS = frozenset(("malformed_tangle", "wrong_type", "not_a_writer"))
_FACTS = {
    "member_count": "members",
    "set_aside_count": "set aside",
    "invalid_claim_count": "malformed claims",
    "depth": "depth",
    "author_count": "authors",
    "fork_count": "tangle forks",
    "merge_count": "merges",
    "tip_count": "tips",
    "misordered_pairs": "links back in time",
}


def collect(tables: TablesOnce, limits: Limits) -> Kind:
    """Choose tangles other than feeds and lay them out for drawing."""
    rows = tables.rows(query("tangle_subjects"), subjects=limits.subjects)
    return Kind(total_of(rows), [_part(tables, row, limits.nodes) for row in rows])


def _part(tables: TablesOnce, row: dict, nodes: int) -> Part:
    names = tables.names_on(row["root_id"], row["tangle_name"])
    graph = graphs.tangle(tables, row["tangle_name"], row["root_id"], nodes)
    ids = [node.id for node in graph.nodes]
    authors = tables.rows(
        query("tangle_times"),
        name=row["tangle_name"],
        root=row["root_id"],
        ids=ids,
    )
    times = {each["message_id"]: each for each in authors}
    view = lay_out(graph, {id_: each["author"] for id_, each in times.items()})
    _add_lists(view, times)
    view["facts"] = {words: row[column] for column, words in _FACTS.items()}
    view["facts"]["root"] = row["root_status"]
    ties = tables.row(query("tangle_ties"), name=row["tangle_name"], root=row["root_id"])
    view["facts"]["ties in the order"] = ties["n"] if ties else 0
    entry = {
        "key": f"{row['tangle_name']}:{row['root_id']}",
        "also": [f"{name}:{row['root_id']}" for name in names if name != row["tangle_name"]],
        "name": join_names(names),
        "id": row["root_id"],
        "size": row["candidate_count"],
        "trouble": row["set_aside_count"] + row["invalid_claim_count"],
        "chosen": row["chosen"],
        "facts": f"{number_of(row['member_count'], 'member')}, depth {row['depth'] or 0:,}",
    }
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


def queries(view: dict, kind: str, only: str | None = None) -> dict[int, WhyQuery]:
    """Return the arguments of `tangles why` for each node of a drawing that is not missing."""
    return {n: WhyQuery(kind, node["id"], only) for n, node in enumerate(view["nodes"]) if node["state"] != MISSING}
