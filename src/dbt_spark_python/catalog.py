"""Keeps Spark's catalog in memory in step with a warehouse of folders."""

import json
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt_spark_python.warehouse import PublishedTable, Warehouse

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
        """List what the folders hold now; what is listed already and has not changed is left alone."""
        held = {(table.schema, table.name): table for table in self.warehouse.published()}
        for key in self._listed.keys() - held.keys():
            self.spark.sql(f"drop table if exists {full_name(*key)}")
            del self._listed[key]
        for schema in sorted({schema for schema, _ in held}):
            self.spark.sql(f"create schema if not exists {quoted(schema)}")
            known = {row["tableName"] for row in self.spark.sql(f"show tables in {quoted(schema)}").collect()}
            for key, table in held.items():
                if key[0] == schema and (key[1] not in known or self._listed.get(key) != table):
                    self._list(table)
        self._make_views()

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

    def _statement(self, schema: str, name: str) -> str:
        return self.spark.sql(f"show create table {full_name(schema, name)}").first()[0]

    def publish(self, schema: str, name: str, run_id: str) -> None:
        """Move a new table to its public place, or keep a view; nothing where this process made no such thing.

        Raises:
            WarehouseError: The warehouse cannot take it.
        """
        schema, name = schema.lower(), name.lower()  # as Spark names their folders
        if not self.spark.catalog.tableExists(full_name(schema, name)):
            return
        if self.warehouse.private_place(schema, name).is_dir():
            self._list(self.warehouse.publish(schema, name, run_id))
        elif self.spark.catalog.getTable(full_name(schema, name)).tableType == "VIEW":
            self._listed.pop((schema, name), None)
            self.warehouse.publish_view(schema, name, self._statement(schema, name))

    def checkout(self, schema: str, name: str) -> None:
        """Make a public table one of this process's own, with the same files, for a model that adds to it."""
        schema, name = schema.lower(), name.lower()
        table = self._listed.pop((schema, name), None)
        if table is None:
            return
        ddl = self._statement(schema, name)
        self.spark.sql(f"drop table {full_name(schema, name)}")
        self.warehouse.forget(schema, name)
        self.spark.sql(ddl[: ddl.rindex("LOCATION '")])
        self.warehouse.checkout(schema, name)
        self.spark.sql(f"refresh table {full_name(schema, name)}")
        if "PARTITIONED BY" in ddl:
            self.spark.sql(f"msck repair table {full_name(schema, name)}")

    def make_room(self, schema: str, name: str) -> None:
        """Remove what a failed attempt left where a new table is going to be written."""
        if not self.spark.catalog.tableExists(full_name(schema, name)):
            self.warehouse.forget(schema.lower(), name.lower())

    def _list(self, table: PublishedTable) -> None:
        name = full_name(table.schema, table.name)
        self.spark.sql(f"drop table if exists {name}")
        is_partitioned = any(path.is_dir() and "=" in path.name for path in table.folder.iterdir())
        schema = None if is_partitioned else read_schema(table.folder)
        columns = f"({schema.toDDL()})" if schema else ""
        self.spark.sql(f"create table {name} {columns} using parquet location '{literal(table.folder)}'")
        if is_partitioned:
            self.spark.sql(f"msck repair table {name}")
        self._listed[table.schema, table.name] = table


def read_schema(folder: Path) -> StructType | None:
    """The schema that Spark wrote into a table's files; None where somebody else wrote them, and Spark has to infer."""
    file = next(folder.rglob("*.parquet"))
    metadata = pq.read_schema(file).metadata or {}
    return StructType.fromJson(json.loads(metadata[_SPARK_SCHEMA])) if _SPARK_SCHEMA in metadata else None


def full_name(schema: str, name: str) -> str:
    """A table's name as SQL has it."""
    return f"{quoted(schema)}.{quoted(name)}"


def quoted(identifier: str) -> str:
    """An identifier as SQL has it."""
    return "`" + identifier.replace("`", "``") + "`"


def literal(text: object) -> str:
    """The inside of a SQL string."""
    return str(text).replace("\\", "\\\\").replace("'", "\\'")
