"""The text of threads in their published order: author, time, text, and the messages without a path between them."""

import json

from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.report.parts import Kind
from dbt_tangles.report.people import People

#: The most characters and lines of a text.
_LONGEST, _MOST_LINES = 1000, 40


def collect(tables: Tables, tangles: Kind, nodes: int, people: People) -> list[dict]:
    """Collect the messages of tangles as people read them: of each the root and the last members, `nodes` in all.

    Returns:
        For each tangle: `messages` in the order of `thread_position`; `left_out`, the number of members between the
        first and the second message; `aside`, the first 20 messages that are set aside, and their number `aside_total`.
    """
    threads = [_thread(tables, part.view["name"], part.view["id"], nodes) for part in tangles.parts]
    rows = [row for thread in threads for row in [*thread["messages"], *thread["aside"]]]
    contents = {
        row["message_id"]: row for row in tables.rows(query("thread_contents"), ids=sorted({row["id"] for row in rows}))
    }
    for row in rows:
        row |= _text(contents.get(row["id"], {})) | {"by": people.name_of(row["author"])}
    return threads


def _thread(tables: Tables, name: str, root: str, nodes: int) -> dict:
    rows = tables.rows(query("thread_messages"), name=name, root=root, nodes=nodes)
    members = [row for row in rows if row["is_member"]]
    aside = [row for row in rows if not row["is_member"]]
    totals = [found[0]["total"] if found else 0 for found in (members, aside)]
    for row in rows:
        del row["total"], row["is_member"]
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
    """Return at most 40 lines and 1,000 characters of a content's text; without a `text`, of its other fields."""
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
