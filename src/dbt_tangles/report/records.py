"""The page of records: the fields of each at its tips, the values in conflict, and the messages that do not count."""

from __future__ import annotations

from dbt_tangles.cli.page import truncate
from dbt_tangles.cli.tables import Tables

#: The most records, fields of a record, values in conflict, ids of a list, and characters of a value.
_MOST_RECORDS, _MOST_FIELDS, _MOST_VALUES, _MOST_IDS, _LONGEST = 100, 100, 10, 20, 300


def collect(tables: Tables) -> dict | None:
    """Collect the records in conflict, then those with messages that do not count, then all others.

    Returns:
        The number of all records (`total`), of those in conflict (`conflicted`), and of those with messages that do
        not count (`faulty`); the first `records`. None without records, and before they are built.
    """
    if not tables.files("records"):
        return None
    counts = tables.row(
        """select count(*) as total, count(*) filter (where is_conflicted) as conflicted,
            count(*) filter (where left_out_count > 0 or status <> 'reduced') as faulty from {records}"""
    )
    if not counts or not counts["total"]:
        return None
    rows = tables.rows(
        f"""select tangle_name, root_id, status, is_conflicted, conflicting_fields, left_out_count, {_ids("tips")},
            {_ids("malformed_messages")}, {_ids("unresolved_merges")}
        from {{records}} order by is_conflicted desc, left_out_count desc, status, tangle_name, root_id
        limit {_MOST_RECORDS}"""
    )
    fields = _fields(tables, [row["root_id"] for row in rows])
    for row in rows:
        row["fields"] = fields.get((row["tangle_name"], row["root_id"]), [])
    return {**counts, "records": rows}


def _ids(column: str) -> str:
    return f"{column}[1:{_MOST_IDS}] as {column}, len({column}) as {column}_total"


def _fields(tables: Tables, roots: list[str]) -> dict[tuple[str, str], list[dict]]:
    """Read the fields that messages have set, by record: fields in conflict first."""
    found: dict[tuple[str, str], list[dict]] = {}
    rows = tables.rows(
        f"""select tangle_name, root_id, field, strategy, left(value, {_LONGEST}) as value, is_conflict,
            len(value) > {_LONGEST} as is_cut, {_ids("set_by")},
            conflicting_values[1:{_MOST_VALUES}] as conflicting_values, len(conflicting_values) as value_total
        from {{record_fields}} where root_id in (select unnest($roots)) and len(set_by) > 0
        qualify row_number() over (
            partition by tangle_name, root_id order by is_conflict desc, field
        ) <= {_MOST_FIELDS}
        order by is_conflict desc, field""",
        roots=roots,
    )
    for row in rows:
        for each in row["conflicting_values"]:
            each["value"] = truncate(each["value"], _LONGEST)
        found.setdefault((row.pop("tangle_name"), row.pop("root_id")), []).append(row)
    return found
