"""The data of the first page: verdicts; members, forks and set-aside messages over time; sizes of tangles."""

from __future__ import annotations

import math

from dbt_tangles.cli import problems, runs, verdict_counts
from dbt_tangles.cli.tables import Tables
from dbt_tangles.reasons import COLUMNS, meanings
from dbt_tangles.report.chart_groups import EARLIEST, GROUPINGS, LATEST, low_of
from dbt_tangles.report.file_names import file_name

BINS = 60
#: Verdicts that are no problem.
WELL = frozenset(
    (
        *("", "usable", "in_chain", "complete", "member", "present", "valid", "counted", "ok", "indexing", "feed"),
        *("held", "non_indexing", "relayed", "with edits", "whole log", "without edits"),
    )
)
_TIME = "coalesce(received_at, asserted_at)"
_IS_TIME = f"coalesce({_TIME} >= {EARLIEST} and {_TIME} < {LATEST}, false)"


def collect(tables: Tables) -> dict:
    """Collect the data of the first page."""
    last = runs.last_runs(tables)
    for run in last:  # A report names logs, and no folder of the machine.
        run["inputs"] = [log | {"path": file_name(log["path"])} for log in run["inputs"]]
    found = verdict_counts.count(tables)
    return {
        "runs": [{name: run[name] for name in ("status", "started_at", "seconds", "tables", "inputs")} for run in last],
        "counts": found,
        "meanings": {row["table"]: _meanings(row) for row in found},
        "well": sorted(WELL),
        "look_at": problems.find(tables, last, None),
        "over_time": over_time(tables),
        "sizes": histogram(tables, "candidate_count"),
        "depths": histogram(tables, "depth"),
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
    span = tables.row(
        f"""select quantile_disc({_TIME}, 0.005) as first, quantile_disc({_TIME}, 0.995) as last, count(*) as n
        from {{tangle_messages}} where {_IS_TIME}"""
    )
    if not span or not span["n"]:
        return None
    # Spans begin at whole seconds, because the search knows times in seconds.
    first = span["first"] // 1000 * 1000.0
    width = math.ceil(max(span["last"] - first, 1.0) / BINS / 1000) * 1000.0
    rows = tables.rows(
        f"""select least(greatest(floor(({_TIME} - $first) / $width), 0), {BINS - 1})::integer as bin,
            count(*) filter (kind = 'members') as members, count(*) filter (kind = 'forks') as forks,
            count(*) filter (is_merge) as merges, count(*) filter (kind = 'set_aside') as set_aside
        from (select *, {GROUPINGS["messages_by_kind"].group} as kind from {{tangle_messages}} where {_IS_TIME}) as t
        group by bin order by bin""",
        first=first,
        width=width,
    )
    by_bin = {row.pop("bin"): row for row in rows}
    empty = {"members": 0, "forks": 0, "merges": 0, "set_aside": 0}
    without = tables.row(f"select count(*) as n from {{tangle_messages}} where not {_IS_TIME}")
    return {
        "first": first,
        "width": width,
        "bins": [by_bin.get(bin_, empty) for bin_ in range(BINS)],
        "without_time": without["n"] if without else 0,
    }


def histogram(tables: Tables, column: str) -> list[dict]:
    """Count the tangles other than feeds by a column, in ranges 0, 1, 2 to 3, 4 to 7, 8 to 15, ..."""
    return tables.rows(
        f"""select low, case when low < 2 then low else 2 * low - 1 end as high,
            count(*) filter (trouble = 0) as well, count(*) filter (trouble > 0) as troubled
        from (
            select {low_of(column)} as low,
                set_aside_count + invalid_claim_count as trouble
            from {{tangles}} where tangle_name <> 'feed'
        ) as t
        group by low order by low"""
    )
