"""The page of rejected lines: file, line, reason and detail."""

from __future__ import annotations

from dbt_tangles.cli import messages
from dbt_tangles.cli.log_places import LOGS
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.report.file_names import file_name


def collect(tables: Tables) -> dict | None:
    """Collect the first rejected lines of each log and reason.

    Returns:
        `total`, the number of all rejected lines; `rows`; `left_out`, the number of rows that are not listed. None if
        no line is rejected.
    """
    rows, left_out, total = [], 0, 0
    for name, log in LOGS.items():
        found = tables.rows(query(f"rejected_lines_{name}"))
        if found:
            total += found[0]["lines"]
            left_out += found[0]["n"] - len(found)
        for row in found:
            del row["lines"], row["n"]
            row |= {"log": name, "table": log.rejects, "file": file_name(row.pop("source_file"))}
            rows.append(row | {"meaning": getattr(messages, name)(row["reason"])})
    return {"total": total, "left_out": left_out, "rows": rows} if rows else None
