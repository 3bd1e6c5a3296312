"""Lays out a tangle, a feed, a set, a base or a private group."""

from dbt_tangles.cli import graphs
from dbt_tangles.cli.duplicate_tangles import TablesOnce
from dbt_tangles.cli.graph import label
from dbt_tangles.cli.page import join_names, quantity
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.report.layout import lay_out
from dbt_tangles.report.parts import Part, add_lists, is_aside, is_in, mark, one_by, queries

#: Reasons of claims that make no candidate: the values of `int_tangle_claims.claim_error`.
MALFORMED_CLAIMS = frozenset(("malformed_tangle", "wrong_type", "not_a_writer"))
_OF_EPOCHS = ("epoch_id", "author", "depth", "added_count", "excluded_count", "missing_count", "returned_count")


def tangle(tables: TablesOnce, row: dict, nodes: int) -> Part:
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


def feed(tables: Tables, row: dict, nodes: int) -> Part:
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


def set_(tables: Tables, row: dict, nodes: int) -> Part:
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


def group(tables: Tables, row: dict, nodes: int) -> Part:
    """Lay out a row of the query `group_subjects`."""
    group_id = row["group_id"]
    graph = graphs.group(tables, "", group_id, nodes)
    rows = tables.rows(query("group_epochs"), group=group_id, nodes=nodes)
    epochs = [{name: each[name] for name in _OF_EPOCHS} for each in rows]
    epochs.sort(key=lambda epoch: (epoch["depth"] is None, epoch["depth"], epoch["epoch_id"]))
    view = lay_out(graph, {epoch["epoch_id"]: epoch["author"] for epoch in epochs})
    view["facts"] = row["facts"]
    add_lists(view, epochs=is_in, tips=mark("tip"))
    view["epochs"] = [{**epoch, "label": label(epoch["epoch_id"])} for epoch in epochs]
    view["feeds"], view["feed_total"] = _feeds(tables, group_id, [epoch["epoch_id"] for epoch in epochs], nodes)
    view["finding_total"] = row["entry"]["trouble"]
    view["findings"] = tables.rows(query("group_findings"), group=group_id)
    entry = row["entry"] | {"facts": f"{row['entry']['facts']}, {quantity(view['feed_total'], 'feed{|s}')}"}
    return Part(entry, view, queries(view, "message"), group_id)


def _feeds(tables: Tables, group_id: str, epochs: list[str], most: int) -> tuple[list[dict], int]:
    """List the feeds of a group and their roles in each epoch; feeds in the most epochs are kept."""
    number = {epoch: n for n, epoch in enumerate(epochs)}
    feeds: dict[str, dict] = {}
    rows = tables.rows(query("group_feeds"), group=group_id, epochs=epochs, nodes=most)
    for row in rows:
        feed = feeds.setdefault(row["feed_id"], {"id": row["feed_id"], "label": label(row["feed_id"]), "in": {}})
        feed["in"][number[row["epoch_id"]]] = [
            name for name in ("added", "excluded", "missing", "returned") if row[f"is_{name}"]
        ] + ["added, but not a member"] * bool(row["is_added"] and not row["is_member"])
    return sorted(feeds.values(), key=lambda feed: (min(feed["in"]), feed["id"])), rows[0]["feed_total"] if rows else 0


def base(tables: Tables, row: dict, nodes: int) -> Part:
    """Lay out a row of the query `base_subjects`."""
    base_id = row["base_id"]
    graph = graphs.base(tables, "", base_id, nodes)
    ids = [node.id for node in graph.nodes]
    rows = {each["node_id"]: each for each in tables.rows(query("base_positions"), base=base_id, ids=ids)}
    titles = {id_: each["value"] for id_, each in rows.items() if each["value"] is not None}
    view = lay_out(graph, {id_: id_.rpartition(":")[0] for id_ in ids}, titles)
    quorums = tables.rows(query("base_quorums"), base=base_id, ids=ids)
    degree = {each["node_id"]: each["degree"] for each in quorums}
    for node in view["nodes"]:
        node["votes"] = rows.get(node["id"], {}).get("votes")
        node["degree"] = degree.get(node["id"], 0)
    view["facts"] = row["facts"]
    view["quorums"] = quorums
    add_lists(view, nodes=is_in, heads=mark("head"))
    view["observers"] = _observers(tables, base_id, {node["id"]: n for n, node in enumerate(view["nodes"])}, nodes)
    order = [each for observer in view["observers"] if observer["observer"] == "all" for each in observer["order"]]
    settled = [each["node"] for each in order if each["is_settled"] and each["node"] is not None]
    others = [n for n in view["lists"]["nodes"] if n not in settled]
    view["lists"] |= {"settled": settled, "not settled": others}
    indexing = [n for n in view["lists"]["nodes"] if view["nodes"][n]["words"].partition(",")[0] == "indexing"]
    view["lists"]["indexing writers"] = one_by(view["nodes"], indexing, "lane")
    return Part(row["entry"], view, queries(view, "node", base_id))


def _observers(tables: Tables, base_id: str, number: dict[str, int], nodes: int) -> list[dict]:
    """Read the last nodes of each observer's order, and the length of its settled prefix."""
    observers = tables.rows(query("base_observers"), base=base_id)
    for observer in observers:
        name = observer["observer"]
        rows = tables.rows(query("base_order"), base=base_id, observer=name, first=observer["total"] - nodes)
        ids = [each["node_id"] for each in rows]
        settled = tables.rows(query("base_confirmations"), base=base_id, observer=name, ids=ids)
        why = {each["node_id"]: each for each in settled}
        waits = graphs.waits_of(tables, base_id, ids) if name == "all" else {}
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
