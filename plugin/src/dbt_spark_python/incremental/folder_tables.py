"""Planned tables in a warehouse of folders: the manifest is a file beside the data."""

from collections.abc import Collection, Mapping
from typing import Any

from dbt_spark_python.engines import sail
from dbt_spark_python.incremental.passes import PassedTests
from dbt_spark_python.incremental.replace import begin_replacement
from dbt_spark_python.incremental.tables import ChangedGroups, Replacement
from dbt_spark_python.table_store.catalog import FolderCatalog
from dbt_spark_python.table_store.public_folders import Publication, PublishedTable


class FolderTables:
    """Implements `tables.PlannedTables` for a warehouse of folders.

    Args:
        catalog: The catalog of the warehouse.
    """

    evidence, records_reuse = "files", True

    def __init__(self, catalog: FolderCatalog) -> None:
        self._catalog, self._warehouse = catalog, catalog.warehouse
        self.session = catalog.spark
        self.engine = "sail" if sail.is_sail(catalog.spark) else "spark"
        self.passes = PassedTests(catalog.warehouse)

    def manifest_of(self, schema: str, name: str) -> Mapping[str, Any]:
        """Return a table's manifest; empty if its files have changed since, or if it does not exist."""
        return self._warehouse.trusted_manifest(schema, name)

    def exists(self, schema: str, name: str) -> bool:
        """Whether the folder of a table is intact."""
        return self._warehouse.find(schema, name) is not None

    def replaces_in_place(self, schema: str, name: str, file_format: str | None) -> bool:
        """Return false: a new table is built in another folder, which then takes the place of the old one."""
        return False

    def publish(self, schema: str, name: str, run_id: str, publication: Publication) -> None:
        """Move a new table to its public place."""
        self._catalog.publish(schema, name, run_id, publication)

    def record_reuse(self, schema: str, name: str, run_id: str, publication: Publication) -> None:
        """Write the run into the manifest."""
        self._warehouse.record_reuse(schema, name, run_id, publication)

    def begin_replacement(self, name: tuple[str, str], groups: ChangedGroups) -> Replacement:
        """Begin to replace the rows of changed groups; see `replace.begin_replacement`."""
        return begin_replacement(self._catalog, name, groups)

    def published(self, schema: str, unfinished: Collection[tuple[str, str]] = ()) -> list[PublishedTable]:
        """Return the published tables of a schema; a node that failed has published none of its rows."""
        return self._warehouse.published(schema)

    def maintain(self, schema: str, name: str, keep_days: int) -> bool:
        """Return false: runs rewrite tables of many small files, and old files are deleted at once."""
        return False
