"""Finds the first cause of each difference between replicas: a message that one lacks, or judges differently."""

from pathlib import Path

from dbt_tangles.cli.tables import Pair
from dbt_tangles.queries import sections

_SQL = sections(Path(__file__).with_name("first_causes.sql"))

#: The inputs, which may be causes: kind, table, scope, id, verdict, and a condition on the rows.
_INPUTS = [
    ("ssb", "ssb_messages", "''", "message_id", "is_usable", "true"),
    ("pzp", "pzp_messages", "''", "message_id", "is_usable", "true"),
    ("node", "autobase_nodes", "base_id", "node_id", "true", "true"),
    ("event", "timeline_events", "timeline_id", "event_id", "true", "message_id is null"),
]
_TANGLE, _SET, _BASE = ("tangle_name", "root_id"), ("set_id",), ("base_id",)
#: Compared table: the section of first_causes.sql with the inputs of its rows, and the columns that join the two.
_SCOPES = {
    "feeds": ("feed", ("author",)),
    "tangles": ("tangle", _TANGLE),
    "tangle_messages": ("tangle", _TANGLE),
    "tangle_messages.position": ("tangle", _TANGLE),
    "group_epochs": ("group", ("group_id",)),
    "sets": ("set", _SET),
    "set_messages": ("set", _SET),
    "set_items.item_position": ("set", _SET),
    "timeline_stats": ("timeline", ("timeline_id",)),
    "timeline_events.position": ("timeline", ("timeline_id",)),
    "autobase_bases": ("base", _BASE),
    "autobase_views.position": ("base", _BASE),
    "autobase_views.is_confirmed": ("base", _BASE),
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
    section, keys = _SCOPES[table]
    members = _SQL[section]
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
