"""The page of records: the fields of each at its tips, the values in conflict, and the messages that do not count."""

from __future__ import annotations

from dbt_tangles.cli.page import truncate
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import query

#: The most characters of a value, as in the query `record_fields`.
_LONGEST = 300


def collect(tables: Tables) -> dict | None:
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
    fields = _fields(tables, [row["root_id"] for row in rows])
    for row in rows:
        row["fields"] = fields.get((row["tangle_name"], row["root_id"]), [])
    return {**counts, "records": rows}


def _fields(tables: Tables, roots: list[str]) -> dict[tuple[str, str], list[dict]]:
    """Read the fields that messages have set, by record: fields in conflict first."""
    found: dict[tuple[str, str], list[dict]] = {}
    for row in tables.rows(query("record_fields"), roots=roots):
        for each in row["conflicting_values"]:
            each["value"] = truncate(each["value"], _LONGEST)
        found.setdefault((row.pop("tangle_name"), row.pop("root_id")), []).append(row)
    return found
