"""Counts the rows of each table by verdict, for `tangles status` and the report."""

from collections.abc import Sequence
from typing import NamedTuple

from dbt_tangles import queries
from dbt_tangles.cli.page import inflect
from dbt_tangles.cli.tables import Tables


class Counted(NamedTuple):
    """A table of which `count` counts the rows.

    Attributes:
        words: The name of the rows; `{one|many}` agrees with their number.
        table: The table.
        of: Tables of the same log. If they and this table are empty, the log is absent and a count of 0 is not shown.
        is_named: Whether a row belongs to one named tangle, so that duplicate tangles have each row twice.
    """

    words: str
    table: str
    of: tuple[str, ...] = ()
    is_named: bool = False


_COUNTED = [
    Counted("message{|s} of SSB", "ssb_messages", ("ssb_rejects",)),
    Counted("rejected line{|s} of the SSB log", "ssb_rejects", ("ssb_messages",)),
    Counted("feed{|s}", "feeds", ("ssb_messages",)),
    Counted("message{|s} in their feeds", "feed_messages", ("ssb_messages",)),
    Counted("tangle{|s}", "tangles", ("ssb_messages",), True),
    Counted("message{|s} in tangles", "tangle_messages", ("tangles",), True),
    Counted("writer fault{|s} in tangles", "tangle_writer_faults", ("tangles",), True),
    Counted("message{|s} of private groups", "group_messages"),
    Counted("finding{|s} in private groups", "group_findings", ("group_messages",)),
    Counted("pzp message{|s}", "pzp_messages", ("pzp_rejects",)),
    Counted("rejected line{|s} of the pzp log", "pzp_rejects", ("pzp_messages",)),
    Counted("set{|s}", "sets", ("pzp_messages",)),
    Counted("message{|s} in sets", "set_messages", ("pzp_messages",)),
    Counted("writer fault{|s} in sets", "set_writer_faults", ("sets",)),
    Counted("base{|s}", "autobase_bases", ("autobase_rejects",)),
    Counted("node{|s} of bases", "autobase_nodes", ("autobase_bases",)),
    Counted("rejected line{|s} of the autobase log", "autobase_rejects", ("autobase_bases",)),
    Counted("timeline{|s}", "timeline_stats", ("timeline_rejects",)),
    Counted("rejected line{|s} of the event log", "timeline_rejects", ("event_log",)),
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
        # A reject may stand for several equal lines; the reject of a file has a line_count of 0.
        rows = tables.rows(queries.query(f"verdicts_of_{each.table}"))
        counts = {row["verdict"]: row["n"] for row in rows}
        without = _count_once(tables, each.table, repeated) if repeated and each.is_named else counts
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
    return queries.verdict_of(table) if any(each.table == table for each in _COUNTED) else "''"


def noun_of(table: str, n: int) -> str:
    """Return the name of a table's rows, in agreement with their number."""
    (words,) = (each.words for each in _COUNTED if each.table == table)
    return inflect(n, words)


def _count_once(tables: Tables, table: str, repeated: Sequence[tuple[str, str]]) -> dict[str, int]:
    names, roots = map(list, zip(*repeated, strict=True))
    rows = tables.rows(
        f"""select {verdict_of(table)} as verdict, count(*) as n from {{{table}}}
        where struct_pack(a := tangle_name, b := root_id) not in (
            select struct_pack(a := unnest($names), b := unnest($roots)))
        group by verdict order by n desc, verdict""",
        names=names,
        roots=roots,
    )
    return {row["verdict"]: row["n"] for row in rows}
