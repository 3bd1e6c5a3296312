"""Reads graphs from the tables: the last nodes of a tangle, feed, set, group, base or timeline, and their links."""

from collections import Counter

from dbt_tangles.cli.graph import ASIDE, IN, MISSING, Edge, Graph, Node, label
from dbt_tangles.cli.page import quantity
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query, total_of

#: What an unsettled node of a base waits for, by reason of `autobase_unsettled`.
_WAITS = {"needs_votes": "needs votes", "contender": "has a contender", "awaits_merge": "awaits a merge"}
#: No sequence is greater.
_GREATEST = 2**63 - 1
#: The fields of a record at its tips, and the members that it leaves out; other tangles have none.
_FIELDS = """select field, strategy, value, is_conflict, set_by, conflicting_values from record_fields
    where tangle_name = $name and root_id = $root order by field"""
_LEFT_OUT = "select tips, left_out from records where tangle_name = $name and root_id = $root and len(left_out) > 0"
#: The arrows of a timeline.
_TIMELINE_LINKS = """select event_id as child, cause_id as parent, kind, true as is_order,
        if(is_known, null, 'not in the timeline') as lost
    from timeline_links where timeline_id = $timeline and event_id in (select unnest($ids)) order by all"""


def _marks(row: dict, *names: str) -> list[str]:
    return [name.replace("_", " ") for name in names if row[f"is_{name}"]]


def _join(*words: object) -> str:
    return ", ".join(filter(None, words))


def _last(tables: Tables, rows_of: str, limit: int, **values: str | int | bool) -> tuple[list[dict], int]:
    """Read the last rows and count all rows, in two queries, so that only these rows are read in full."""
    rows = tables.rows(query(rows_of), nodes=limit, **values)
    if len(rows) < limit:
        return rows, len(rows)
    return rows, _count(tables, rows_of, **values)


def _count(tables: Tables, rows_of: str, **values: str | int | bool) -> int:
    found = tables.row(total_of(rows_of), **values)
    return found["total"] if found else 0


def _share(taken: list[dict], aside: list[dict], limit: int) -> list[dict]:
    """Pick at most `limit` rows of both lists; a quarter of them from `aside` if both lists are long enough."""
    kept = max(limit // 4, limit - len(taken))
    return [*taken[: limit - min(len(aside), kept)], *aside[:kept]]


def _with_links(nodes: list[Node], links: list[dict]) -> tuple[list[Node], list[Edge]]:
    """Add nodes for the missing parents of links, of which `lost` says in words that they are missing."""
    drawn, lost = {node.id for node in nodes}, {}
    for link in links:
        if words := link.pop("lost"):
            lost.setdefault(link["parent"], words)
    missing = [Node(id_, MISSING, words=words) for id_, words in lost.items() if id_ not in drawn]
    return [*nodes, *missing], [Edge(**link) for link in links]


def tangle(tables: Tables, name: str, root: str, limit: int) -> Graph:
    """Read a tangle: its members, and the candidates that were set aside."""
    where = {"name": name, "root": root}
    members, total = _last(tables, "tangle_messages", limit, is_member=True, **where)
    aside, total_aside = _last(tables, "tangle_messages", limit, is_member=False, **where)
    shown = _share(members, aside, limit)
    nodes = [
        Node(
            row["message_id"],
            IN if row["is_member"] else ASIDE,
            row["depth"],
            _marks(row, "root", "tip", "fork", "merge"),
            row["set_aside_reason"] or _member_words(row),
        )
        for row in shown
    ]
    links = tables.rows(query("tangle_links"), ids=[node.id for node in nodes], **where)
    edges = [
        Edge(row["message_id"], row["previous_id"], "redundant" if row["is_redundant"] else "previous") for row in links
    ]
    missing = tables.rows(query("tangle_missing"), ids=[edge.parent for edge in edges], **where)
    for row in missing:
        there = "sealed in this export" if row["is_sealed"] else "no candidate"
        nodes.append(Node(row["missing_id"], MISSING, words=there if row["is_in_log"] else "not in the log"))
    _mark_left_out(tables, nodes, **where)
    fields = tables.rows(_FIELDS, **where) if tables.files("record_fields") else []
    return Graph("tangle", root, name, total + total_aside, nodes, edges, fields=fields)


def _mark_left_out(tables: Tables, nodes: list[Node], **where: str) -> None:
    """Name the members that do not count in a record, and mark the record's own tips in place of the tangle's."""
    record = tables.row(_LEFT_OUT, **where) if tables.files("records") else None
    reasons = {each["message_id"]: each["reason"] for each in record["left_out"]} if record else {}
    for node in nodes if record else ():
        if node.id in reasons:
            node.words += f", left out of the record: {reasons[node.id]}"
        node.marks = [mark for mark in node.marks if mark != "tip"] + ["tip"] * (node.id in record["tips"])


def _member_words(row: dict) -> str:
    """Name the author of a member, its number of concurrent members, and the neighbour that it does not follow."""
    tie = row["tie_broken_with"] and f"tie with {label(row['tie_broken_with'])}"
    concurrent = row["concurrent_count"] and f"concurrent with {row['concurrent_count']:,}"
    return _join(f"by {label(row['author'])}", concurrent, tie)


def feed(tables: Tables, name: str, author: str, limit: int, until: int | None = None) -> Graph:
    """Read a feed up to a sequence: its messages in the chain and off it, and missing ones that these follow."""
    rows, total = _last(tables, "feed_messages", limit, author=author, until=_GREATEST if until is None else until)
    if until is not None:
        total = _count(tables, "feed_messages", author=author, until=_GREATEST)
    links = tables.rows(
        query("feed_links"),
        author=author,
        first=min((row["sequence"] for row in rows), default=0),
        ids=[row["message_id"] for row in rows],
    )
    follows = {link["message_id"]: link["previous_id"] for link in links}
    followers = Counter(follows.values())
    ends = tables.row(query("feed_tip"), author=author) or {}
    nodes = [
        Node(
            row["message_id"],
            IN if row["in_chain"] else ASIDE,
            row["sequence"],
            ["root"] * (row["in_chain"] and row["sequence"] == 1)
            + ["tip"] * (row["message_id"] == ends.get("latest_message_id"))
            + ["fork"] * (followers[row["message_id"]] > 1),
            _join(str(row["sequence"]), row["reason"]),
        )
        for row in rows
    ]
    edges = [Edge(child, parent, "previous") for child, parent in follows.items()]
    nodes += _missing_of_feed(tables, author, rows, follows)
    return Graph("feed", author, name, total, nodes, edges)


def _missing_of_feed(tables: Tables, author: str, rows: list[dict], follows: dict[str, str]) -> list[Node]:
    """Make nodes for the messages outside the feed that its off-chain messages follow."""
    shown = {row["message_id"] for row in rows}
    off = [
        row for row in rows if not row["in_chain"] and follows.get(row["message_id"], row["message_id"]) not in shown
    ]
    if not off:
        return []
    ids = list({follows[row["message_id"]] for row in off})
    known = {row["message_id"] for row in tables.rows(query("feed_followed"), author=author, ids=ids)}
    elsewhere = {row["message_id"] for row in tables.rows(query("feed_foreign"), ids=ids)}
    sequences = sorted({row["sequence"] for row in rows})
    nodes = {}
    for row in sorted(off, key=lambda row: row["sequence"]):
        id_, sequence = follows[row["message_id"]], row["sequence"]
        before = sequences[sequences.index(sequence) - 1] if sequence != sequences[0] else None
        words = "not a message of this feed" if id_ in elsewhere else "not in the log"
        if before is not None and sequence - before > 2 and id_ not in elsewhere:
            words = f"{before + 1:,} to {sequence - 1:,} are not in the log"
        if id_ not in known:
            nodes.setdefault(id_, Node(id_, MISSING, sequence - 1, words=words))
    return [*nodes.values()]


def set_(tables: Tables, name: str, set_id: str, limit: int) -> Graph:
    """Read a set: its valid and held messages, and the invalid ones."""
    taken, total = _last(tables, "set_messages", limit, set=set_id, is_taken=True)
    aside, total_aside = _last(tables, "set_messages", limit, set=set_id, is_taken=False)
    shown = _share(taken, aside, limit)
    there = {row["message_id"] for row in taken}
    nodes = [
        Node(
            row["message_id"],
            IN if row["message_id"] in there else ASIDE,
            row["depth"],
            _marks(row, "root", "item_root", "tip", "held"),
            row["reject_reason"] or row["purpose"] or "",
        )
        for row in shown
    ]
    links = tables.rows(query("set_links"), set=set_id, ids=[node.id for node in nodes])
    return Graph("set", set_id, name, total + total_aside, *_with_links(nodes, links))


def group(tables: Tables, name: str, group_id: str, limit: int) -> Graph:
    """Read a private group: its epochs."""
    rows, total = _last(tables, "group_epochs", limit, group=group_id)
    nodes = [
        Node(
            row["epoch_id"],
            IN,
            row["depth"],
            ["root"] * (row["epoch_id"] == group_id) + _marks(row, "tip", "preferred"),
            _join(
                f"{row['added_count']} added, {row['excluded_count']} excluded",
                row["missing_count"] and f"{row['missing_count']} missing",
                row["is_preferred"] and row["preference"],
            ),
        )
        for row in rows
    ]
    edges = [Edge(row["epoch_id"], previous, "epoch") for row in rows for previous in row["previous_epochs"] or []]
    return Graph("group", group_id, name, total, nodes, edges)


def base(tables: Tables, name: str, base_id: str, limit: int) -> Graph:
    """Read a base: its nodes, and the rejected ones."""
    taken, total = _last(tables, "base_nodes", limit, base=base_id)
    refused, total_refused = _last(tables, "base_rejected", limit, base=base_id)
    shown = _share(taken, refused, limit)
    ids = [row["node_id"] for row in shown]
    settled = {row["node_id"]: row for row in tables.rows(query("base_positions"), base=base_id, ids=ids)}
    reasons = waits_of(tables, base_id, ids)
    nodes = [_base_node(row, settled.get(row["node_id"]), reasons.get(row["node_id"])) for row in shown]
    links = tables.rows(query("base_links"), base=base_id, ids=ids)
    return Graph("base", base_id, name, total + total_refused, *_with_links(nodes, links))


def waits_of(tables: Tables, base_id: str, ids: list[str]) -> dict[str, str]:
    """Return a sentence for each unsettled node among nodes of a base: the event that it waits for."""
    rows = tables.rows(query("base_unsettled"), base=base_id, ids=ids)
    return {row["node_id"]: _WAITS.get(row["reason"], row["reason"]) for row in rows}


def _base_node(row: dict, view: dict | None, waits: str | None) -> Node:
    if "reason" in row:
        return Node(row["node_id"], ASIDE, words=row["reason"])
    place = view and f"position {view['position']}, {'settled' if view['is_confirmed'] else 'not settled'}"
    return Node(row["node_id"], IN, row["depth"], _marks(row, "head", "ack"), _join(row["role"], place, waits))


def order_marks(event: dict) -> list[str]:
    """Name the neighbour that an event of a timeline does not follow, its span of ranks, and its left out causes."""
    marks = [f"tie with position {event['position'] - 1}"] if event["is_tie_broken"] else []
    if event["latest_rank"] > event["rank"]:
        marks.append(f"free from rank {event['rank']} to {event['latest_rank']}")
    left_out = event["left_out_causes"]
    return marks + ([f"{quantity(len(left_out), 'cause{|s}')} left out"] if left_out else [])


def timeline(tables: Tables, name: str, timeline_id: str, limit: int) -> Graph:
    """Read a timeline: the last of its events."""
    # Positions are contiguous, so the last rows have the greatest ones.
    stats = tables.row("select event_count from timeline_stats where timeline_id = $id", id=timeline_id)
    total = (stats or {}).get("event_count") or 0
    rows = tables.rows(query("timeline_events"), timeline=timeline_id, first=total - limit)[::-1][:limit]
    nodes = [
        Node(
            row["event_id"],
            IN,
            row["rank"],
            _marks(row, "tip"),
            _join(f"position {row['position']}", row["author"] and f"by {label(row['author'])}", *order_marks(row)),
        )
        for row in rows
    ]
    links = tables.rows(_TIMELINE_LINKS, timeline=timeline_id, ids=[node.id for node in nodes])
    return Graph("timeline", timeline_id, name, total, *_with_links(nodes, links))


READ = {"tangle": tangle, "feed": feed, "set": set_, "group": group, "base": base, "timeline": timeline}
