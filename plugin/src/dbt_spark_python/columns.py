"""Columns of tables, as Spark has them."""

from pyspark.sql.types import StructField, StructType


def nullable(columns: StructType) -> StructType:
    """The same columns, any of which may be null, as those of files are to Spark."""
    return StructType([StructField(column.name, column.dataType) for column in columns])
