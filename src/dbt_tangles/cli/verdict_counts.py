"""Counts the rows of each table by verdict, for `tangles status` and the report."""

import csv
from pathlib import Path

from dbt_tangles import queries
from dbt_tangles.cli.duplicate_tangles import REPEATED
from dbt_tangles.cli.page import inflect
from dbt_tangles.cli.tables import Tables

#: Table: `words`, the name of its rows, which agrees with their number, and `beside`, another table of its log. If both
#: are empty, the log is absent, and a count of 0 is not shown.
with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as _file:
    _COUNTED = {row["table"]: row for row in csv.DictReader(_file)}


def count(tables: Tables, once: Tables | None = None) -> list[dict]:
    """Count the rows of each existing table by verdict, the most frequent verdict first.

    Returns:
        For each table: `what`, the name of its rows; their `total`; `counts` by verdict; `once`, the same two of the
        tables `once`; and `is_news`, true unless the table is empty because its log is absent.
    """
    answer = []
    for table in _COUNTED:
        if not tables.has(table):
            continue
        counts = _count(tables, table)
        without = _count(once, table) if once and table in REPEATED else counts
        answer.append(
            {
                "what": noun_of(table, 2),
                "table": table,
                "total": sum(counts.values()),
                "counts": counts,
                "once": {"total": sum(without.values()), "counts": without},
            }
        )
    held = {row["table"] for row in answer if row["total"]}
    events = "select 1 from timeline_events where message_id is null limit 1"
    if "timeline_rejects" in held or (tables.files("timeline_events") and tables.rows(events)):
        held.add("event_log")
    return [row | {"is_news": not held.isdisjoint((row["table"], _COUNTED[row["table"]]["beside"]))} for row in answer]


def _count(tables: Tables, table: str) -> dict[str, int]:
    # A reject may stand for several equal lines; the reject of a file has a line_count of 0.
    return {row["verdict"]: row["n"] for row in tables.rows(queries.query(f"verdicts_of_{table}"))}


def noun_of(table: str, n: int) -> str:
    """Return the name of a table's rows, in agreement with their number."""
    return inflect(n, _COUNTED[table]["words"])
