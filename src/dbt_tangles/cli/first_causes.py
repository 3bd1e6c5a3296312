"""Finds the first cause of each difference between replicas: a message that one lacks, or judges differently."""

from pathlib import Path

from dbt_tangles.cli.compare import COMPARED, Compared
from dbt_tangles.cli.tables import Pair
from dbt_tangles.queries import sections

_SQL = sections(Path(__file__).with_name("first_causes.sql"))
#: Table of inputs: the table of their rejects.
_REJECTS = {"autobase_nodes": "autobase_rejects", "timeline_events": "timeline_rejects"}
#: Compared table of messages: their table of inputs. The message itself is the first candidate.
_OWN = {"tangle_messages": "ssb_messages", "set_messages": "pzp_messages"}


def find_inputs(pair: Pair) -> None:
    """Keep the inputs that one replica lacks or judges differently in the table `differing`, for `add_causes`.

    An input is a message, or the node or event `id` of the `whole` base or timeline.
    """
    differing = ["select null::varchar as input, null::varchar as whole, null::varchar as id, null as side where false"]
    for each in COMPARED:
        if not each.members and all([pair.has(f"{whose}.{each.table}") for whose in "ab"]):
            whole = each.keys[0] if len(each.keys) > 1 else "''"
            verdict = "is_usable" if "is_usable" in each.values else "true"
            columns = f"{whole} as whole, {each.keys[-1]} as id, {verdict} as verdict"
            differing.append(
                f"""select '{each.table}', whole, id, case when b.verdict is null then 'only in A'
                    when a.verdict is null then 'only in B' else 'verified only in ' || if(a.verdict, 'A', 'B') end
                from (select {columns} from a.{each.table} where {each.where}) as a
                full join (select {columns} from b.{each.table} where {each.where}) as b using (whole, id)
                where a.verdict is distinct from b.verdict"""
            )
    pair.keep("differing", " union all ".join(differing))


def add_causes(pair: Pair, each: Compared, answer: dict) -> None:
    """Add `cause` to each listed row of a comparison: the `id` and its `side`, if an input of the row differs.

    For an input that one replica lacks, the cause is the reason why that replica rejected it, if it did.
    """
    if each.table in _REJECTS and not each.members:
        for side, other in (("only_a", "b"), ("only_b", "a")):
            _add_refusals(pair, answer[side]["first"], other, _REJECTS[each.table], *each.keys)
    rows = [row for side in ("only_a", "only_b", "differ") for row in answer[side]["first"]]
    if not each.members or not rows:
        return
    members = _SQL[each.members]
    scope = each.keys[: 2 if each.members == "tangle" else 1]
    own = None if each.place else _OWN.get(each.table)
    found = {
        row["n"]: row["cause"]
        for row in pair.rows(
            f"""with members as ({members.replace("side.", "a.")} union all {members.replace("side.", "b.")}),
            wanted as (select unnest($numbers) as n, unnest($scopes) as scope, unnest($own_ids::varchar[]) as own_id),
            candidates as (
                select n, input, whole, id, place from members inner join wanted using (scope)
                union all select n, $own, '', own_id, -3 from wanted
            )
            select n, min_by(struct_pack(id := id, side := side), (place, id)) as cause
            from candidates inner join differing using (input, whole, id) group by n""",
            numbers=[*range(len(rows))],
            scopes=[":".join(row[key] or "" for key in scope) for row in rows],
            own_ids=[row[each.keys[-1]] if own else None for row in rows],
            own=own,
        )
    }
    for n, row in enumerate(rows):
        row["cause"] = found.get(n)


def _add_refusals(pair: Pair, rows: list[dict], other: str, table: str, whole: str, id_: str) -> None:
    reasons = {
        (each["whole"], each["id"]): each["reason"]
        for each in pair.rows(
            f"""select {whole} as whole, {id_} as id, min(reason) as reason from {other}.{table}
            where {id_} in (select unnest($ids)) group by {whole}, {id_}""",
            ids=[row[id_] for row in rows],
        )
    }
    for row in rows:
        reason = reasons.get((row[whole], row[id_]))
        row["cause"] = {"id": row[id_], "side": f"rejected in {other.upper()}: {reason}"} if reason else None
