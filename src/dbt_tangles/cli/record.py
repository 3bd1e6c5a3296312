"""The fields of a record (a tangle whose messages set fields), for `show` and `why`."""

from dbt_tangles.cli.graph import label
from dbt_tangles.cli.page import BAD, STRONG, Page, join_names, truncate
from dbt_tangles.cli.tables import Tables

_LONGEST = 80
_SHOWN = 10


def read_fields(tables: Tables, name: str, root: str) -> list[dict]:
    """Read the fields of a record at its tips; an empty list for other tangles, and before records are built."""
    if not tables.files("record_fields"):
        return []
    return tables.rows(
        """select field, strategy, value, is_conflict, set_by, conflicting_values from {record_fields}
        where tangle_name = $name and root_id = $root order by field""",
        name=name,
        root=root,
    )


def explain_member(tables: Tables, name: str, root: str, message_id: str) -> dict | None:
    """Explain a member's part in a record; None for other tangles, and before records are built.

    Returns:
        `status` of the record; `sets`, the fields whose value at the tips the message gives, and `conflicts`, those of
        them that are in conflict; `fault`: `malformed`, `unresolved_merge` or null.
    """
    if not tables.files("records"):
        return None
    row = tables.row(
        """select status, list_contains(malformed_messages, $id) as is_malformed,
            list_contains(unresolved_merges, $id) as is_unresolved
        from {records} where tangle_name = $name and root_id = $root""",
        name=name,
        root=root,
        id=message_id,
    )
    if row is None:
        return None
    fault = "malformed" if row["is_malformed"] else "unresolved_merge" if row["is_unresolved"] else None
    fields = [field for field in read_fields(tables, name, root) if message_id in field["set_by"]]
    conflicts = [field["field"] for field in fields if field["is_conflict"]]
    return {"status": row["status"], "sets": [f["field"] for f in fields], "conflicts": conflicts, "fault": fault}


_FAULTS = {
    "malformed": "a field of the message is malformed, so the record leaves out the message and its followers",
    "unresolved_merge": "the message merges branches that set different values and leaves the conflict, so the record "
    "leaves out the message and its followers",
}


def write_member(page: Page, found: dict | None) -> None:
    """Print a member's part in a record."""
    if found is None:
        return
    if found["status"] != "reduced":
        page.line("record: ", (found["status"], BAD), indent=2)
    if found["fault"]:
        page.line("record: ", (_FAULTS[found["fault"]], BAD), indent=2)
    if found["sets"]:
        conflicts = f"; in conflict with another tip: {join_names(found['conflicts'])}" if found["conflicts"] else ""
        page.line(f"record: gives the value of {join_names(found['sets'])}{conflicts}", indent=2)


def write_fields(page: Page, fields: list[dict]) -> None:
    """Print the fields of a record that messages have set, with their values, or the values in conflict."""
    for field in fields:
        if not field["set_by"]:
            continue
        if not field["is_conflict"]:
            page.line((field["field"], STRONG), f": {truncate(field['value'] or 'null', _LONGEST)}")
            continue
        page.line((field["field"], STRONG), ": ", ("tips set different values; a merge must set it", BAD))
        for value in field["conflicting_values"][:_SHOWN]:
            page.line(f"{truncate(value['value'], _LONGEST)} by {label(value['message_id'])}", indent=1)
        if len(field["conflicting_values"]) > _SHOWN:
            page.line(f"… and {len(field['conflicting_values']) - _SHOWN:,} more (--json lists them)", indent=1)
