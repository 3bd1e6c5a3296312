"""Finds the first cause of each difference between replicas: a message that one lacks, or judges differently."""

from dbt_tangles.cli.tables import Pair

#: The inputs, which may be causes: kind, table, scope, id, verdict, and a condition on the rows.
_INPUTS = [
    ("ssb", "ssb_messages", "''", "message_id", "is_usable", "true"),
    ("pzp", "pzp_messages", "''", "message_id", "is_usable", "true"),
    ("node", "autobase_nodes", "base_id", "node_id", "true", "true"),
    ("event", "timeline_events", "timeline_id", "event_id", "true", "message_id is null"),
]
_OF_TANGLE = """
    select tangle_name as k1, root_id as k2, 'ssb' as kind, '' as scope, message_id as id, coalesce(depth, 1e9) as place
    from side.tangle_messages
    union all
    select tangle_name, root_id, 'ssb', '', unnest(blocked_by), -1 from side.tangle_messages"""
# A set also depends on the messages of its account, which hold the account's keys.
_OF_SET = """
    select set_id as k1, '' as k2, 'pzp' as kind, '' as scope, message_id as id, coalesce(depth, 1e9) as place
    from side.set_messages
    union all
    select set_id, '', 'pzp', '', message_id, 2e9 from side.sets inner join side.pzp_messages using (account)
    union all
    select set_id, '', 'pzp', '', unnest(awaited_ids), -1 from side.set_messages
    union all
    select set_id, '', 'pzp', '', account, -2 from side.sets where account is not null"""
_OF_TIMELINE = """
    select timeline_id as k1, '' as k2, if(message_id is null, 'event', 'ssb') as kind,
        if(message_id is null, timeline_id, '') as scope, event_id as id, position as place
    from side.timeline_events"""
_OF_BASE = """
    select base_id as k1, '' as k2, 'node' as kind, base_id as scope, node_id as id, coalesce(depth, 1e9) as place
    from side.autobase_nodes"""
#: Compared table: a query for the inputs of its rows, and the columns that join the two.
_SCOPES = {
    "feeds": (
        """select author as k1, '' as k2, 'ssb' as kind, '' as scope, message_id as id, sequence as place
        from side.ssb_messages""",
        ("author",),
    ),
    "tangles": (_OF_TANGLE, ("tangle_name", "root_id")),
    "tangle_messages": (_OF_TANGLE, ("tangle_name", "root_id")),
    "tangle_messages.position": (_OF_TANGLE, ("tangle_name", "root_id")),
    "group_epochs": (
        """select group_id as k1, '' as k2, 'ssb' as kind, '' as scope, message_id as id, 0 as place
        from side.group_messages""",
        ("group_id",),
    ),
    "sets": (_OF_SET, ("set_id",)),
    "set_messages": (_OF_SET, ("set_id",)),
    "set_items.item_position": (_OF_SET, ("set_id",)),
    "timeline_stats": (_OF_TIMELINE, ("timeline_id",)),
    "timeline_events.position": (_OF_TIMELINE, ("timeline_id",)),
    "autobase_bases": (_OF_BASE, ("base_id",)),
    "autobase_views.position": (_OF_BASE, ("base_id",)),
    "autobase_views.is_confirmed": (_OF_BASE, ("base_id",)),
}
#: Table of inputs: the table of their rejects, with the columns of the scope and the id.
_REFUSED = {"autobase_nodes": ("autobase_rejects", "base_id", "node_id")}
_REFUSED |= {"timeline_events": ("timeline_rejects", "timeline_id", "event_id")}
#: Compared table of messages: their kind and id column. The message itself is the first candidate.
_OWN = {"tangle_messages": ("ssb", "message_id"), "set_messages": ("pzp", "message_id")}


def find_inputs(pair: Pair) -> None:
    """Keep the inputs that one replica lacks or judges differently in the table `differing`, for `add_causes`."""
    differing = ["select null::varchar as kind, null::varchar as scope, null::varchar as id, null as side where false"]
    for kind, table, scope, id_, verdict, where in _INPUTS:
        if all([pair.has(f"{whose}.{table}") for whose in "ab"]):
            columns = f"{scope} as scope, {id_} as id, {verdict} as verdict"
            differing.append(
                f"""select '{kind}', coalesce(a.scope, b.scope), coalesce(a.id, b.id),
                    case when b.id is null then 'only in A' when a.id is null then 'only in B'
                    else 'verified only in ' || if(a.verdict, 'A', 'B') end
                from (select {columns} from a.{table} where {where}) as a
                full join (select {columns} from b.{table} where {where}) as b on a.scope = b.scope and a.id = b.id
                where a.id is null or b.id is null or a.verdict is distinct from b.verdict"""
            )
    pair.keep("differing", " union all ".join(differing))


def add_causes(pair: Pair, answer: dict) -> None:
    """Add `cause` to each listed row of a comparison: the `id` and its `side`, if an input of the row differs.

    For an input that one replica lacks, the cause is the reason why that replica rejected it, if it did.
    """
    table = answer["table"]
    if table in _REFUSED:
        for side, other in (("only_a", "b"), ("only_b", "a")):
            _add_refusals(pair, answer[side]["first"], other, *_REFUSED[table])
    if table not in _SCOPES:
        return
    members, keys = _SCOPES[table]
    rows = [row for side in ("only_a", "only_b", "differ") for row in answer[side]["first"]]
    if not rows:
        return
    of_keys = [tuple(row[key] or "" for key in keys) for row in rows]
    found = {
        (each["k1"], each["k2"]): each["first"]
        for each in pair.rows(
            f"""with members as ({members.replace("side.", "a.")} union all {members.replace("side.", "b.")}),
            wanted as (select distinct unnest($k1) as k1, unnest($k2) as k2)
            select k1, k2, min_by(struct_pack(id := id, side := side), (place, id)) as first
            from members inner join wanted using (k1, k2) inner join differing using (kind, scope, id)
            group by k1, k2""",
            k1=[key[0] for key in of_keys],
            k2=[key[1] if len(key) > 1 else "" for key in of_keys],
        )
    }
    kind, column = _OWN.get(table, (None, None))
    own = (
        {
            each["id"]: each
            for each in pair.rows(
                "select id, side from differing where kind = $kind and id in (select unnest($ids))",
                kind=kind,
                ids=[row[column] for row in rows],
            )
        }
        if kind
        else {}
    )
    for row, key in zip(rows, of_keys, strict=True):
        row["cause"] = own.get(row[column] if column else None) or found.get((key[0], key[1] if len(key) > 1 else ""))


def _add_refusals(pair: Pair, rows: list[dict], other: str, table: str, scope: str, id_: str) -> None:
    reasons = {
        (each["scope"], each["id"]): each["reason"]
        for each in pair.rows(
            f"""select {scope} as scope, {id_} as id, min(reason) as reason from {other}.{table}
            where {id_} in (select unnest($ids)) group by {scope}, {id_}""",
            ids=[row[id_] for row in rows],
        )
    }
    for row in rows:
        reason = reasons.get((row[scope], row[id_]))
        row["cause"] = {"id": row[id_], "side": f"rejected in {other.upper()}: {reason}"} if reason else None
