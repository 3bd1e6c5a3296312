"""The interface through which planned runs read manifests and publish tables, for every kind of storage."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pyspark.sql import SparkSession

from dbt_spark_python.incremental.passes import PassedTests
from dbt_spark_python.table_store.public_folders import Publication, PublishedTable


class ChangedGroups(NamedTuple):
    """The changed groups of a complete table; a run replaces their rows.

    Attributes:
        key: The SQL expression of a row's group.
        versions: The table of group versions.
        column: Its column that names a group.
        since: Groups with a later version have changed.
        are_few: Whether joins broadcast their keys.
    """

    key: str
    versions: str
    column: str
    since: int
    are_few: bool = False


class PlannedTables(Protocol):
    """The tables of a warehouse with their manifests.

    Attributes:
        session: The session of Python models, unless the connection runs SQL only.
        engine: The engine's name, `spark` or `sail`.
        passes: The record of tests that passed, in a warehouse of folders.
        evidence: The word in messages for the part of a table that its manifest describes: `files` or `snapshot`.
        records_reuse: Whether a manifest names the last run that reused its table.
    """

    session: SparkSession | None
    engine: str
    passes: PassedTests | None
    evidence: str
    records_reuse: bool

    def manifest_of(self, schema: str, name: str) -> Mapping[str, Any]:
        """Return a table's manifest; empty if the table is missing or has changed since it was published."""

    def exists(self, schema: str, name: str) -> bool:
        """Whether a readable table exists."""

    def replaces_in_place(self, schema: str, name: str, file_format: str | None) -> bool:
        """Whether `create or replace` and `merge` change a table of this format in one commit, while it is read."""

    def publish(self, schema: str, name: str, run_id: str, publication: Publication) -> None:
        """Publish a new table or view together with its manifest."""

    def record_reuse(self, schema: str, name: str, run_id: str, publication: Publication) -> None:
        """Record that a run reused a published table."""

    def replace_groups(
        self, name: tuple[str, str], made: str, groups: ChangedGroups, key_columns: Sequence[str] | None
    ) -> dict[str, int] | None:
        """Replace the rows of changed groups in a published table.

        Args:
            name: The schema and name of the table.
            made: The name of a table in the same schema, with the new rows of these groups.
            groups: The changed groups.
            key_columns: The key columns, if changed rows are counted.

        Returns:
            The numbers of added, changed and removed rows, if they are counted.
        """

    def published(self, schema: str) -> list[PublishedTable]:
        """Return the published tables of a schema."""

    def maintain(self, schema: str, name: str, keep_days: int) -> bool:
        """Merge small files of a table, and delete snapshots older than `keep_days`; return whether the format can."""
