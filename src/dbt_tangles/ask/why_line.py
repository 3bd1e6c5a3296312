"""Why a line of a log gave nothing."""

from __future__ import annotations

import re

from dbt_tangles.ask import words
from dbt_tangles.ask.page import BAD, ID, Page
from dbt_tangles.ask.tables import AskError, Tables

_LINE = re.compile(r"(.+):([0-9]{1,18})")
_MOST = 100
_REJECTS = [
    ("ssb", "ssb_rejects", "message_id", "null"),
    ("pzp", "pzp_rejects", "message_id", "null"),
    ("autobase", "autobase_rejects", "node_id", "detail"),
    ("event", "timeline_rejects", "event_id", "detail"),
]


def explain(tables: Tables, given: str) -> dict:
    """Gather what the tables of rejects say of a line.

    Args:
        tables: Where to look.
        given: The file, by its path as the tables have it or by how that ends, then `:` and the line's number.

    Raises:
        AskError: That is no file and line.
    """
    match = _LINE.fullmatch(given)
    if not match:
        raise AskError(f"{given!r} is no line of a log; say FILE:N, as in messages.jsonl:12")
    values = {"file": match[1], "end": f"/{match[1].lstrip('/')}", "line": int(match[2])}
    where = "line = $line and (source_file = $file or ends_with(source_file, $end))"
    rejects = []
    for log, table, id_column, detail in _REJECTS:
        rows = tables.rows(
            f"""select source_file, line, reason, {detail} as detail, {id_column} as id from {{{table}}}
            where {where} order by all limit {_MOST}""",
            **values,
        )
        rejects += [{"log": log, **row, "meaning": getattr(words, log)(row["reason"])} for row in rows]
    events = tables.rows(
        f"select timeline_id, event_id, source_file from {{timeline_events}} where {where} order by all limit {_MOST}",
        **values,
    )
    return {"kind": "line", "id": given, "rejects": rejects, "events": events, "is_well": not rejects}


def write(page: Page, answer: dict) -> None:
    """Show the answer."""
    page.line((answer["id"], ID))
    for row in answer["rejects"]:
        page.line(f"{row['log']} log, {row['source_file']}:{row['line']}", indent=1)
        page.line(("refused", BAD), f": {row['reason']}. {row['meaning']} {row['detail'] or ''}".rstrip(), indent=2)
        if row["id"]:
            page.line("it would be ", (row["id"], ID), indent=2)
    for row in answer["events"]:
        page.line("it is event ", (row["event_id"], ID), f" of timeline {row['timeline_id']}", indent=1)
    if not answer["rejects"] and not answer["events"]:
        page.line("no table of rejects has this line: either it gave a message or node, or no log has it", indent=1)
