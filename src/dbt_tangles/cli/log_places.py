"""Maps lines of the log files to the ids that they gave, and back.

Only this module reads the staging tables, and only the columns named here: staging also holds the keys of private
groups (docs/adr/012-secrets-and-other-users.md).
"""

import os
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import NamedTuple
from urllib.parse import unquote

from dbt_tangles.cli.pasted_ids import first_likely_id
from dbt_tangles.cli.tables import Tables

MOST = 100
_MOST_FILES = 1_000
#: A place in a file that is not in the current folder.
_PLACE = re.compile(r"/.*(?::\d| has )", re.DOTALL)
#: The place of a line: a file and the line's number.
LINE = re.compile(r"(.+):([0-9]{1,18})", re.DOTALL)


class Log(NamedTuple):
    """A kind of log, and the tables and columns of its lines."""

    title: str  # Its name in sentences
    kind: str  # The kind of its ids, as `tangles why --kind` names it
    lines: str  # The staging table of its lines
    id: str  # The expression for the id that a line gave, or null
    within: str  # The expression for the base or timeline of that id, or null
    rejects: str  # The table of its rejected lines
    reject_id: str  # The column of ids in `rejects`
    reject_within: str  # The column of bases or timelines in `rejects`, or null


_EVENT = ("event_id", "timeline_id")
_NODE = "case kind when 'base' then '' else writer || ':' || length end"
LOGS = {
    "ssb": Log("SSB", "message", "stg_ssb__lines", "message_id", "null", "ssb_rejects", "message_id", "null"),
    "pzp": Log("pzp", "pzp", "stg_pzp__lines", "message_id", "null", "pzp_rejects", "message_id", "null"),
    "autobase": Log(
        "autobase", "node", "stg_autobase__lines", _NODE, "base_id", "autobase_rejects", "node_id", "base_id"
    ),
    "event": Log("event", "event", "stg_events__lines", *_EVENT, "timeline_rejects", *_EVENT),
}


def _source_files(tables: Tables) -> set[str]:
    return {
        row["source_file"]
        for log in LOGS.values()
        for table in (log.lines, log.rejects)
        for row in tables.rows(f"select distinct source_file from {table} where source_file is not null")
    }


def files(tables: Tables, log: Log) -> dict[str, int]:
    """Count the lines of the files of a log, by their names in the tables."""
    rows = tables.rows(f"select source_file, count(*) as lines from {log.lines} group by source_file order by all")
    return {row["source_file"]: row["lines"] for row in rows}


def shortener(tables: Tables) -> Callable[[str], str]:
    """Return a function that shortens the names of the files of logs in a text to their unique ends."""

    @cache
    def names() -> re.Pattern[str]:
        found = _source_files(tables)
        ends = Counter(end for name in found for end in _ends(name))
        for name in found:
            short[name] = next((end for end in _ends(name) if ends[end] == 1), name)
        return re.compile("|".join(map(re.escape, sorted(found, key=len, reverse=True)[:_MOST_FILES])) or "(?!)")

    short: dict[str, str] = {}
    return lambda text: names().sub(lambda name: short[name[0]], text) if _PLACE.search(text) else text


def _ends(name: str) -> list[str]:
    """List the ends of a file's name, the shortest first: its last part, the last two, and so on."""
    parts = name.split("/")
    return ["/".join(parts[at:]) for at in range(len(parts) - 1, -1, -1)]


def is_named(source_file: str, given: str) -> bool:
    """Whether a user's text names a file: by its name in the tables, its path, or the end of its path."""
    if given == source_file:
        return True
    if re.match(r"[a-z][a-z0-9+.-]*:/", given):
        return unquote(source_file) == given
    path = os.path.normpath(given)
    if path.startswith(".."):
        path = os.path.abspath(path)
    name = unquote(source_file) if ":" in source_file else source_file
    return name == path or any(each.endswith(f"/{path.lstrip('/')}") for each in (name, source_file))


def may_be_line(given: str) -> bool:
    """Whether a text that is no id names a line of a file, by a path or a name with a suffix."""
    return bool(re.fullmatch(r".*[./].*:[0-9]{1,18}", given, re.DOTALL)) and first_likely_id(given) is None


def is_line(tables: Tables, given: str) -> bool:
    """Whether a user's text is `FILE:N` with the name of a file that the build read."""
    match = LINE.fullmatch(given)
    return bool(match) and any(is_named(name, match[1]) for name in _source_files(tables))


def id_of_line(tables: Tables, log: Log, source_file: str, line: int) -> dict | None:
    """Return the `id` that a line gave, or null, and its base or timeline `within`, if the file has the line."""
    sql = f"select {log.id} as id, {log.within} as within from {log.lines} where source_file = $file and line = $line"
    return tables.row(sql, file=source_file, line=line)


def equal_rejects(tables: Tables, log: Log, source_file: str, line: int) -> list[int]:
    """Return the lines of a file with the same bytes as a line, whose rejects stand for several equal lines."""
    sql = f"""select distinct line from {log.rejects} join {log.lines} using (source_file, line)
        where source_file = $file and line_count > 1 and line_digest = (
            select line_digest from {log.lines} where source_file = $file and line = $line
        )"""
    return [row["line"] for row in tables.rows(sql, file=source_file, line=line)]


def lines_of_id(tables: Tables, log: Log, gives: dict) -> tuple[int, list[dict]]:
    """Return the number of lines that gave an id, and the places of the first 100."""
    sql = f"""select source_file, line, count(*) over () as total from {log.lines}
        where {log.id} = $id and {log.within} is not distinct from $within order by source_file, line limit {MOST}"""
    rows = tables.rows(sql, **gives)
    places = [{"source_file": row["source_file"], "line": row["line"]} for row in rows]
    return (rows[0]["total"] if rows else 0), places
