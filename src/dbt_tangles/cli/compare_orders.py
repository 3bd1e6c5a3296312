"""Compares the orders of two replicas: the first place at which they differ, and their settled prefixes."""

from typing import NamedTuple

from dbt_tangles.cli.compare import without_tangle_name
from dbt_tangles.cli.page import inflect
from dbt_tangles.cli.tables import Pair


class Order(NamedTuple):
    """Orders to compare, of the subjects that both replicas have."""

    what: str  # Their name; `{one|many}` agrees with their number
    table: str  # The table
    scope: tuple[str, ...]  # The columns that identify an order
    place: str  # The column of the places
    id: str  # The column of the ids in that order
    where: str = "true"  # An SQL condition; only rows that meet it are in the order


ORDERS = [
    Order("order{|s} of tangles", "tangle_messages", ("tangle_name", "root_id"), "position", "message_id", "is_member"),
    Order("order{|s} of items", "set_items", ("set_id",), "item_position", "item"),
    Order("order{|s} of timelines", "timeline_events", ("timeline_id",), "position", "event_id"),
    Order("order{|s} of bases", "autobase_views", ("base_id", "observer"), "position", "node_id"),
]
#: A settled prefix never changes again, so replicas with different settled prefixes never agree.
SETTLED = Order(
    "confirmed prefix{|es}", "autobase_views", ("base_id", "observer"), "position", "node_id", "is_confirmed"
)


def compare_order(pair: Pair, each: Order, limit: int) -> dict | None:
    """Compare orders, if both replicas have the table.

    Returns:
        The keys of `compare.compare`; `differ` lists the orders, with both ids at the first place that differs.
    """
    if not all([pair.has(f"{whose}.{each.table}") for whose in "ab"]):
        return None
    scope = ", ".join(each.scope)
    # As in `compare.compare`.
    twin = ", ".join(without_tangle_name(column) for column in each.scope if column != "tangle_name")
    order = f"parting is null, {twin}" if each is SETTLED else twin
    is_settled = each is SETTLED
    # A shorter settled prefix does not contradict a longer one. An order may have no settled rows.
    parts = "a.id <> b.id" if is_settled else "a.id is distinct from b.id"
    sides = [
        f"""{side} as (
            select {scope}, {each.place} as place, {each.id} as id from {side}.{each.table} where {each.where}
        ),
        lengths_{side} as (
            select {scope}, count(*) filter (where {each.where}) as n from {side}.{each.table} group by {scope}
        )"""
        for side in "ab"
    ]
    rows = pair.rows(
        f"""with {", ".join(sides)},
        parted as (
            select {scope}, min_by(struct_pack(place := place, a := a.id, b := b.id), place) as parting
            from a full join b using ({scope}, place) where {parts} group by {scope}
        )
        select {scope}, parting, lengths_a.n as n_a, lengths_b.n as n_b, count(*) over () as total,
            count(distinct hash({twin}, parting, n_a, n_b)) over () as once
        from lengths_a inner join lengths_b using ({scope}) left join parted using ({scope})
        where parting is not null {"or lengths_a.n <> lengths_b.n" if is_settled else ""}
        qualify dense_rank() over (order by {order}) <= {limit} order by {order}, {scope}"""
    )
    first = [{name: row[name] for name in each.scope} | {"values": _values(row, is_settled)} for row in rows]
    nothing = {"total": 0, "once": 0, "first": []}
    total, once = (rows[0]["total"], rows[0]["once"]) if rows else (0, 0)
    differ = {"total": total, "once": once, "first": first}
    table = f"{each.table}.{'is_confirmed' if is_settled else each.place}"
    return {
        "what": inflect(2, each.what),
        "table": table,
        "is_input": False,
        "only_a": nothing,
        "only_b": nothing,
        "differ": differ,
    }


def _values(row: dict, is_settled: bool) -> dict[str, list]:
    """Return the values of both: the numbers of settled rows, and the ids at the first place that differs."""
    values = {"settled": [row["n_a"], row["n_b"]]} if is_settled and row["n_a"] != row["n_b"] else {}
    at = row["parting"]
    if at:
        values[f"{'settled ' if is_settled else ''}place {at['place']}"] = [at["a"], at["b"]]
    return values
