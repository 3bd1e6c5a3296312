"""The text of threads in their published order: author, time, text, and the messages without a path between them."""

from __future__ import annotations

import json

from dbt_tangles.cli.graph import label
from dbt_tangles.cli.tables import Tables
from dbt_tangles.report.parts import Kind

#: The most characters and lines of a text.
_LONGEST, _MOST_LINES = 1000, 40
_MOST_ASIDE = 20


def collect(tables: Tables, tangles: Kind, nodes: int) -> list[dict]:
    """Collect the messages of tangles as people read them.

    Args:
        tables: The warehouse's tables.
        tangles: The tangles that are drawn.
        nodes: The most members of each: the root and the last ones.

    Returns:
        For each tangle: `messages` in the order of `thread_position`; `left_out`, the number of members between the
        first and the second message; `aside`, the first 20 messages that are set aside, and their number `aside_total`.
    """
    threads = [_thread(tables, part.entry["name"], part.entry["id"], nodes) for part in tangles.parts]
    rows = [row for thread in threads for row in [*thread["messages"], *thread["aside"]]]
    contents = {
        row["message_id"]: row
        for row in tables.rows(
            """select message_id, content_type, left(content, 20000) as content, is_encrypted from {ssb_messages}
            where message_id in (select unnest($ids))""",
            ids=sorted({row["id"] for row in rows}),
        )
    }
    for row in rows:
        row |= _text(contents.get(row["id"], {}))
    return threads


def _thread(tables: Tables, name: str, root: str, nodes: int) -> dict:
    columns = """message_id as id, author, coalesce(asserted_at, received_at) as written, depth,
        thread_position as position, is_fork, is_merge, concurrent_count as concurrent, tie_broken_with as tie,
        set_aside_reason as reason"""
    of_tangle = "{tangle_messages} where tangle_name = $name and root_id = $root and"
    values = {"name": name, "root": root}
    members = tables.rows(
        f"""select {columns}, max(thread_position) over () + 1 as total from {of_tangle} is_member
        qualify thread_position = 0 or thread_position > max(thread_position) over () - {max(nodes - 1, 1)}
        order by thread_position""",
        **values,
    )
    aside = tables.rows(
        f"""select {columns}, count(*) over () as total from {of_tangle} not is_member
        order by written, id limit {_MOST_ASIDE}""",
        **values,
    )
    totals = [rows[0]["total"] if rows else 0 for rows in (members, aside)]
    for row in [*members, *aside]:
        del row["total"]
        row["tie_label"] = label(row["tie"]) if row["tie"] else None
    return {
        "messages": members,
        "left_out": max(0, (totals[0] or 0) - len(members)),
        "aside": aside,
        "aside_total": totals[1],
    }


def _text(row: dict) -> dict:
    """Return the `type` of a message and the lines of its `text`: its content's text, else its content without type."""
    if row.get("is_encrypted") or not row.get("content"):
        return {"type": row.get("content_type"), "text": ["(encrypted)" if row.get("is_encrypted") else "(no content)"]}
    return {"type": row["content_type"], "text": text_lines(row["content"])}


def text_lines(content: str) -> list[str]:
    """Return the lines of a content's text, at most 40 lines and 1,000 characters.

    Args:
        content: The JSON of a content. Without a `text`, its other fields are the text.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        text = value["text"]
    elif isinstance(value, dict):
        text = json.dumps({key: each for key, each in value.items() if key != "type"}, ensure_ascii=False)
    else:
        text = content
    lines = text[:_LONGEST].split("\n")
    is_cut = len(text) > _LONGEST or len(lines) > _MOST_LINES
    return [*lines[:_MOST_LINES], *([f"… ({len(text):,} characters)"] if is_cut else [])]
