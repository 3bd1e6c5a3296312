"""The data of the first page: verdicts; members, forks and set-aside messages over time; sizes of tangles."""

from __future__ import annotations

from dbt_tangles.cli import problems, runs, verdict_counts
from dbt_tangles.cli.duplicate_tangles import TablesOnce, count_alike, describe_alike
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.reasons import COLUMNS, meanings
from dbt_tangles.report import verdicts
from dbt_tangles.report.file_names import file_name

BINS = 60
_OF_RUNS = ("status", "started_at", "seconds", "tables", "current_tables", "inputs")
#: Verdicts that are no problem.
WELL = frozenset(
    (
        *("", "usable", "in_chain", "complete", "member", "present", "valid", "counted", "ok", "indexing", "feed"),
        *("held", "non_indexing", "relayed", "with edits", "whole log", "without edits", "empty"),
    )
)


def collect(tables: TablesOnce) -> dict:
    """Collect the data of the first page."""
    last = runs.last_runs(tables)
    for run in last:  # A report names logs, and no folder of the machine.
        run["inputs"] = [log | {"path": file_name(log["path"])} for log in run["inputs"]]
    found = [row for row in verdict_counts.count(tables) if row["is_news"]]
    return {
        "runs": [{name: run[name] for name in _OF_RUNS} for run in last],
        "verdicts": verdicts.collect(tables, found, WELL),
        "counts": found,
        "meanings": {row["table"]: _meanings(row) for row in found},
        "alike": [describe_alike(row) for row in count_alike(tables)],
        "look_at": problems.find(tables, last, None),
        "over_time": over_time(tables),
        **histograms(tables),
    }


def _meanings(row: dict) -> dict[str, str]:
    """Return the meanings of the reasons among a table's verdicts."""
    known = next((meanings(column) for column in COLUMNS if column.startswith(f"{row['table']}.")), {})
    return {code: known[code] for code in row["counts"] if code in known}


def over_time(tables: Tables) -> dict | None:
    """Count the messages of tangles in 60 equal spans of time: members that are not forks, forks, merges, set aside.

    Returns:
        The counts, if any message has a time. The spans cover the middle 99% of the times; earlier and later messages
        count in the first and last span.
    """
    bins = tables.rows(query("over_time"), bins=BINS)
    found = [{name: row.pop(name) for name in ("first", "width", "without_time")} for row in bins]
    return found[0] | {"bins": bins} if found else None


def histograms(tables: Tables) -> dict[str, list[dict]]:
    """Count the tangles other than feeds by number of candidates (`sizes`) and by depth, in ranges 0, 1, 2 to 3, ..."""
    charts: dict[str, list[dict]] = {"sizes": [], "depths": []}
    for row in tables.rows(query("tangle_histograms")):
        charts[row.pop("chart")].append(row)
    return charts
