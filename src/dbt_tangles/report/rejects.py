"""The page of rejected lines: file, line, reason, detail, and the beginning of the line if its file is still here."""

from __future__ import annotations

from dbt_tangles.cli import messages, runs
from dbt_tangles.cli.log_places import LOGS
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.report.excerpts import read_excerpts
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
        rows += [_row(name, log.rejects, row) for row in found]
    if not rows:
        return None
    texts = read_excerpts({(row["source_file"], row["line"], row["log"]) for row in rows}, *_last_build(tables))
    for row in rows:
        row["excerpt"] = texts.get((row.pop("source_file"), row["line"], row["log"]))
    return {"total": total, "left_out": left_out, "rows": rows}


def _row(log: str, table: str, row: dict) -> dict:
    return {
        "log": log,
        "table": table,
        "source_file": row["source_file"],
        "file": file_name(row["source_file"]),
        "line": row["line"],
        "reason": row["reason"],
        "meaning": getattr(messages, log)(row["reason"]),
        "detail": row["detail"],
        "id": row["id"],
        "line_count": row["line_count"],
    }


def _last_build(tables: Tables) -> tuple[str | None, str]:
    """Return the start of the last run, and the format of its SSB logs."""
    last = next(iter(runs.last_runs(tables)), None)
    return (last["started_at"], last["vars"].get("ssb_log_format", "lines")) if last else (None, "lines")
