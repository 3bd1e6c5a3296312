"""Stores the rows of fixpoint rounds: behind temporary views of a session, or as tables of a server."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from dbt_spark_python.engines import sail
from dbt_spark_python.incremental.table_formats import drop_table

#: A round of at most this many rows is broadcast to all tasks of the next round.
BROADCAST_ROWS = 100_000


class Counts(NamedTuple):
    """The row counts of one round: settled rows, and rows that wait for others."""

    settled: int
    waiting: int


class Store(Protocol):
    """Keeps the rows of queries until they are dropped.

    Attributes:
        is_small: Whether all rows fit one task.
    """

    is_small: bool

    def keep(self, name: str, query: str) -> str:
        """Store the rows of a query and return the name by which SQL reads them."""

    def keep_round(self, name: str, query: str) -> tuple[str, Counts]:
        """Store the rows of a round and count them."""

    def count(self, table: str) -> int:
        """Count the rows of a table, or of a query in parentheses."""

    def drop(self, table: str) -> None:
        """Drop stored rows."""


class SessionStore:
    """Rows behind temporary views of a session, computed once.

    Args:
        spark: The session.
        prefix: The prefix of the views' names.

    Attributes:
        is_small: Whether all rows fit one task. They then stay in one partition, and rounds run without a shuffle.
    """

    def __init__(self, spark: SparkSession, prefix: str) -> None:
        self._spark, self._prefix = spark, prefix
        self.is_small = False

    def keep(self, name: str, query: str) -> str:
        """Store the rows of a query and return the view's name."""
        return self._show(name, self._rows(query).localCheckpoint())

    def keep_round(self, name: str, query: str) -> tuple[str, Counts]:
        """Store the rows of a round and count them."""
        measures = [sf.count_if("is_settled").alias("settled"), sf.count_if(~sf.col("is_settled")).alias("waiting")]
        rows = self._rows(query).localCheckpoint()
        found = rows.agg(*measures).first()
        counts = Counts(found["settled"], found["waiting"])
        if not self.is_small and sum(counts) <= BROADCAST_ROWS and not sail.is_sail(self._spark):
            rows = rows.hint("broadcast")
        return self._show(name, rows), counts

    def count(self, table: str) -> int:
        """Count the rows of a table, or of a query in parentheses."""
        return self._spark.sql(f"select * from {table}").count()

    def drop(self, table: str) -> None:
        """Drop a view together with its rows."""
        self._spark.catalog.dropTempView(table)

    def _rows(self, query: str) -> Any:
        rows = self._spark.sql(query)
        return rows.coalesce(1) if self.is_small else rows

    def _show(self, name: str, rows: Any) -> str:
        rows.createOrReplaceTempView(f"{self._prefix}_{name}")
        return f"{self._prefix}_{name}"


class TableStore:
    """Rows as tables of a server, beside the model's own table.

    Args:
        execute: Runs a statement and returns its rows.
        table: The model's table, as SQL names it.
        file_format: The file format of the tables.
    """

    def __init__(self, execute: Callable[[str], Sequence[Sequence[Any]]], table: str, file_format: str) -> None:
        self._execute, self._table, self._file_format = execute, table, file_format
        self.is_small = False  # a server chooses its own partitions

    def keep(self, name: str, query: str) -> str:
        """Store the rows of a query and return the table's name."""
        table = f"{self._table}__{name}"
        self.drop(table)
        self._execute(f"create table {table} using {self._file_format} as {query}")
        return table

    def keep_round(self, name: str, query: str) -> tuple[str, Counts]:
        """Store the rows of a round and count them."""
        table = self.keep(name, query)
        ((settled, waiting),) = self._execute(f"select count_if(is_settled), count_if(not is_settled) from {table}")
        return table, Counts(int(settled), int(waiting))

    def count(self, table: str) -> int:
        """Count the rows of a table, or of a query in parentheses."""
        return int(self._execute(f"select count(*) from {table}")[0][0])

    def drop(self, table: str) -> None:
        """Drop a table."""
        drop_table(self._execute, table, self._file_format)
