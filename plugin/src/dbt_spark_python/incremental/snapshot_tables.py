"""Planned tables of Iceberg or Delta Lake in a catalog: the manifest is a table property that names a snapshot.

A table is written in one commit; a second commit writes its manifest. If a process is killed between the two, the
manifest names an earlier snapshot (Iceberg) or is gone (Delta Lake), so the next run rebuilds the table, as it does
after a change by another program.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt_spark_python.incremental.counts import COUNTS, count_changes
from dbt_spark_python.incremental.table_formats import FORMATS, TOO_OLD, Execute, format_of
from dbt_spark_python.table_store import manifest
from dbt_spark_python.table_store.catalog import full_name
from dbt_spark_python.table_store.public_folders import Publication, PublishedTable

#: The table property with the manifest: JSON, as hexadecimal digits of its UTF-8 bytes. `show tblproperties` withholds
#: a value that contains words such as "url" or "token", which may be part of a model's name.
PROPERTY = "dbt_spark_python.manifest"
#: The entry of a manifest that names a later snapshot with the same rows: in a table's properties that after the last
#: maintenance, and in memory the current one. `content` stays as it is, because tables that were built from it note it.
_CURRENT = "snapshot"
_HEX = re.compile("([2-7][0-9a-f])*")  # JSON in ASCII


class SnapshotTables:
    """The tables of a catalog. `execute` runs a statement, and `names` returns the names of the tables in a schema.

    `find_session` returns the session of Python models, once a statement has opened it; without one, changed rows are
    not counted.
    """

    engine, passes = "spark", None
    records_reuse = False  # a commit per table and run would cost more than the run

    def __init__(
        self, execute: Execute, names: Callable[[str], Sequence[str]], find_session: Callable[[], SparkSession | None]
    ) -> None:
        self._execute, self._names, self._find_session = execute, names, find_session
        #: Manifests by schema and name; empty if the table has changed since, None if it does not exist.
        self._known: dict[tuple[str, str], Mapping[str, Any] | None] = {}

    @property
    def session(self) -> SparkSession | None:
        """Return the session of Python models."""
        return self._find_session()

    def manifest_of(self, schema: str, name: str) -> Mapping[str, Any]:
        """Return a table's manifest; empty if the table has another snapshot, or if it does not exist."""
        if (schema, name) not in self._known:
            self._known[schema, name] = self._read(schema, name)
        return self._known[schema, name] or {}

    def exists(self, schema: str, name: str) -> bool:
        """Whether a table exists."""
        return name in self._names(schema)

    def replaces_in_place(self, schema: str, name: str, file_format: str | None) -> bool:
        """Whether a table of this format can be created, or replaces the existing one in one commit."""
        if file_format not in FORMATS or not self.exists(schema, name):
            return file_format in FORMATS
        return self._read_properties(schema, name)[0] == file_format

    def publish(self, schema: str, name: str, run_id: str, publication: Publication) -> None:
        """Write the manifest of a new table into its properties; tables of other formats have none."""
        table, before = full_name(schema, name), self._known.pop((schema, name), {})
        kind, properties = self._read_properties(schema, name)
        if kind is None:
            return
        changes = self._count(table, before, publication)
        content = FORMATS[kind].current(self._execute, table, properties)
        self._write_manifest((schema, name), manifest.describe(run_id, publication, before or {}, content, changes))

    def published(self, schema: str, unfinished: Collection[tuple[str, str]] = ()) -> list[PublishedTable]:
        """Return the tables of a schema that have a manifest and have not changed since."""
        for each in unfinished:
            self._known.pop(each, None)
        fields = "built_at", "changed_in", "changes", _CURRENT
        found = {name: self.manifest_of(schema, name) for name in sorted(self._names(schema))}
        return [
            PublishedTable(schema, name, None, **{field: noted.get(field) for field in fields})
            for name, noted in found.items()
            if noted
        ]

    def maintain(self, schema: str, name: str, keep_days: int) -> bool:
        """Merge small files and delete old snapshots; return whether the table has a format that can.

        The manifest then names the new snapshot, too, so the commits between the two may be deleted.
        """
        noted = self.manifest_of(schema, name)
        kind, properties = self._read_properties(schema, name) if self.exists(schema, name) else (None, {})
        if kind is None:
            return False
        table = full_name(schema, name)
        FORMATS[kind].maintain(self._execute, table, properties, keep_days)
        current = FORMATS[kind].current(self._execute, table, self._read_properties(schema, name)[1])
        if noted and noted[_CURRENT] != current:
            self._write_manifest((schema, name), {**noted, _CURRENT: current})
        return True

    def _write_manifest(self, key: tuple[str, str], entries: Mapping[str, Any]) -> None:
        """Write a manifest into the properties of a table."""
        text = json.dumps(entries).encode().hex()
        self._execute(f"alter table {full_name(*key)} set tblproperties ('{PROPERTY}' = '{text}')")
        self._known[key] = {_CURRENT: entries["content"], **entries}

    def _read(self, schema: str, name: str) -> Mapping[str, Any] | None:
        if not self.exists(schema, name):
            return None
        table = full_name(schema, name)
        kind, properties = self._read_properties(schema, name)
        text = properties.get(PROPERTY) or ""
        noted = manifest.parse(bytes.fromhex(text).decode())[0] if _HEX.fullmatch(text) else {}
        if kind is None or not noted.get("content"):
            return {}
        latest = str(noted.get(_CURRENT) or noted["content"])
        current = FORMATS[kind].current_with_rows_of(self._execute, table, properties, latest)
        return {**noted, _CURRENT: current} if current else {}

    def _count(self, table: str, before: Mapping[str, Any] | None, publication: Publication) -> dict[str, int] | None:
        """Count the rows in which a new table differs from its earlier snapshot; None if that is unknown."""
        if publication.key_columns is None or self.session is None or before == {}:
            return None
        now = self.session.table(table)
        if before is None:
            return dict(zip(COUNTS, (now.count(), 0, 0), strict=True))
        try:
            # The noted snapshot has the same rows, but maintenance may have deleted it.
            earlier = self.session.sql(f"select * from {table} version as of {before[_CURRENT]}")
            return count_changes(earlier, now, publication)
        except PySparkException as error:
            if error.getCondition() not in TOO_OLD:
                raise
            return None

    def _read_properties(self, schema: str, name: str) -> tuple[str | None, dict[str, str]]:
        """Return the format and the properties of an existing table."""
        properties = {row[0]: row[1] for row in self._execute(f"show tblproperties {full_name(schema, name)}")}
        return format_of(properties), properties
