"""Counts the rows of each table by verdict, for `tangles status` and the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dbt_tangles.cli.page import inflect
from dbt_tangles.cli.tables import Tables


class Counted(NamedTuple):
    """A table of which `count` counts the rows.

    Attributes:
        words: The name of the rows; `{one|many}` agrees with their number.
        table: The table.
        verdict: The SQL expression to group by.
        of: Tables of the same log. If they and this table are empty, the log is absent and a count of 0 is not shown.
        is_named: Whether a row belongs to one named tangle, so that duplicate tangles have each row twice.
    """

    words: str
    table: str
    verdict: str
    of: tuple[str, ...] = ()
    is_named: bool = False


_COUNTED = [
    Counted("message{|s} of SSB", "ssb_messages", "coalesce(check_error, 'usable')", ("ssb_rejects",)),
    Counted("rejected line{|s} of the SSB log", "ssb_rejects", "reason", ("ssb_messages",)),
    Counted("feed{|s}", "feeds", "status", ("ssb_messages",)),
    Counted("message{|s} in their feeds", "feed_messages", "coalesce(reason, 'in_chain')", ("ssb_messages",)),
    Counted(
        "tangle{|s}",
        "tangles",
        "case when tangle_name = 'feed' then 'feed' else root_status end",
        ("ssb_messages",),
        True,
    ),
    Counted("message{|s} in tangles", "tangle_messages", "coalesce(set_aside_reason, 'member')", ("tangles",), True),
    Counted("writer fault{|s} in tangles", "tangle_writer_faults", "fault", ("tangles",), True),
    Counted("message{|s} of private groups", "group_messages", "coalesce(set_aside_reason, 'counted')"),
    Counted("finding{|s} in private groups", "group_findings", "finding", ("group_messages",)),
    Counted("pzp message{|s}", "pzp_messages", "coalesce(reject_reason, 'usable')", ("pzp_rejects",)),
    Counted("rejected line{|s} of the pzp log", "pzp_rejects", "reason", ("pzp_messages",)),
    Counted("set{|s}", "sets", "root_status", ("pzp_messages",)),
    Counted(
        "message{|s} in sets",
        "set_messages",
        "case when is_valid then 'valid' when is_held then 'held' else reject_reason end",
        ("pzp_messages",),
    ),
    Counted("writer fault{|s} in sets", "set_writer_faults", "rule", ("sets",)),
    Counted("base{|s}", "autobase_bases", "status", ("autobase_rejects",)),
    Counted("node{|s} of bases", "autobase_nodes", "role", ("autobase_bases",)),
    Counted("rejected line{|s} of the autobase log", "autobase_rejects", "reason", ("autobase_bases",)),
    Counted(
        "timeline{|s}",
        "timeline_stats",
        """case when timeline_id = 'ssb:log' then 'whole log' when edit_count = 0 then 'without edits'
        else 'with edits' end""",
        ("timeline_rejects",),
    ),
    Counted("rejected line{|s} of the event log", "timeline_rejects", "reason", ("event_log",)),
]


def count(tables: Tables, repeated: Sequence[tuple[str, str]] = ()) -> list[dict]:
    """Count the rows of each existing table by verdict, the most frequent verdict first.

    Args:
        tables: The warehouse's tables.
        repeated: Names and roots of duplicate tangles.

    Returns:
        For each table: `what`, the name of its rows; their `total`; `counts` by verdict; `once`, the same two without
        the duplicate tangles; and `is_news`, true unless the table is empty because its log is absent.
    """
    answer = []
    for each in _COUNTED:
        if not tables.has(each.table):
            continue
        counts = _count(tables, each)
        without = _count(tables, each, repeated) if repeated and each.is_named else counts
        answer.append(
            {
                "what": inflect(2, each.words),
                "table": each.table,
                "total": sum(counts.values()),
                "counts": counts,
                "once": {"total": sum(without.values()), "counts": without},
            }
        )
    held = {row["table"] for row in answer if row["total"]}
    if "timeline_rejects" in held or _has_events(tables):
        held.add("event_log")
    of = {each.table: {each.table, *each.of} for each in _COUNTED}
    return [row | {"is_news": not held.isdisjoint(of[row["table"]])} for row in answer]


def _has_events(tables: Tables) -> bool:
    is_built = bool(tables.files("timeline_events"))
    return is_built and bool(tables.rows("select 1 from {timeline_events} where message_id is null limit 1"))


def verdict_of(table: str) -> str:
    """Return the SQL expression of the verdict on a row of a table; empty text for tables without verdicts."""
    return next((each.verdict for each in _COUNTED if each.table == table), "''")


def noun_of(table: str, n: int) -> str:
    """Return the name of a table's rows, in agreement with their number."""
    (words,) = (each.words for each in _COUNTED if each.table == table)
    return inflect(n, words)


def _count(tables: Tables, each: Counted, without: Sequence[tuple[str, str]] = ()) -> dict[str, int]:
    where, values = "true", {}
    if without:
        where = """struct_pack(a := tangle_name, b := root_id) not in (
            select struct_pack(a := unnest($names), b := unnest($roots)))"""
        values = dict(zip(("names", "roots"), map(list, zip(*without, strict=True)), strict=True))
    # A reject may stand for several equal lines; the reject of a file has a line_count of 0.
    number = "sum(greatest(line_count, 1))::bigint" if each.table.endswith("_rejects") else "count(*)"
    rows = tables.rows(
        f"""select {each.verdict} as verdict, {number} as n from {{{each.table}}} where {where}
        group by verdict order by n desc, verdict""",
        **values,
    )
    return {row["verdict"]: row["n"] for row in rows}
