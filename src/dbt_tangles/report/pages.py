"""The pages of records, of rejected lines, and of threads as people read them."""

import contextlib
import json

from dbt_tangles.cli import messages
from dbt_tangles.cli.log_places import LOGS
from dbt_tangles.cli.page import truncate
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query
from dbt_tangles.report.names import People, file_name, words_of
from dbt_tangles.report.parts import Kind

#: The fields that name a record, the first one that is set.
_NAMES = ("title", "name", "preferredName", "description")
#: The most characters of a value, as in the query `record_fields`.
_LONGEST = 300
#: The most characters and lines of a text.
_LONGEST_TEXT, _MOST_LINES = 1000, 40


def collect_records(tables: Tables) -> dict | None:
    """Collect the records in conflict, then those with messages that do not count, then all others.

    Returns:
        The number of all records (`total`), of those in conflict (`conflicted`), and of those with messages that do
        not count (`faulty`); the first `records`. None without records, and before they are built.
    """
    if not tables.files("records"):
        return None
    rows = tables.rows(query("records"))
    if not rows:
        return None
    counts = {name: rows[0][name] for name in ("total", "conflicted", "faulty")}
    roots = [row["root_id"] for row in rows]
    fields = _fields(tables, roots)
    words = {row["message_id"]: words_of(row) for row in tables.rows(query("message_titles"), ids=roots)}
    for row in rows:
        row["fields"] = fields.get((row["tangle_name"], row["root_id"]), [])
        row["title"] = _title(row["fields"]) or words.get(row["root_id"], f"({row['tangle_name']})")
    return {**counts, "records": rows}


def _title(fields: list[dict]) -> str | None:
    """Return the value of the field that names a record, or its values in conflict, if they are texts."""
    of_field = {row["field"]: row for row in fields}
    for row in (of_field[name] for name in _NAMES if name in of_field):
        values = [each["value"] for each in row["conflicting_values"]] if row["is_conflict"] else [row["value"]]
        with contextlib.suppress(ValueError):  # A long value is cut.
            texts = [json.loads(value or "null") for value in values]
            if all(isinstance(text, str) and text.strip() for text in texts):
                return " or ".join(texts)
    return None


def _fields(tables: Tables, roots: list[str]) -> dict[tuple[str, str], list[dict]]:
    """Read the fields that messages have set, by record: fields in conflict first."""
    found: dict[tuple[str, str], list[dict]] = {}
    for row in tables.rows(query("record_fields"), roots=roots):
        for each in row["conflicting_values"]:
            each["value"] = truncate(each["value"], _LONGEST)
        found.setdefault((row.pop("tangle_name"), row.pop("root_id")), []).append(row)
    return found


def collect_rejects(tables: Tables) -> dict | None:
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


def collect_threads(tables: Tables, tangles: Kind, nodes: int, people: People) -> list[dict]:
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
    lines = text[:_LONGEST_TEXT].split("\n")
    is_cut = len(text) > _LONGEST_TEXT or len(lines) > _MOST_LINES
    return [*lines[:_MOST_LINES], *([f"… ({len(text):,} characters)"] if is_cut else [])]
