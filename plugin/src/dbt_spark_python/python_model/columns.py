"""Columns of tables, as Spark has them."""

from inspect import signature
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType


def nullable(columns: StructType) -> StructType:
    """The same columns, any of which may be null, as those of files are to Spark."""
    return StructType([StructField(column.name, column.dataType) for column in columns])


def arrow_schema(columns: StructType) -> pa.Schema:
    """The same columns as Arrow has them; times are in UTC, as Spark keeps them."""
    # Since pyspark 4.3 a schema with a time is refused unless the zone is said.
    zone = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    return to_arrow_schema(columns, **zone)


def write_no_rows(folder: Path, columns: StructType) -> None:
    """Write a parquet file without rows into a folder, which is made if need be.

    Args:
        folder: Where the file goes.
        columns: Its columns, nullable as the reader will declare them: Sail refuses a nullable list of a file where the
            table declares the list as not null (until 0.6.6 at least).
    """
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(arrow_schema(columns).empty_table(), folder / "part-0.parquet", compression="zstd")
