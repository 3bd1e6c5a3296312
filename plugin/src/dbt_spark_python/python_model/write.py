"""Writes the result of a Python model as a table, with configs that dbt-spark applies to SQL models only."""

import sys
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from dbt_spark_python.engines import sail
from dbt_spark_python.python_model.columns import nullable
from dbt_spark_python.python_model.retries import retry_over_unfinished
from dbt_spark_python.table_store.catalog import literal

# Stands between the code of a model and the name of its table, as the macro `sparkpython__create_table_as` writes it.
_TARGET = "\n# The table that dbt-spark-python writes: "

#: The suffix of the table with the new rows of an incremental model.
TEMPORARY = "__dbt_tmp"


def split(compiled_code: str) -> tuple[str, str]:
    """Divide compiled code into that of the model and dbt's helpers, and the name of the table to write."""
    code, _, target = compiled_code.rpartition(_TARGET)
    return code, target.strip()


def write(rows: DataFrame, target: str, config: Mapping[str, Any]) -> None:
    """Write a model's rows as a table, named as in SQL; an existing table is replaced.

    The config means the same as in SQL models; a temporary table uses its `file_format` only.
    """
    spark, kind = rows.sparkSession, config.get("file_format")
    if kind == "delta" and sail.is_sail(spark):  # where MERGE needs nullable columns, like those of Spark's tables
        rows = spark.createDataFrame([], nullable(rows.schema)).unionAll(rows)
    writer = rows.write.mode("overwrite")
    if kind:
        writer = writer.format(kind)
    if kind == "delta":
        writer = writer.option("overwriteSchema", "true")
    if target.endswith(TEMPORARY):
        config = {}
    writer = writer.options(**{key: str(value) for key, value in (config.get("options") or {}).items()})
    if partitions := as_list(config.get("partition_by")):
        writer = writer.partitionBy(*partitions)
    if (clusters := as_list(config.get("clustered_by"))) and config.get("buckets"):
        writer = writer.bucketBy(int(config["buckets"]), *clusters)
    if root := config.get("location_root"):
        writer = writer.option("path", f"{root}/{name_of(target)}")
    retry_over_unfinished(lambda: writer.saveAsTable(target))
    if properties := config.get("tblproperties"):
        listed = ", ".join(f"'{literal(key)}' = '{literal(value)}'" for key, value in properties.items())
        spark.sql(f"alter table {target} set tblproperties ({listed})")


def name_of(target: str) -> str:
    """Return a table's name without its schema and quotes."""
    return target.rpartition(".")[2].strip("`")


def as_list(value: str | list[str] | None) -> list[str]:
    """Return a name or a list of names as a list."""
    return [value] if isinstance(value, str) else list(value or [])


def to_frame(spark: SparkSession, result: Any) -> DataFrame:
    """Convert a model's result to a Spark DataFrame.

    It is a DataFrame of Spark (classic or Connect), of pandas on Spark or of pandas, an Arrow table, or any object that
    exports an Arrow stream, such as a polars DataFrame.
    """
    import pyarrow as pa

    if isinstance(result, DataFrame):
        return result
    if hasattr(result, "to_spark"):
        return result.to_spark()
    if "pandas" in sys.modules and isinstance(result, sys.modules["pandas"].DataFrame):
        table = pa.Table.from_pandas(result, preserve_index=False)
    elif hasattr(result, "__arrow_c_stream__"):
        table = pa.table(result)
    else:
        raise TypeError(
            f"{type(result)} is not a supported type: a model returns a DataFrame of Spark or pandas, or an Arrow table"
        )
    for place, field in enumerate(table.schema):
        if pa.types.is_null(field.type):  # tables cannot have a column of the null type
            table = table.set_column(place, field.name, table.column(place).cast(pa.string()))
    if not table.num_rows:  # types cannot be inferred from zero rows
        return spark.createDataFrame([], from_arrow_schema(table.schema))
    return spark.createDataFrame(table)
