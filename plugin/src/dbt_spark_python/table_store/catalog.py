"""Keeps Spark's in-memory catalog in step with a folder warehouse."""

import json
from collections.abc import Collection
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from dbt_spark_python.engines import sail
from dbt_spark_python.fences.single_query import query_once
from dbt_spark_python.incremental.counts import COUNTS, count_changes
from dbt_spark_python.incremental.passes import PassedTests
from dbt_spark_python.python_model.columns import nullable, write_no_rows
from dbt_spark_python.session.progress import show_line
from dbt_spark_python.table_store.damage import list_damaged, record_damage
from dbt_spark_python.table_store.errors import WarehouseError
from dbt_spark_python.table_store.public_folders import Publication, PublishedTable, is_delta
from dbt_spark_python.table_store.warehouse import Warehouse

# The key under which Spark stores a table's schema in parquet files.
_SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"


class FolderCatalog:
    """The catalog of one Spark session over a warehouse.

    A published table is an external table to Spark, so dropping it keeps its files. A new table is a managed table in
    the process's own folder until it is published.
    """

    records_reuse = True  # whether manifests name the last run that reused a table

    def __init__(self, spark: SparkSession, warehouse: Warehouse) -> None:
        self.spark = self.session = spark
        self.engine = "sail" if sail.is_sail(spark) else "spark"
        self.warehouse, self.passes = warehouse, PassedTests(warehouse)
        self._registered: dict[tuple[str, str], PublishedTable] = {}

    def manifest_of(self, schema: str, name: str) -> dict[str, Any]:
        """Return a table's manifest; empty if its files have changed since, or if it does not exist."""
        return self.warehouse.trusted_manifest(schema, name)

    def exists(self, schema: str, name: str) -> bool:
        """Whether the folder of a table is intact."""
        return self.warehouse.find(schema, name) is not None

    def published(self, schema: str, unfinished: Collection[tuple[str, str]] = ()) -> list[PublishedTable]:
        """Return the published tables of a schema; a node that failed has published none of its rows."""
        return self.warehouse.published(schema)

    def refresh(self) -> None:
        """Register the published tables and views; entries that are already registered and unchanged stay.

        Damaged tables are logged, one line each, and left out.
        """
        for line in list_damaged(self.warehouse.root):
            show_line(line)
        held = {(table.schema, table.name): table for table in self.warehouse.published()}
        for key in self._registered.keys() - held.keys():
            self.spark.sql(f"drop table if exists {full_name(*key)}")
            del self._registered[key]
        for schema in sorted({schema for schema, _ in held}):
            self.make_schema(schema)
            known = {row["tableName"] for row in self.spark.sql(f"show tables in {quoted(schema)}").collect()}
            for key, table in held.items():
                if key[0] == schema and (key[1] not in known or self._registered.get(key) != table):
                    self._register_unless_damaged(table, key[1] in known)
        self._make_views()

    def _register_unless_damaged(self, table: PublishedTable, is_known: bool) -> None:
        """Register a published table, or log that it is damaged; `is_known` says if the catalog has its name."""
        try:
            self._register(table, is_known)
        except Exception as error:
            damage = record_damage(self.warehouse, table.schema, table.name)
            if damage is None:
                raise WarehouseError(
                    f"the table '{table.schema}.{table.name}' cannot be read: {error}. Remove its folder "
                    f"{str(table.folder)!r}; the next build of the table rebuilds it"
                ) from error
            show_line(f"{damage}. It counts as missing; the next build that selects it rebuilds it")

    def _make_views(self) -> None:
        """Create the views in dependency order; a view over missing tables is left out."""
        waiting, tried = list(self.warehouse.views().values()), 0
        while len(waiting) != tried:
            tried, failed = len(waiting), []
            for statement in waiting:
                try:
                    self.spark.sql(statement.replace("CREATE VIEW", "CREATE OR REPLACE VIEW", 1))
                except AnalysisException:
                    failed.append(statement)
            waiting = failed

    def make_schema(self, schema: str) -> None:
        """Create a schema if it does not exist; its new tables go to this process's own folder."""
        schema = schema.lower()  # Spark's folder name is in lower case
        if schema != "default":
            place = literal(self.warehouse.private_place(schema, "").as_posix())
            self.spark.sql(f"create schema if not exists {quoted(schema)} location '{place}'")

    def publish(self, schema: str, name: str, run_id: str, publication: Publication) -> None:
        """Publish a new table or view with its origin, if this process has created it."""
        schema, name = schema.lower(), name.lower()  # Spark's folder names are in lower case
        place = self.warehouse.private_place(schema, name)
        facts = {} if place.is_dir() else self._describe(schema, name)
        if facts.get("Type") == "VIEW":
            self._registered.pop((schema, name), None)
            statement = f"CREATE VIEW {full_name(schema, name)} AS {facts['View Text']}"
            self.warehouse.publish_view(schema, name, statement)
        # A new table without rows may still lack files.
        elif place.is_dir() or facts.get("Location", "").removeprefix("file:") == str(place):
            self._write_empty(schema, name)
            # The types of partition columns are recorded in the manifest, because files and folder names lack them.
            columns = self._columns_of(schema, name).json() if partition_columns(place) else None
            count = None if publication.key_columns is None else lambda: self._count(schema, name, publication)
            self._register(self.warehouse.publish(schema, name, run_id, publication, columns, count))

    def _count(self, schema: str, name: str, publication: Publication) -> dict[str, int] | None:
        """Count the rows in which a new table differs from the published one; None if the old rows are unknown."""
        before, new = self.warehouse.find(schema, name), self.spark.table(full_name(schema, name))
        if is_delta(self.warehouse.private_place(schema, name)):
            return None
        if before is None:
            if self.warehouse.public_place(schema, name).exists():  # a damaged table
                return None
            return dict(zip(COUNTS, (new.count(), 0, 0), strict=True))
        if not self.warehouse.trusted_manifest(schema, name):
            return None
        try:
            columns = read_schema(before)
            reader = self.spark.read.schema(columns) if columns else self.spark.read
            return count_changes(reader.parquet(str(before.folder)), new, publication)
        except Exception:
            damage = record_damage(self.warehouse, schema, name)
            if damage is None:
                raise
            show_line(f"{damage}. It is rebuilt now")
            return None

    def rename(self, schema: str, name: str, other: str) -> bool:
        """Rename a new table of this process together with its files; return False if it lacks files."""
        schema, name, other = schema.lower(), name.lower(), other.lower()
        place, to = self.warehouse.private_place(schema, name), self.warehouse.private_place(schema, other)
        if not place.is_dir():
            return False
        columns = self._columns_of(schema, name)
        self.warehouse.clear_leftovers(schema, other)
        place.rename(to)
        self.spark.sql(f"drop table {full_name(schema, name)}")
        self._create_over(schema, other, to, columns)
        return True

    def checkout(self, schema: str, name: str) -> None:
        """Copy a published table into this process's folder by links, for a model that adds rows to it."""
        schema, name = schema.lower(), name.lower()
        table = self._registered.pop((schema, name), None)
        if table is None:
            return
        columns = self._columns_of(schema, name)
        self.spark.sql(f"drop table {full_name(schema, name)}")
        self.warehouse.clear_leftovers(schema, name)
        self.warehouse.link_files((schema, name), (schema, name))
        self._create_over(schema, name, self.warehouse.private_place(schema, name), columns)

    def detach(self, schema: str, name: str) -> None:
        """Remove a published Delta table from the catalog, so that its replacement is written to another folder.

        Spark replaces such a table in place instead of dropping it.
        """
        table = self._registered.get((schema.lower(), name.lower()))
        if table and is_delta(table.folder):
            self.spark.sql(f"drop table {full_name(table.schema, table.name)}")
            del self._registered[table.schema, table.name]

    def _columns_of(self, schema: str, name: str) -> StructType:
        return nullable(self.spark.table(full_name(schema, name)).schema)

    def _describe(self, schema: str, name: str) -> dict[str, str]:
        """Return the catalog's description of a table or view; empty if it does not exist."""
        query = partial(query_once, self.spark) if self.engine == "sail" else self.spark.sql
        try:
            rows = query(f"describe extended {full_name(schema, name)}").collect()
        except AnalysisException:
            return {}
        return {row["col_name"]: row["data_type"] for row in rows}

    def _write_empty(self, schema: str, name: str) -> None:
        """Write a parquet file with the columns of an empty new table, if the engine wrote none."""
        place = self.warehouse.private_place(schema, name)
        if not is_delta(place) and (not place.is_dir() or next(place.rglob("*.parquet"), None) is None):
            write_no_rows(place, self.spark.table(full_name(schema, name)).schema)

    def clear_leftovers(self, schema: str, name: str) -> None:
        """Remove files of a failed attempt from the place where a new table will be written."""
        left = self.warehouse.private_place(schema.lower(), name.lower())
        if left.is_dir() and not self.spark.catalog.tableExists(full_name(schema, name)):
            self.warehouse.clear_leftovers(schema.lower(), name.lower())

    def _register(self, table: PublishedTable, is_known: bool = True) -> None:
        if is_known:
            self.spark.sql(f"drop table if exists {full_name(table.schema, table.name)}")
        self._create_over(table.schema, table.name, table.folder, read_schema(table))
        self._registered[table.schema, table.name] = table

    def _create_over(self, schema: str, name: str, folder: Path, columns: StructType | None) -> None:
        """Create a table over the files in a folder; without columns the schema is inferred."""
        if is_delta(folder):
            self.spark.sql(f"create table {full_name(schema, name)} using delta location '{literal(folder)}'")
            return
        partitions = partition_columns(folder)
        listed = f"({', '.join(f'{quoted(c.name)} {type_name(c.dataType)}' for c in columns)})" if columns else ""
        by = f"partitioned by ({', '.join(map(quoted, partitions))})" if columns and partitions else ""
        self.spark.sql(
            f"create table {full_name(schema, name)} {listed} using parquet {by} location '{literal(folder)}'"
        )
        if partitions and not sail.is_sail(self.spark):  # Sail lists the folder at each query
            self.spark.sql(f"msck repair table {full_name(schema, name)}")


def partition_columns(folder: Path) -> list[str]:
    """Return the partition columns of a table, from its folders' names."""
    names = []
    while below := next((path for path in sorted(folder.iterdir()) if path.is_dir() and "=" in path.name), None):
        names.append(unquote(below.name.partition("=")[0]))
        folder = below
    return names


def read_schema(table: PublishedTable) -> StructType | None:
    """Return the schema of a table from its manifest or its files; None if the engine has to infer it."""
    if table.columns:
        with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):  # untrusted input
            return StructType.fromJson(json.loads(table.columns))
    if is_delta(table.folder) or partition_columns(table.folder):  # Delta's log has it
        return None
    import pyarrow.parquet as pq

    found = pq.read_schema(next(table.folder.rglob("*.parquet")))
    if written := (found.metadata or {}).get(_SPARK_SCHEMA):
        return StructType.fromJson(json.loads(written))
    return nullable(from_arrow_schema(found))


def type_name(kind: DataType) -> str:
    """Write a type as SQL."""
    if isinstance(kind, ArrayType):
        return f"array<{type_name(kind.elementType)}>"
    if isinstance(kind, MapType):
        return f"map<{type_name(kind.keyType)}, {type_name(kind.valueType)}>"
    if isinstance(kind, StructType):
        return f"struct<{', '.join(f'{quoted(field.name)}: {type_name(field.dataType)}' for field in kind)}>"
    return kind.simpleString()


def full_name(schema: str, name: str) -> str:
    """Write a table's name as SQL."""
    return f"{quoted(schema)}.{quoted(name)}"


def quoted(identifier: str) -> str:
    """Quote an identifier for SQL."""
    return "`" + identifier.replace("`", "``") + "`"


def literal(text: object) -> str:
    """Escape a text for use inside a SQL string."""
    return str(text).replace("\\", "\\\\").replace("'", "\\'")
