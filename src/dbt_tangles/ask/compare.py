"""What two replicas have that the other lacks, and of what both have, what they say otherwise."""

from __future__ import annotations

from typing import NamedTuple

from dbt_tangles.ask.tables import Pair


class Compared(NamedTuple):
    """A table that is compared.

    Attributes:
        what: Its rows, in words.
        table: Its name.
        keys: Columns that say what a row is of.
        values: Columns in which the two may differ; all follow from the log.
        is_input: Whether its rows are what a log has, and not what follows from that.
        where: Which of its rows count.
    """

    what: str
    table: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    is_input: bool = False
    where: str = "true"


COMPARED = [
    Compared("messages of SSB", "ssb_messages", ("message_id",), ("is_usable", "check_error"), True),
    Compared("pzp messages", "pzp_messages", ("message_id",), ("is_usable", "reject_reason"), True),
    Compared("nodes of bases", "autobase_nodes", ("base_id", "node_id"), ("role", "is_head"), True),
    Compared("events", "timeline_events", ("timeline_id", "event_id"), ("position",), True, "message_id is null"),
    Compared("feeds", "feeds", ("author",), ("verified_length", "max_sequence", "status", "latest_message_id")),
    Compared(
        "tangles",
        "tangles",
        ("tangle_name", "root_id"),
        ("member_count", "set_aside_count", "tips"),
        where="tangle_name <> 'feed'",
    ),
    Compared(
        "messages in tangles",
        "tangle_messages",
        ("tangle_name", "root_id", "message_id"),
        ("is_member", "set_aside_reason", "depth"),
    ),
    Compared("epochs of groups", "group_epochs", ("group_id", "epoch_id"), ("is_tip", "is_preferred", "added_count")),
    Compared("sets", "sets", ("set_id",), ("message_count", "items", "tips")),
    Compared("messages in sets", "set_messages", ("set_id", "message_id"), ("is_valid", "is_held", "reject_reason")),
    Compared("timelines", "timeline_stats", ("timeline_id",), ("event_count", "publication")),
    Compared("bases", "autobase_bases", ("base_id",), ("node_count", "confirmed_length", "status")),
]


def compare(pair: Pair, each: Compared, limit: int) -> dict | None:
    """Compare a table of both; None where one of them has none.

    Returns:
        For `only_a`, `only_b` and `differ` how many rows there are, and the first of them.
    """
    if not all([pair.has(f"a__{each.table}"), pair.has(f"b__{each.table}")]):
        return None
    keys = " and ".join(f"a.{key} is not distinct from b.{key}" for key in each.keys)
    first = each.keys[-1]
    there = [f"coalesce(a.{key}, b.{key}) as {key}" for key in each.keys]
    sides = [f"{whose}.{value} as {whose}__{value}" for value in each.values for whose in "ab"]
    differ = " or ".join(f"a.{value} is distinct from b.{value}" for value in each.values)
    order = ", ".join(each.keys)
    # The last key is never null, so its absence says that a row has no other.
    rows = pair.rows(
        f"""with joined as (
            select {", ".join([*there, *sides])},
                case when b.{first} is null then 'only_a' when a.{first} is null then 'only_b' else 'differ' end as side
            from (from {{a__{each.table}}} where {each.where}) as a
            full join (from {{b__{each.table}}} where {each.where}) as b on {keys}
            where a.{first} is null or b.{first} is null or {differ}
        )
        select *, row_number() over (partition by side order by {order}) as place,
            count(*) over (partition by side) as total
        from joined qualify place <= {limit} order by side, place"""
    )
    answer: dict = {"what": each.what, "table": each.table, "is_input": each.is_input}
    for side in ("only_a", "only_b", "differ"):
        of_side = [row for row in rows if row["side"] == side]
        total = of_side[0]["total"] if of_side else 0
        answer[side] = {"total": total, "first": [_shown(each, row, side) for row in of_side]}
    return answer


def _shown(each: Compared, row: dict, side: str) -> dict:
    shown = {key: row[key] for key in each.keys}
    if side != "differ":
        return shown
    pairs = {value: [row[f"a__{value}"], row[f"b__{value}"]] for value in each.values}
    return shown | {"values": {value: both for value, both in pairs.items() if both[0] != both[1]}}
