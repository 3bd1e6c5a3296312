"""Converts the columns of tables between Spark and Arrow."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

if TYPE_CHECKING:
    import pyarrow as pa


def nullable(columns: StructType) -> StructType:
    """Return the same columns as nullable, as Spark reads the columns of files."""
    return StructType([StructField(column.name, column.dataType) for column in columns])


def arrow_schema(columns: StructType) -> pa.Schema:
    """Convert columns to an Arrow schema; times are in UTC, as in Spark."""
    # Since pyspark 4.3 a schema with a timestamp requires a zone.
    zone = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    return to_arrow_schema(columns, **zone)


def write_no_rows(folder: Path, columns: StructType) -> None:
    """Write a parquet file without rows into a folder, which is created if needed.

    The columns are nullable as the reader declares them: Sail refuses a nullable list in a file if the table declares
    the list as not null (until 0.7.2 at least).
    """
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(arrow_schema(columns).empty_table(), folder / "part-0.parquet", compression="zstd")
