"""Where the orders of two replicas part, and what each has settled."""

from __future__ import annotations

from typing import NamedTuple

from dbt_tangles.ask.tables import Pair


class Order(NamedTuple):
    """Orders that are compared, of whatever both have.

    Attributes:
        what: What they are, in words.
        table: The table.
        scope: Columns that say of what an order is.
        place: The column of the places.
        id: That of what stands there.
        where: Which rows are in it.
    """

    what: str
    table: str
    scope: tuple[str, ...]
    place: str
    id: str
    where: str = "true"


ORDERS = [
    Order("orders of tangles", "tangle_messages", ("tangle_name", "root_id"), "position", "message_id", "is_member"),
    Order("orders of items", "set_items", ("set_id",), "item_position", "item"),
    Order("orders of timelines", "timeline_events", ("timeline_id",), "position", "event_id"),
    Order("orders of bases", "autobase_views", ("base_id", "observer"), "position", "node_id"),
]
#: What is settled never changes again, so replicas that have settled different things cannot come together.
SETTLED = Order("confirmed prefixes", "autobase_views", ("base_id", "observer"), "position", "node_id", "is_confirmed")


def compare_order(pair: Pair, each: Order, limit: int) -> dict | None:
    """Compare orders; None where one of the two has no such table.

    Returns:
        As `compare.compare`: under `differ` the orders that part, with what stands at the first place where they do.
    """
    if not all([pair.has(f"a__{each.table}"), pair.has(f"b__{each.table}")]):
        return None
    scope = ", ".join(each.scope)
    is_settled = each is SETTLED
    # A shorter prefix is no other one. Without rows of what is settled, an order is there nevertheless.
    parts = "a.id <> b.id" if is_settled else "a.id is distinct from b.id"
    sides = [
        f"""{side} as (
            select {scope}, {each.place} as place, {each.id} as id from {{{side}__{each.table}}} where {each.where}
        ),
        lengths_{side} as (
            select {scope}, count(*) filter (where {each.where}) as n from {{{side}__{each.table}}} group by {scope}
        )"""
        for side in "ab"
    ]
    rows = pair.rows(
        f"""with {", ".join(sides)},
        parted as (
            select {scope}, min_by(struct_pack(place := place, a := a.id, b := b.id), place) as parting
            from a full join b using ({scope}, place) where {parts} group by {scope}
        )
        select {scope}, parting, lengths_a.n as n_a, lengths_b.n as n_b, count(*) over () as total
        from lengths_a inner join lengths_b using ({scope}) left join parted using ({scope})
        where parting is not null {"or lengths_a.n <> lengths_b.n" if is_settled else ""}
        order by {"parting is null, " if is_settled else ""}{scope} limit {limit}"""
    )
    first = [{name: row[name] for name in each.scope} | {"values": _values(row, is_settled)} for row in rows]
    nothing = {"total": 0, "first": []}
    differ = {"total": rows[0]["total"] if rows else 0, "first": first}
    table = f"{each.table}.{'is_confirmed' if is_settled else each.place}"
    return {
        "what": each.what,
        "table": table,
        "is_input": False,
        "only_a": nothing,
        "only_b": nothing,
        "differ": differ,
    }


def _values(row: dict, is_settled: bool) -> dict[str, list]:
    """Say what both have: how much is settled, and what stands where the orders part."""
    values = {"settled": [row["n_a"], row["n_b"]]} if is_settled and row["n_a"] != row["n_b"] else {}
    at = row["parting"]
    if at:
        values[f"{'settled ' if is_settled else ''}place {at['place']}"] = [at["a"], at["b"]]
    return values
