"""The fields of a record (a tangle whose messages set fields), for `show` and `why`."""

from dbt_tangles.cli.tables import Tables


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
