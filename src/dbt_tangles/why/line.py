"""A line of a log, `FILE:N`: the id that a line of a log gave, or the reason why it was rejected."""

import importlib

from dbt_tangles.cli import log_places, messages
from dbt_tangles.cli.ids import PLACES
from dbt_tangles.cli.log_places import LOGS, MOST, Log
from dbt_tangles.cli.tables import Tables


def explain(tables: Tables, given: str) -> dict:
    """Look up `FILE:N`, a file by the end of its path in the tables and a line from 1, and explain the id it gave."""
    file, _, number = given.rpartition(":")
    line = int(number)
    lines, named, others = [], [], []
    for name, log in LOGS.items():
        found = log_places.files(tables, log)
        rejects = _rejects(tables, name, log, file, line)
        for source_file in found:
            if source_file not in rejects and log_places.is_named(source_file, file):
                equal = log_places.equal_rejects(tables, log, source_file, line)
                rows = [row for each in equal for row in _rejects(tables, name, log, source_file, each)[source_file]]
                rejects |= {source_file: rows} if rows else {}
        for source_file in sorted(found.keys() | rejects.keys()):
            if not log_places.is_named(source_file, file):
                others.append(source_file)
                continue
            if source_file in found:
                named.append({"log": name, "source_file": source_file, "lines": found[source_file]})
            if len(lines) < MOST:
                row = _explain_line(tables, name, source_file, line, source_file in found, rejects.get(source_file, []))
                lines += [row] if row else []
    return {
        "kind": "line",
        "id": given,
        "lines": lines,
        "files": named[:MOST],
        "other_files": [] if lines or named else sorted(set(others))[:MOST],
        "is_well": bool(lines) and not any(each["rejects"] for each in lines),
    }


def _rejects(tables: Tables, name: str, log: Log, file: str, line: int) -> dict[str, list[dict]]:
    """Read the rejects of a line number, by file."""
    sql = f"""select source_file, reason, detail, {log.reject_id} as id, {log.reject_within} as within, line_count
        from {log.rejects} where line = $line order by all"""
    found: dict[str, list[dict]] = {}
    for row in tables.rows(sql, line=line):
        source_file = row.pop("source_file")
        if log_places.is_named(source_file, file):
            row["meaning"] = getattr(messages, name)(row["reason"])
            found.setdefault(source_file, []).append(row)
    return found


def _explain_line(
    tables: Tables, name: str, source_file: str, line: int, is_read: bool, rejects: list[dict]
) -> dict | None:
    log = LOGS[name]
    gives = log_places.id_of_line(tables, log, source_file, line) if is_read else None
    if gives is None and not rejects:
        return None
    if gives is None or gives["id"] is None:
        gives = {"id": rejects[0]["id"], "within": rejects[0]["within"]} if rejects else {"id": None, "within": None}
    why = _explain(tables, log, gives)
    is_alone = not rejects and ((why or {}).get("message") or {}).get("line_count") == 1
    total, places = (1 if gives["id"] else 0), []
    if gives["id"] and not is_alone:
        total, places = log_places.lines_of_id(tables, log, gives)
    here = {"source_file": source_file, "line": line}
    also_at = [place for place in places if place != here]
    return {"log": name, **here, **gives, "rejects": rejects, "line_count": total, "also_at": also_at, "why": why}


def _explain(tables: Tables, log: Log, gives: dict) -> dict | None:
    """Return the answer of `tangles why` for the line's id, if a table has the id."""
    if not gives["id"] or not any(
        tables.rows(f"select 1 from {table} where {column} = $id limit 1", id=gives["id"])
        for table, column in PLACES[log.kind]
    ):
        return None
    return importlib.import_module(f"dbt_tangles.why.{log.kind}").explain(tables, gives["id"], only=gives["within"])
