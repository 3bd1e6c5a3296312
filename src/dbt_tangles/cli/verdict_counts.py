"""Counts the rows of each table by verdict, for `tangles status` and the report."""

from dbt_tangles import queries
from dbt_tangles.cli.duplicate_tangles import REPEATED
from dbt_tangles.cli.page import inflect
from dbt_tangles.cli.tables import Tables

#: Table: the name of its rows, which agrees with their number, and another table of its log. If both are empty, the log
#: is absent, and a count of 0 is not shown.
_COUNTED = {
    "ssb_messages": ("message{|s} of SSB", "ssb_rejects"),
    "ssb_rejects": ("rejected line{|s} of the SSB log", "ssb_messages"),
    "feeds": ("feed{|s}", "ssb_messages"),
    "feed_messages": ("message{|s} in their feeds", "ssb_messages"),
    "tangles": ("tangle{|s}", "ssb_messages"),
    "tangle_messages": ("message{|s} in tangles", "tangles"),
    "tangle_writer_faults": ("writer fault{|s} in tangles", "tangles"),
    "group_messages": ("message{|s} of private groups", "group_messages"),
    "group_findings": ("finding{|s} in private groups", "group_messages"),
    "pzp_messages": ("pzp message{|s}", "pzp_rejects"),
    "pzp_rejects": ("rejected line{|s} of the pzp log", "pzp_messages"),
    "sets": ("set{|s}", "pzp_messages"),
    "set_messages": ("message{|s} in sets", "pzp_messages"),
    "set_writer_faults": ("writer fault{|s} in sets", "sets"),
    "autobase_bases": ("base{|s}", "autobase_rejects"),
    "autobase_nodes": ("node{|s} of bases", "autobase_bases"),
    "autobase_rejects": ("rejected line{|s} of the autobase log", "autobase_bases"),
    "timeline_stats": ("timeline{|s}", "timeline_rejects"),
    "timeline_rejects": ("rejected line{|s} of the event log", "event_log"),
}


def count(tables: Tables, once: Tables | None = None) -> list[dict]:
    """Count the rows of each existing table by verdict, the most frequent verdict first.

    Args:
        tables: The warehouse's tables.
        once: The tables with each thread once, see `TablesOnce`.

    Returns:
        For each table: `what`, the name of its rows; their `total`; `counts` by verdict; `once`, the same two with
        each thread once; and `is_news`, true unless the table is empty because its log is absent.
    """
    answer = []
    for table, (words, _) in _COUNTED.items():
        if not tables.has(table):
            continue
        counts = _count(tables, table)
        without = _count(once, table) if once and table in REPEATED else counts
        answer.append(
            {
                "what": inflect(2, words),
                "table": table,
                "total": sum(counts.values()),
                "counts": counts,
                "once": {"total": sum(without.values()), "counts": without},
            }
        )
    held = {row["table"] for row in answer if row["total"]}
    if "timeline_rejects" in held or _has_events(tables):
        held.add("event_log")
    return [row | {"is_news": not held.isdisjoint((row["table"], _COUNTED[row["table"]][1]))} for row in answer]


def _count(tables: Tables, table: str) -> dict[str, int]:
    # A reject may stand for several equal lines; the reject of a file has a line_count of 0.
    return {row["verdict"]: row["n"] for row in tables.rows(queries.query(f"verdicts_of_{table}"))}


def _has_events(tables: Tables) -> bool:
    is_built = bool(tables.files("timeline_events"))
    return is_built and bool(tables.rows("select 1 from timeline_events where message_id is null limit 1"))


def verdict_of(table: str) -> str:
    """Return the SQL expression of the verdict on a row of a table; empty text for tables without verdicts."""
    return queries.verdict_of(table) if table in _COUNTED else "''"


def noun_of(table: str, n: int) -> str:
    """Return the name of a table's rows, in agreement with their number."""
    return inflect(n, _COUNTED[table][0])
