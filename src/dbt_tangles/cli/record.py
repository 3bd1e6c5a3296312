"""The fields of a record (a tangle whose messages set fields), for `show` and `why`."""

from dbt_tangles.cli import messages
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
        """select field, strategy, value, is_conflict, set_by, conflicting_values from record_fields
        where tangle_name = $name and root_id = $root order by field""",
        name=name,
        root=root,
    )


def explain_member(tables: Tables, name: str, root: str, message_id: str) -> dict | None:
    """Explain a member's part in a record: the fields that it `sets`, and those of them in conflict.

    `left_out` says why it does not count (an entry of `records.left_out`). None for other tangles.
    """
    if not tables.files("records"):
        return None
    row = tables.row(
        """select status, [each for each in left_out if each.message_id = $id][1] as left_out
        from records where tangle_name = $name and root_id = $root""",
        name=name,
        root=root,
        id=message_id,
    )
    if row is None:
        return None
    fields = [field for field in read_fields(tables, name, root) if message_id in field["set_by"]]
    conflicts = [field["field"] for field in fields if field["is_conflict"]]
    return {**row, "sets": [field["field"] for field in fields], "conflicts": conflicts}


def read_end(tables: Tables, name: str, root: str) -> tuple[dict[str, str], list[str]]:
    """Read the members that a record leaves out, each with its reason, and its tips; empty if all members count."""
    if not tables.files("records"):
        return {}, []
    row = tables.row(
        "select tips, left_out from records where tangle_name = $name and root_id = $root and len(left_out) > 0",
        name=name,
        root=root,
    )
    return ({each["message_id"]: each["reason"] for each in row["left_out"]}, row["tips"]) if row else ({}, [])


def left_out_words(left_out: dict) -> str:
    """Say why the record leaves a message out."""
    if left_out["cause_id"]:
        return f"the record leaves out the message, because it follows {left_out['cause_id']}, which does not count"
    fields = f" ({join_names(left_out['fields'])})" if left_out["fields"] else ""
    meaning = messages.record(left_out["reason"]).rstrip(".")
    return f"the record leaves out the message and its followers: {meaning[0].lower()}{meaning[1:]}{fields}"


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
