"""The interface through which planned runs read manifests and publish tables, for every kind of storage."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pyspark.sql import DataFrame, SparkSession

from dbt_spark_python.incremental.earlier import changed_groups
from dbt_spark_python.incremental.passes import PassedTests
from dbt_spark_python.table_store.public_folders import Publication, PublishedTable


class ChangedGroups(NamedTuple):
    """The changed groups of a complete table; a run replaces their rows."""

    key: str  # The SQL expression of a row's group
    versions: str  # The table of group versions
    column: str  # Its column that names a group
    since: int  # Groups with a later version have changed
    are_few: bool = False  # Whether joins broadcast their keys

    def keys(self, session: SparkSession) -> DataFrame:
        """Return the keys of the groups; see `earlier.changed_groups`."""
        return changed_groups(session.table(self.versions), self.since, self.column, self.are_few)


class Replacement(NamedTuple):
    """A replacement of the rows of changed groups that has begun.

    Attributes:
        kept: The rows of other groups that the new table has to contain; None if `finish` provides them.
        finish: Ends the replacement, when the new table exists. It takes the name of that table, in the same schema,
            and the key columns if changed rows are counted. It returns the numbers of added, changed and removed rows,
            if they are counted.
    """

    kept: DataFrame | None
    finish: Callable[[str, Sequence[str] | None], dict[str, int] | None]


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
        """Whether each statement changes a table of this format in one commit, while the table is read."""

    def publish(self, schema: str, name: str, run_id: str, publication: Publication) -> None:
        """Publish a new table or view together with its manifest."""

    def record_reuse(self, schema: str, name: str, run_id: str, publication: Publication) -> None:
        """Record that a run reused a published table."""

    def begin_replacement(self, name: tuple[str, str], groups: ChangedGroups) -> Replacement:
        """Begin to replace the rows of changed groups in a published table.

        Args:
            name: The schema and name of the table.
            groups: The changed groups.
        """

    def published(self, schema: str, unfinished: Collection[tuple[str, str]] = ()) -> list[PublishedTable]:
        """Return the published tables of a schema.

        Args:
            schema: The schema.
            unfinished: The names of tables whose nodes failed in this command; their rows may have changed.
        """

    def maintain(self, schema: str, name: str, keep_days: int) -> bool:
        """Merge small files of a table, and delete snapshots older than `keep_days`; return whether the format can."""
