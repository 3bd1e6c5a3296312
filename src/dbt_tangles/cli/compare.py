"""Compares the rows and the orders of two replicas, and finds the first cause of each difference.

A cause is a message that one replica lacks, or judges differently.
"""

from pathlib import Path
from typing import NamedTuple

import yaml

from dbt_tangles.cli.page import inflect
from dbt_tangles.cli.tables import Pair
from dbt_tangles.queries import sections

_MEMBERS = sections(__file__, "first_causes")
#: Table of inputs: the table of their rejects.
_REJECTS = {"autobase_nodes": "autobase_rejects", "timeline_events": "timeline_rejects"}
#: Compared table of messages: their table of inputs. The message itself is the first candidate.
_OWN = {"tangle_messages": "ssb_messages", "set_messages": "pzp_messages"}
#: Key with a tangle's name: the expression without it, of which tangles on one root share the value.
_SAME_ROOT = {"timeline_id": "regexp_replace(timeline_id, '^(ssb:)?[^:]*:%', '%')"}


class Compared(NamedTuple):
    """Rows to compare, or orders: the lists of ids that have a scope in common."""

    what: str  # Their name; `{one|many}` agrees with their number
    table: str  # The table's name
    keys: list[str]  # The columns that identify a row or an order
    values: list[str]  # The columns to compare, each a function of the log; for an order its ids
    members: str = ""  # The section of first_causes.sql with the inputs of a row; empty for the inputs themselves
    where: str = "true"  # An SQL condition; only rows that meet it are compared, or are in an order
    place: str = ""  # The column of the places in an order; empty for rows
    is_settled: bool = False  # Whether an order is one that never changes again

    @property
    def name(self) -> str:
        """The table; for orders also the column of the places, or of the settled rows."""
        return f"{self.table}.{self.where if self.is_settled else self.place}" if self.place else self.table


_LISTED = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"))
COMPARED = [Compared(**each) for each in _LISTED]


def compare(pair: Pair, each: Compared, limit: int) -> dict | None:
    """Compare rows or orders, if both replicas have the table.

    Returns:
        For each of `only_a`, `only_b` and `differ`: `total`, the number of rows; `once`, the number if tangles of one
        root with the same difference count once; and `first`, the first rows. Orders that both have are in `differ`,
        with both ids at the first place that differs.
    """
    if not all([pair.has(f"{whose}.{each.table}") for whose in "ab"]):
        return None
    sides = [_select(each, whose) for whose in "ab"]
    values = ("ids",) if each.place else each.values
    # Tangles of one root are sorted next to each other, and count as one if their differences are equal.
    twin = ", ".join(_SAME_ROOT.get(key, key) for key in each.keys if key != "tangle_name")
    order = f"shown.place is null, {twin}" if each.is_settled else twin
    rows = pair.rows(
        f"""with joined as (
            select {", ".join(f"coalesce(a.{key}, b.{key}) as {key}" for key in each.keys)}, {_shown(each)} as shown,
                if(b.is_there is null, 'only_a', if(a.is_there is null, 'only_b', 'differ')) as side
            from ({sides[0]}) as a {"inner" if each.place else "full"} join ({sides[1]}) as b
            on {" and ".join(f"a.{key} is not distinct from b.{key}" for key in each.keys)}
            where a.is_there is null or b.is_there is null
                or {" or ".join(f"a.{value} is distinct from b.{value}" for value in values)}
        )
        select *, dense_rank() over (partition by side order by {order}) as nth,
            count(*) over one_side as total, count(distinct hash({twin}, shown)) over one_side as once
        from joined window one_side as (partition by side)
        qualify nth <= {limit} order by side, nth, {", ".join(each.keys)}"""
    )
    answer: dict = {"what": inflect(2, each.what), "table": each.name, "is_input": not each.members}
    for side in ("only_a", "only_b", "differ"):
        found = [row for row in rows if row["side"] == side]
        first = [{key: row[key] for key in each.keys} for row in found]
        if side == "differ":
            first = [row | {"values": _values(each, whole["shown"])} for row, whole in zip(first, found, strict=True)]
        total, once = (found[0]["total"], found[0]["once"]) if found else (0, 0)
        answer[side] = {"total": total, "once": once, "first": first}
    return answer


def _select(each: Compared, whose: str) -> str:
    """Write the query of the rows of one replica, or of its orders with their `ids`."""
    if not each.place:
        return f"select *, true as is_there from {whose}.{each.table} where {each.where}"
    ids = f"list({each.values[0]} order by {each.place}) filter (where {each.where})"
    keys = ", ".join(each.keys)
    return f"select {keys}, coalesce({ids}, []) as ids, true as is_there from {whose}.{each.table} group by {keys}"


def _shown(each: Compared) -> str:
    """Write the struct of both values of each column, or of both lengths and the ids at the first place that differs.

    A shorter settled prefix does not contradict a longer one.
    """
    if not each.place:
        return f"struct_pack({', '.join(f'{value} := [a.{value}, b.{value}]' for value in each.values)})"
    pairs = f"list_zip(a.ids, b.ids, {str(each.is_settled).lower()})"
    place = f"list_position([pair[1] is distinct from pair[2] for pair in {pairs}], true)"
    return (
        f"struct_pack(lengths := [len(a.ids), len(b.ids)], place := {place}, ids := [a.ids[{place}], b.ids[{place}]])"
    )


def _values(each: Compared, shown: dict) -> dict[str, list]:
    if not each.place:
        return {value: both for value, both in shown.items() if both[0] != both[1]}
    is_longer = each.is_settled and shown["lengths"][0] != shown["lengths"][1]
    values = {"settled": shown["lengths"]} if is_longer else {}
    if shown["place"]:
        values[f"{'settled ' if each.is_settled else ''}place {shown['place'] - 1}"] = shown["ids"]
    return values


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
    members = _MEMBERS[each.members]
    scope = each.keys[: 2 if each.members == "tangle" else 1]
    own = None if each.place else _OWN.get(each.table)
    sql = f"""with members as ({members.replace("side.", "a.")} union all {members.replace("side.", "b.")}),
        wanted as (select unnest($numbers) as n, unnest($scopes) as scope, unnest($own_ids::varchar[]) as own_id),
        candidates as (
            select n, input, whole, id, place from members inner join wanted using (scope)
            union all select n, $own, '', own_id, -3 from wanted
        )
        select n, min_by(struct_pack(id := id, side := side), (place, id)) as cause
        from candidates inner join differing using (input, whole, id) group by n"""
    numbers, scopes = [*range(len(rows))], [":".join(row[key] or "" for key in scope) for row in rows]
    own_ids = [row[each.keys[-1]] if own else None for row in rows]
    causes = pair.rows(sql, numbers=numbers, scopes=scopes, own_ids=own_ids, own=own)
    found = {row["n"]: row["cause"] for row in causes}
    for n, row in enumerate(rows):
        row["cause"] = found.get(n)


def _add_refusals(pair: Pair, rows: list[dict], other: str, table: str, whole: str, id_: str) -> None:
    sql = f"""select {whole} as whole, {id_} as id, min(reason) as reason from {other}.{table}
        where {id_} in (select unnest($ids)) group by {whole}, {id_}"""
    rejected = pair.rows(sql, ids=[row[id_] for row in rows])
    reasons = {(each["whole"], each["id"]): each["reason"] for each in rejected}
    for row in rows:
        reason = reasons.get((row[whole], row[id_]))
        row["cause"] = {"id": row[id_], "side": f"rejected in {other.upper()}: {reason}"} if reason else None
