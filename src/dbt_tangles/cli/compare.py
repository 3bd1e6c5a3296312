"""Compares the rows of two replicas, table by table: rows of one replica only, and rows with different values."""

from typing import NamedTuple

from dbt_tangles.cli.page import inflect
from dbt_tangles.cli.tables import Pair


class Compared(NamedTuple):
    """A table to compare."""

    what: str  # The name of its rows; `{one|many}` agrees with their number
    table: str  # The table's name
    keys: tuple[str, ...]  # The columns that identify a row
    values: tuple[str, ...]  # The columns to compare; each is a function of the log
    is_input: bool = False  # Whether the rows are read from the log rather than derived from it
    where: str = "true"  # An SQL condition; only rows that meet it are compared


COMPARED = [
    Compared("message{|s} of SSB", "ssb_messages", ("message_id",), ("is_usable", "check_error"), True),
    Compared("pzp message{|s}", "pzp_messages", ("message_id",), ("is_usable", "reject_reason"), True),
    Compared("node{|s} of bases", "autobase_nodes", ("base_id", "node_id"), ("role", "is_head"), True),
    Compared("event{|s}", "timeline_events", ("timeline_id", "event_id"), ("position",), True, "message_id is null"),
    Compared("feed{|s}", "feeds", ("author",), ("verified_length", "max_sequence", "status", "latest_message_id")),
    Compared(
        "tangle{|s}",
        "tangles",
        ("tangle_name", "root_id"),
        ("member_count", "set_aside_count", "tips"),
        where="tangle_name <> 'ssb:feed'",
    ),
    Compared(
        "message{|s} in tangles",
        "tangle_messages",
        ("tangle_name", "root_id", "message_id"),
        ("is_member", "set_aside_reason", "depth"),
    ),
    Compared(
        "epoch{|s} of groups", "group_epochs", ("group_id", "epoch_id"), ("is_tip", "is_preferred", "added_count")
    ),
    Compared("set{|s}", "sets", ("set_id",), ("message_count", "items", "tips")),
    Compared("message{|s} in sets", "set_messages", ("set_id", "message_id"), ("is_valid", "is_held", "reject_reason")),
    Compared("timeline{|s}", "timeline_stats", ("timeline_id",), ("event_count", "publication")),
    Compared("base{|s}", "autobase_bases", ("base_id",), ("node_count", "confirmed_length", "status")),
]


def compare(pair: Pair, each: Compared, limit: int) -> dict | None:
    """Compare a table, if both replicas have it.

    Returns:
        For each of `only_a`, `only_b` and `differ`: `total`, the number of rows; `once`, the number if tangles of one
        root with the same difference count once; and `first`, the first rows.
    """
    if not all([pair.has(f"{whose}.{each.table}") for whose in "ab"]):
        return None
    keys = " and ".join(f"a.{key} is not distinct from b.{key}" for key in each.keys)
    first = each.keys[-1]
    there = [f"coalesce(a.{key}, b.{key}) as {key}" for key in each.keys]
    sides = [f"{whose}.{value} as {whose}__{value}" for value in each.values for whose in "ab"]
    differ = " or ".join(f"a.{value} is distinct from b.{value}" for value in each.values)
    # Tangles of one root are sorted next to each other, and count as one if their differences are equal.
    twin = {key: without_tangle_name(key) for key in each.keys if key != "tangle_name"}
    order = ", ".join(twin.values())
    said = ", ".join([order, *(f"{whose}__{value}" for value in each.values for whose in "ab")])
    # The last key is never null, so a null there marks a row without a partner.
    rows = pair.rows(
        f"""with joined as (
            select {", ".join([*there, *sides])},
                case when b.{first} is null then 'only_a' when a.{first} is null then 'only_b' else 'differ' end as side
            from (from a.{each.table} where {each.where}) as a
            full join (from b.{each.table} where {each.where}) as b on {keys}
            where a.{first} is null or b.{first} is null or {differ}
        )
        select *, dense_rank() over (partition by side order by {order}) as place,
            count(*) over (partition by side) as total, count(distinct hash({said})) over (partition by side) as once
        from joined qualify place <= {limit} order by side, place, {", ".join(each.keys)}"""
    )
    answer: dict = {"what": inflect(2, each.what), "table": each.table, "is_input": each.is_input}
    for side in ("only_a", "only_b", "differ"):
        of_side = [row for row in rows if row["side"] == side]
        total, once = (of_side[0]["total"], of_side[0]["once"]) if of_side else (0, 0)
        answer[side] = {"total": total, "once": once, "first": [_shown(each, row, side) for row in of_side]}
    return answer


def without_tangle_name(column: str) -> str:
    """Write an SQL expression for a key without the tangle's name, so that tangles of one root share its value."""
    return "regexp_replace(timeline_id, '^(ssb:)?[^:]*:%', '%')" if column == "timeline_id" else column


def _shown(each: Compared, row: dict, side: str) -> dict:
    shown = {key: row[key] for key in each.keys}
    if side != "differ":
        return shown
    pairs = {value: [row[f"a__{value}"], row[f"b__{value}"]] for value in each.values}
    return shown | {"values": {value: both for value, both in pairs.items() if both[0] != both[1]}}
