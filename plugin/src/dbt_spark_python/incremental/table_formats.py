"""Snapshots of Iceberg and Delta Lake tables: compares the current one with a noted one, and deletes old ones.

A snapshot is named by its id in Iceberg and by its version in Delta Lake. Compaction, deletion of old snapshots, and
changes of properties and comments keep the rows, so a table has the rows of a noted snapshot if only such commits came
later.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, Protocol

Execute = Callable[[str], Sequence[Sequence[Any]]]

#: The latest commits of a Delta table that are read. If more have come since the noted one, the table is rebuilt.
_COMMITS = 50
#: The operations of Delta Lake, as `describe history` names them, that keep all rows.
_KEEPS_ROWS = frozenset(
    {
        "ADD CONSTRAINT",
        "CHANGE COLUMN",
        "DROP CONSTRAINT",
        "OPTIMIZE",
        "SET TBLPROPERTIES",
        "UNSET TBLPROPERTIES",
        "VACUUM END",
        "VACUUM START",
    }
)


class TableFormat(Protocol):
    """A format whose tables keep a history of snapshots.

    Attributes:
        drop: The words that follow `drop table <name>`, so that the files are deleted as well.
        file: The metadata column with the file of a row.
    """

    drop: str
    file: str

    def current(self, execute: Execute, table: str, properties: Mapping[str, str]) -> str:
        """Return the name of a table's current snapshot."""

    def current_with_rows_of(
        self, execute: Execute, table: str, properties: Mapping[str, str], noted: str
    ) -> str | None:
        """Return the name of a table's current snapshot if it has the rows of a noted one; otherwise None."""

    def maintain(self, execute: Execute, table: str, keep_days: int) -> None:
        """Merge small files of a table, and delete snapshots that are older than some days."""


class Iceberg:
    """Apache Iceberg."""

    drop, file = "purge", "_file"

    def current(self, execute: Execute, table: str, properties: Mapping[str, str]) -> str:
        """Return the id of the current snapshot, which Iceberg shows among the properties."""
        return properties["current-snapshot-id"]

    def current_with_rows_of(
        self, execute: Execute, table: str, properties: Mapping[str, str], noted: str
    ) -> str | None:
        """Return the current snapshot if only snapshots with the operation `replace` followed the noted one."""
        current = reached = self.current(execute, table, properties)
        if current == noted:
            return current
        replacing = execute(
            "select cast(snapshot_id as string), cast(parent_id as string) "
            f"from {table}.snapshots where operation = 'replace'"
        )
        parents = {str(snapshot): str(parent) for snapshot, parent in replacing}
        while reached != noted and reached in parents:
            reached = parents.pop(reached)
        return current if reached == noted else None

    def maintain(self, execute: Execute, table: str, keep_days: int) -> None:
        """Call the procedures `rewrite_data_files` and `expire_snapshots` of the current catalog."""
        ((catalog,),) = execute("select current_catalog()")
        name = table.replace("`", "")
        oldest = (datetime.now(timezone.utc) - timedelta(days=keep_days)).strftime("%Y-%m-%d %H:%M:%S+00:00")
        execute(f"call {catalog}.system.rewrite_data_files(table => '{name}')")
        execute(f"call {catalog}.system.expire_snapshots(table => '{name}', older_than => timestamp '{oldest}')")


class Delta:
    """Delta Lake."""

    drop, file = "", "_metadata.file_path"

    def current(self, execute: Execute, table: str, properties: Mapping[str, str]) -> str:
        """Return the version of the latest commit."""
        return str(max(self._operations(execute, table, 1)))

    def current_with_rows_of(
        self, execute: Execute, table: str, properties: Mapping[str, str], noted: str
    ) -> str | None:
        """Return the current version if all commits since the noted version keep the rows."""
        operations = self._operations(execute, table, _COMMITS)
        current = max(operations)
        later = range(int(noted) + 1, current + 1)
        is_same = int(noted) <= current and all(operations.get(each) in _KEEPS_ROWS for each in later)
        return str(current) if is_same else None

    def maintain(self, execute: Execute, table: str, keep_days: int) -> None:
        """Run `optimize` and `vacuum`. Delta Lake refuses less than 7 days, unless a setting permits it."""
        execute(f"optimize {table}")
        execute(f"vacuum {table} retain {24 * keep_days} hours")

    def _operations(self, execute: Execute, table: str, limit: int) -> dict[int, str]:
        return {int(row[0]): str(row[4]) for row in execute(f"describe history {table} limit {limit}")}


#: The formats by the names that the config `file_format` has for them.
FORMATS: dict[str, TableFormat] = {"iceberg": Iceberg(), "delta": Delta()}


def format_of(properties: Mapping[str, str]) -> str | None:
    """Return the name of a table's format, from its properties; None if it keeps no snapshots."""
    if (properties.get("format") or "").startswith("iceberg/"):
        return "iceberg"
    return "delta" if "delta.minReaderVersion" in properties else None
