"""Chooses and lays out private groups: those with the most epochs, and those with the most findings."""

from __future__ import annotations

from dbt_tangles.cli import graphs
from dbt_tangles.cli.graph import label
from dbt_tangles.cli.tables import Tables
from dbt_tangles.report.layout import lay_out
from dbt_tangles.report.lists import add_lists, is_in, mark
from dbt_tangles.report.parts import Kind, Limits, Part, choose, number_of
from dbt_tangles.report.tangles import queries

_MOST_FINDINGS = 200


def collect(tables: Tables, limits: Limits) -> Kind:
    """Choose groups and lay them out for drawing."""
    count = tables.row("select count(distinct group_id) as n from {group_epochs}") or {"n": 0}
    found = {
        row["group_id"]: row["n"]
        for row in tables.rows(
            f"""select group_id, count(*) as n from {{group_findings}} where group_id is not null
            group by group_id order by n desc, group_id limit {limits.subjects}"""
        )
    }
    read = """select group_id, count(*) as epochs, max(depth) as depth, max(tip_count) as tips,
            max(preference) as preference, bool_and(is_decided_by_peers) as is_decided from {group_epochs}"""
    rows = choose(
        tables.rows(f"{read} group by group_id order by epochs desc, group_id limit {limits.subjects}"),
        tables.rows(f"{read} where group_id in (select unnest($ids)) group by group_id order by 1", ids=[*found]),
        ("group_id",),
    )
    rows.sort(key=lambda row: (-found.get(row["group_id"], 0), -row["epochs"], row["group_id"]))
    return Kind(count["n"], [_part(tables, row, limits.nodes) for row in rows])


def _part(tables: Tables, row: dict, nodes: int) -> Part:
    group = row["group_id"]
    graph = graphs.group(tables, "", group, nodes)
    ids = [node.id for node in graph.nodes]
    epochs = tables.rows(
        """select epoch_id, author, depth, added_count, excluded_count, missing_count, returned_count
        from {group_epochs} where group_id = $group and epoch_id in (select unnest($ids)) order by depth, epoch_id""",
        group=group,
        ids=ids,
    )
    view = lay_out(graph, {epoch["epoch_id"]: epoch["author"] for epoch in epochs})
    view["facts"] = {
        "epochs": row["epochs"],
        "depth": row["depth"],
        "tips": row["tips"],
        "preference": row["preference"],
        "decided by peers": "yes" if row["is_decided"] else "no",
    }
    add_lists(view, epochs=is_in, tips=mark("tip"))
    view["epochs"] = [{**epoch, "label": label(epoch["epoch_id"])} for epoch in epochs]
    view["feeds"], view["feed_total"] = _feeds(tables, group, [epoch["epoch_id"] for epoch in epochs], nodes)
    findings = tables.rows(
        f"""select finding, epoch_id, feed_id, message_ids[1:10] as message_ids, message_count, count(*) over () as n
        from {{group_findings}} where group_id = $group order by finding, epoch_id, feed_id limit {_MOST_FINDINGS}""",
        group=group,
    )
    view["finding_total"] = findings[0]["n"] if findings else 0
    view["findings"] = findings
    entry = {
        "key": group,
        "name": "group",
        "id": group,
        "size": row["epochs"],
        "trouble": view["finding_total"],
        "chosen": row["chosen"],
        "facts": f"{number_of(row['epochs'], 'epoch')}, {number_of(view['feed_total'], 'feed')}",
    }
    return Part(entry, view, queries(view, "message"))


def _feeds(tables: Tables, group: str, epochs: list[str], most: int) -> tuple[list[dict], int]:
    """List the feeds of a group and their roles in each epoch; feeds in the most epochs are kept."""
    number = {epoch: n for n, epoch in enumerate(epochs)}
    of_group = "{group_members} where group_id = $group and epoch_id in (select unnest($epochs))"
    values = {"group": group, "epochs": epochs}
    count = tables.row(f"select count(distinct feed_id) as n from {of_group}", **values) or {"n": 0}
    feeds: dict[str, dict] = {}
    for row in tables.rows(
        f"""select feed_id, epoch_id, is_added, is_excluded, is_member, is_missing, is_returned from {of_group}
            and feed_id in (
                select feed_id from {of_group} group by feed_id order by count(*) desc, feed_id limit {most}
            )
        order by feed_id, epoch_id""",
        **values,
    ):
        feed = feeds.setdefault(row["feed_id"], {"id": row["feed_id"], "label": label(row["feed_id"]), "in": {}})
        feed["in"][number[row["epoch_id"]]] = [
            name for name in ("added", "excluded", "missing", "returned") if row[f"is_{name}"]
        ] + ["added, but not a member"] * bool(row["is_added"] and not row["is_member"])
    return sorted(feeds.values(), key=lambda feed: (min(feed["in"]), feed["id"])), count["n"]
