"""Keeps Spark's catalog in memory in step with a warehouse of folders."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from dbt_spark_python.engines import sail
from dbt_spark_python.incremental.counts import count_differing, count_rows
from dbt_spark_python.python_model.columns import nullable, write_no_rows
from dbt_spark_python.session.progress import say
from dbt_spark_python.table_store.damage import complaints, is_damaged, note_damage
from dbt_spark_python.table_store.warehouse import Publication, PublishedTable, Warehouse, WarehouseError, is_delta

# Where Spark keeps a table's own schema in its files.
_SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"


class FolderCatalog:
    """The catalog of one Spark session over a warehouse.

    A public table is an external one to Spark, so that dropping it leaves the files; a new one is a managed one in
    the process's own folder until it is published.
    """

    def __init__(self, spark: SparkSession, warehouse: Warehouse) -> None:
        self.spark = spark
        self.warehouse = warehouse
        self._listed: dict[tuple[str, str], PublishedTable] = {}

    def refresh(self) -> None:
        """List what the folders hold now; what is listed already and has not changed is left alone.

        Damaged tables are named in a line each, and not listed.
        """
        for line in complaints(self.warehouse.root):
            say(line)
        held = {(table.schema, table.name): table for table in self.warehouse.published()}
        for key in self._listed.keys() - held.keys():
            self.spark.sql(f"drop table if exists {full_name(*key)}")
            del self._listed[key]
        for schema in sorted({schema for schema, _ in held}):
            self.make_schema(schema)
            known = {row["tableName"] for row in self.spark.sql(f"show tables in {quoted(schema)}").collect()}
            for key, table in held.items():
                if key[0] == schema and (key[1] not in known or self._listed.get(key) != table):
                    self._list_unless_damaged(table)
        self._make_views()

    def _list_unless_damaged(self, table: PublishedTable) -> None:
        """List a public table, or name it if it turns out to be damaged.

        Raises:
            WarehouseError: It cannot be listed, and its manifest does not tell whether it is damaged.
        """
        try:
            self._list(table)
        except Exception as error:
            damage = note_damage(self.warehouse, table.schema, table.name)
            if damage is None:
                raise WarehouseError(
                    f"the table '{table.schema}.{table.name}' cannot be read: {error}. Remove its folder "
                    f"{str(table.folder)!r}, and a build makes it anew"
                ) from error
            say(f"{damage}. It counts as missing; a build that selects it makes it anew")

    def _make_views(self) -> None:
        """Make the views, those that read other views after these; one whose tables are gone is left out."""
        waiting = list(self.warehouse.views().values())
        while waiting:
            failed = [statement for statement in waiting if not self._make_view(statement)]
            if len(failed) == len(waiting):
                return
            waiting = failed

    def _make_view(self, statement: str) -> bool:
        try:
            self.spark.sql(statement.replace("CREATE VIEW", "CREATE OR REPLACE VIEW", 1))
        except AnalysisException:
            return False
        return True

    def make_schema(self, schema: str) -> None:
        """Make a schema, if there is none yet; its new tables go to this process's own folder."""
        schema = schema.lower()  # as Spark names its folder
        if schema != "default":
            place = literal(self.warehouse.private_place(schema, "").as_posix())
            self.spark.sql(f"create schema if not exists {quoted(schema)} location '{place}'")

    def publish(self, schema: str, name: str, run_id: str, publication: Publication) -> None:
        """Move a new table to its public place, or keep a view; nothing where this process made no such thing.

        Args:
            schema: Its schema.
            name: Its name.
            run_id: Who built it.
            publication: What its manifest tells of its origin, and how its changes are counted.

        Raises:
            WarehouseError: The warehouse cannot take it.
        """
        schema, name = schema.lower(), name.lower()  # as Spark names their folders
        place = self.warehouse.private_place(schema, name)
        facts = {} if place.is_dir() else self._facts(schema, name)
        if facts.get("Type") == "VIEW":
            self._listed.pop((schema, name), None)
            statement = f"CREATE VIEW {full_name(schema, name)} AS {facts['View Text']}"
            self.warehouse.publish_view(schema, name, statement)
        # A new table without rows may have no files yet.
        elif place.is_dir() or facts.get("Location", "").removeprefix("file:") == str(place):
            self._write_empty(schema, name)
            # Of columns that are folders' names nobody else knows the type.
            said = self._columns_of(schema, name).json() if partition_columns(place) else None
            grain = publication.grain
            count = None if grain is None else self._unless_damaged(schema, name, self._count_changes)
            self._list(
                self.warehouse.publish(
                    schema, name, run_id, publication, said, count and (lambda: count(schema, name, grain))
                )
            )

    def _count_changes(self, schema: str, name: str, grain: Sequence[str]) -> dict[str, int] | None:
        """Count the rows in which a new table differs from the public one; None where that cannot be known."""
        new, before = self.warehouse.private_place(schema, name), self.warehouse.find(schema, name)
        if is_delta(new) or (before is None and is_damaged(self.warehouse, schema, name)):
            return None
        if before is None:
            return {"rows_added": count_rows(new), "rows_changed": 0, "rows_removed": 0}
        if not self.warehouse.trusted_manifest(schema, name):
            return None
        old = self.reader(before).parquet(str(before.folder))
        return count_differing(old, self.spark.table(full_name(schema, name)), grain)

    def _unless_damaged(self, schema: str, name: str, compare: Callable) -> Callable:
        """A comparison with a public table, which returns None where the table turns out to be damaged."""

        def compared(*args: Any) -> Any:
            try:
                return compare(*args)
            except Exception:
                damage = note_damage(self.warehouse, schema, name)
                if damage is None:
                    raise
                say(f"{damage}. It is made anew")
                return None

        return compared

    def rename(self, schema: str, name: str, other: str) -> bool:
        """Give a new table of this process another name, with its files; False where it has no files to be moved."""
        schema, name, other = schema.lower(), name.lower(), other.lower()
        place, to = self.warehouse.private_place(schema, name), self.warehouse.private_place(schema, other)
        if not place.is_dir():
            return False
        columns = self._columns_of(schema, name)
        self.warehouse.forget(schema, other)
        place.rename(to)
        self.spark.sql(f"drop table {full_name(schema, name)}")
        self._declare(schema, other, to, columns)
        return True

    def checkout(self, schema: str, name: str) -> None:
        """Make a public table one of this process's own, with the same files, for a model that adds to it."""
        schema, name = schema.lower(), name.lower()
        table = self._listed.pop((schema, name), None)
        if table is None:
            return
        columns = self._columns_of(schema, name)
        self.spark.sql(f"drop table {full_name(schema, name)}")
        self.warehouse.forget(schema, name)
        self.warehouse.checkout(schema, name)
        self._declare(schema, name, self.warehouse.private_place(schema, name), columns)

    def append(self, schema: str, name: str, rows: DataFrame) -> None:
        """Add rows to a new table of this process; their columns are in the order of the table's."""
        rows.write.insertInto(full_name(schema, name))

    def reader(self, table: PublishedTable) -> DataFrameReader:
        """Reads files of a public table, with the columns it has."""
        columns = read_schema(table)
        return self.spark.read.schema(columns) if columns else self.spark.read

    def part(self, schema: str, name: str) -> None:
        """Take a public table out of this session's catalog: what is made in its place must not go to its folder.

        Formats with logs of their own are replaced and not dropped, where they are.
        """
        table = self._listed.get((schema.lower(), name.lower()))
        if table and is_delta(table.folder):
            self.spark.sql(f"drop table {full_name(table.schema, table.name)}")
            del self._listed[table.schema, table.name]

    def _columns_of(self, schema: str, name: str) -> StructType:
        return nullable(self.spark.table(full_name(schema, name)).schema)

    def _facts(self, schema: str, name: str) -> dict[str, str]:
        """What the catalog says of a table or view, behind its columns; nothing where there is none."""
        try:
            rows = sail.ask(self.spark, f"describe extended {full_name(schema, name)}").collect()
        except AnalysisException:
            return {}
        return {row["col_name"]: row["data_type"] for row in rows}

    def _write_empty(self, schema: str, name: str) -> None:
        """Give a new table without rows a file that says its columns, where the engine writes none for it."""
        place = self.warehouse.private_place(schema, name)
        if not is_delta(place) and (not place.is_dir() or next(place.rglob("*.parquet"), None) is None):
            write_no_rows(place, self.spark.table(full_name(schema, name)).schema)

    def make_room(self, schema: str, name: str) -> None:
        """Remove what a failed attempt left where a new table is going to be written."""
        left = self.warehouse.private_place(schema.lower(), name.lower())
        if left.is_dir() and not self.spark.catalog.tableExists(full_name(schema, name)):
            self.warehouse.forget(schema.lower(), name.lower())

    def _list(self, table: PublishedTable) -> None:
        name = full_name(table.schema, table.name)
        self.spark.sql(f"drop table if exists {name}")
        self._declare(table.schema, table.name, table.folder, read_schema(table))
        self._listed[table.schema, table.name] = table

    def _declare(self, schema: str, name: str, folder: Path, columns: StructType | None) -> None:
        """Make a table of the files in a folder; without columns they are inferred."""
        if is_delta(folder):
            self.spark.sql(f"create table {full_name(schema, name)} using delta location '{literal(folder)}'")
            return
        partitions = partition_columns(folder)
        listed = f"({', '.join(f'{quoted(c.name)} {type_name(c.dataType)}' for c in columns)})" if columns else ""
        by = f"partitioned by ({', '.join(map(quoted, partitions))})" if columns and partitions else ""
        self.spark.sql(
            f"create table {full_name(schema, name)} {listed} using parquet {by} location '{literal(folder)}'"
        )
        if partitions and not sail.is_sail(self.spark):  # which looks into the folder each time
            self.spark.sql(f"msck repair table {full_name(schema, name)}")


def partition_columns(folder: Path) -> list[str]:
    """The columns by whose values a table's files are in folders."""
    names = []
    while below := next((path for path in sorted(folder.iterdir()) if path.is_dir() and "=" in path.name), None):
        names.append(unquote(below.name.partition("=")[0]))
        folder = below
    return names


def read_schema(table: PublishedTable) -> StructType | None:
    """The schema of a table, as its builder left it or as Arrow reads it; None if it has to be inferred."""
    if table.columns:
        with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):  # a manifest may say anything
            return StructType.fromJson(json.loads(table.columns))
    if is_delta(table.folder) or partition_columns(table.folder):  # the log has them; files have no such columns
        return None
    found = pq.read_schema(next(table.folder.rglob("*.parquet")))
    if written := (found.metadata or {}).get(_SPARK_SCHEMA):
        return StructType.fromJson(json.loads(written))
    return nullable(from_arrow_schema(found))


def type_name(kind: DataType) -> str:
    """A type as SQL has it."""
    if isinstance(kind, ArrayType):
        return f"array<{type_name(kind.elementType)}>"
    if isinstance(kind, MapType):
        return f"map<{type_name(kind.keyType)}, {type_name(kind.valueType)}>"
    if isinstance(kind, StructType):
        return f"struct<{', '.join(f'{quoted(field.name)}: {type_name(field.dataType)}' for field in kind)}>"
    return kind.simpleString()


def full_name(schema: str, name: str) -> str:
    """A table's name as SQL has it."""
    return f"{quoted(schema)}.{quoted(name)}"


def quoted(identifier: str) -> str:
    """An identifier as SQL has it."""
    return "`" + identifier.replace("`", "``") + "`"


def literal(text: object) -> str:
    """The inside of a SQL string."""
    return str(text).replace("\\", "\\\\").replace("'", "\\'")
