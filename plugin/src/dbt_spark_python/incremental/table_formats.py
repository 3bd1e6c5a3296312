"""Snapshots of Iceberg and Delta Lake tables: compares the current one with a noted one, and deletes old ones.

A snapshot is named by its id in Iceberg and by its version in Delta Lake. Compaction, deletion of old snapshots, and
changes of properties and comments keep the rows, so a table has the rows of a noted snapshot if only such commits came
later.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from dbt_spark_python.table_store.catalog import literal, quoted

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

#: The retention of a Delta table's unused files. Older versions cannot be read, and `vacuum` deletes their files.
_RETENTION = "delta.deletedFileRetentionDuration"
#: The retention of its commits, which must be at least as long; Delta Lake's default is 30 days.
_LOG_RETENTION, _LOG_DAYS = "delta.logRetentionDuration", 30
#: The error conditions of a query of a snapshot that is older than the retention.
TOO_OLD = frozenset({"DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION"})

#: Iceberg's error if a table's property `gc.enabled` forbids the deletion of its files.
_KEEPS_FILES = "GC is disabled"


class Iceberg:
    """Apache Iceberg. Each method takes the function that runs a statement, the table's name, and its properties."""

    def current(self, execute: Execute, table: str, properties: Mapping[str, str]) -> str:
        """Return the id of the current snapshot, which Iceberg shows among the properties."""
        return properties["current-snapshot-id"]

    def current_with_rows_of(
        self, execute: Execute, table: str, properties: Mapping[str, str], noted: str
    ) -> str | None:
        """Return the current snapshot if it has the rows of the noted one: only snapshots of `replace` followed."""
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

    def maintain(self, execute: Execute, table: str, properties: Mapping[str, str], keep_days: int) -> None:
        """Merge small files, and delete snapshots older than some days, by the current catalog's procedures."""
        ((catalog,),) = execute("select current_catalog()")
        procedures, name = f"{quoted(catalog)}.system", literal(table)
        oldest = (datetime.now(timezone.utc) - timedelta(days=keep_days)).strftime("%Y-%m-%d %H:%M:%S+00:00")
        execute(f"call {procedures}.rewrite_data_files(table => '{name}')")
        execute(f"call {procedures}.expire_snapshots(table => '{name}', older_than => timestamp '{oldest}')")


class Delta:
    """Delta Lake; its methods are those of `Iceberg`."""

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

    def maintain(self, execute: Execute, table: str, properties: Mapping[str, str], keep_days: int) -> None:
        """Set the retention of a table if it is another one, and run `optimize` and `vacuum`, which obey it."""
        if properties.get(_RETENTION) != f"interval {keep_days} days":
            days = {_RETENTION: keep_days, _LOG_RETENTION: max(keep_days, _LOG_DAYS)}
            settings = ", ".join(f"'{name}' = 'interval {each} days'" for name, each in days.items())
            execute(f"alter table {table} set tblproperties ({settings})")
        execute(f"optimize {table}")
        execute(f"vacuum {table}")

    def _operations(self, execute: Execute, table: str, limit: int) -> dict[int, str]:
        return {int(row[0]): str(row[4]) for row in execute(f"describe history {table} limit {limit}")}


#: The formats by the names that the config `file_format` has for them.
FORMATS: dict[str, Iceberg | Delta] = {"iceberg": Iceberg(), "delta": Delta()}


def format_of(properties: Mapping[str, str]) -> str | None:
    """Return the name of a table's format, from its properties; None if it keeps no snapshots."""
    if (properties.get("format") or "").startswith("iceberg/"):
        return "iceberg"
    return "delta" if "delta.minReaderVersion" in properties else None


def drop_iceberg(execute: Execute, table: str) -> None:
    """Drop a table of Iceberg if it exists. Most catalogs delete its files only with the word `purge`.

    The files of a table with the property `gc.enabled` = `false` remain.
    """
    try:
        execute(f"drop table if exists {table} purge")
    except Exception as error:  # of dbt or of Spark, as the connection raises it
        if _KEEPS_FILES not in str(error):
            raise
        execute(f"drop table if exists {table}")
