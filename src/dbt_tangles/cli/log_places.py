"""Maps lines of the log files to the ids that they gave, and back.

Only this module reads the staging tables, and only the columns named here: staging also holds the keys of private
groups (docs/adr/019-secrets.md).
"""

import os
import re
from typing import NamedTuple
from urllib.parse import unquote

from dbt_tangles.cli.tables import Tables

MOST = 100


class Log(NamedTuple):
    """A kind of log, and the tables and columns of its lines.

    Attributes:
        kind: The kind of its ids, as `tangles why --kind` names it.
        lines: The staging table of its lines.
        id: The expression for the id that a line gave, or null.
        within: The expression for the base or timeline of that id, or null.
        rejects: The table of its rejected lines.
        reject_id: The column of ids in `rejects`.
        reject_within: The column of bases or timelines in `rejects`, or null.
    """

    kind: str
    lines: str
    id: str
    within: str
    rejects: str
    reject_id: str
    reject_within: str


LOGS = {
    "ssb": Log("message", "stg_ssb__lines", "message_id", "null", "ssb_rejects", "message_id", "null"),
    "pzp": Log("pzp", "stg_pzp__lines", "message_id", "null", "pzp_rejects", "message_id", "null"),
    "autobase": Log(
        "node",
        "stg_autobase__lines",
        "case kind when 'base' then '' else writer || ':' || length end",
        "base_id",
        "autobase_rejects",
        "node_id",
        "base_id",
    ),
    "event": Log(
        "event",
        "stg_events__lines",
        "event_id",
        "timeline_id",
        "timeline_rejects",
        "event_id",
        "timeline_id",
    ),
}


class Blocks(NamedTuple):
    """A file of a log, which is read in blocks.

    Attributes:
        lines: The number of lines.
        first: For each block, by its first byte: the block's least row id, and the line number of that row.
    """

    lines: int
    first: dict[int, tuple[int, int]]


def files(tables: Tables, log: Log) -> dict[str, Blocks]:
    """List the files of a log, by their names in the tables.

    A line's number is the number of lines before its block plus its place in the block: the same rule as in
    macros/inputs/locate_line_blocks.sql.
    """
    found: dict[str, Blocks] = {}
    for row in tables.rows(
        f"""select source_file, block_start, min(row_id) as least, count(*) as n from {{{log.lines}}}
        group by source_file, block_start order by source_file, block_start"""
    ):
        before = found.get(row["source_file"], Blocks(0, {}))
        block = {row["block_start"]: (row["least"], before.lines + 1)}
        found[row["source_file"]] = Blocks(before.lines + row["n"], before.first | block)
    return found


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


def id_of_line(tables: Tables, log: Log, source_file: str, blocks: Blocks, line: int) -> dict | None:
    """Return the `id` that a line gave, or null, and its base or timeline `within`, if the file has the line."""
    place = _place(blocks, line)
    if place is None:
        return None
    return tables.row(
        f"""select {log.id} as id, {log.within} as within from {{{log.lines}}}
        where source_file = $file and block_start = $start and row_id = $row""",
        file=source_file,
        start=place[0],
        row=place[1],
    )


def equal_lines(tables: Tables, log: Log, source_file: str, blocks: Blocks, line: int, others: list[int]) -> list[int]:
    """Return those of `others`, line numbers of the same file, with the same bytes as a line."""
    place = _place(blocks, line)
    if place is None or not others:
        return []
    rows = tables.rows(
        f"""select block_start, row_id from {{{log.lines}}}
        where source_file = $file and row_id in (select unnest($rows)) and line_digest = (
            select line_digest from {{{log.lines}}}
            where source_file = $file and block_start = $start and row_id = $row
        )""",
        file=source_file,
        rows=[_place(blocks, other)[1] for other in others],
        start=place[0],
        row=place[1],
    )
    return [_number(blocks, row) for row in rows]


def lines_of_id(tables: Tables, log: Log, found: dict[str, Blocks], gives: dict) -> tuple[int, list[dict]]:
    """Return the number of lines that gave an id, and the places of the first 100."""
    where = f"{{{log.lines}}} where {log.id} = $id and {log.within} is not distinct from $within"
    values = {"id": gives["id"], "within": gives["within"]}
    rows = tables.rows(
        f"""select source_file, block_start, row_id, count(*) over () as total from {where}
        order by source_file, block_start, row_id limit {MOST}""",
        **values,
    )
    places = [{"source_file": row["source_file"], "line": _number(found[row["source_file"]], row)} for row in rows]
    return (rows[0]["total"] if rows else 0), places


def _place(blocks: Blocks, line: int) -> tuple[int, int] | None:
    """Return the block and the row id of a line, if its number is at least 1."""
    before = [(first, start, least) for start, (least, first) in blocks.first.items() if first <= line]
    if not before:
        return None
    first, start, least = max(before)
    return start, least + line - first


def _number(blocks: Blocks, place: dict) -> int:
    """Return the line number of a `block_start` and `row_id`."""
    least, first = blocks.first[place["block_start"]]
    return place["row_id"] - least + first
