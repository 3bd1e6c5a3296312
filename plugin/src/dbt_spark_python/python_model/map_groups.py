"""Runs a kernel on whole groups of rows: all rows of a group reach the same call."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from dbt_spark_python.engines import sail
from dbt_spark_python.python_model import worker_rows
from dbt_spark_python.python_model.columns import arrow_schema


def map_groups(
    rows: DataFrame,
    keys: list[str],
    kernel: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: pa.Schema | StructType | str,
    order: Sequence[str] = (),
) -> DataFrame:
    """Make a table from groups of rows by a kernel; each call gets all rows of one partition of whole groups.

    Args:
        rows: The rows.
        keys: The columns that identify a group.
        kernel: Takes record batches and returns record batches with the columns of `schema`, in any order.
        schema: The result's schema, of Arrow or Spark, or as SQL text.
        order: Columns. If there are any, the kernel gets its rows sorted by the keys and then by these columns.
    """
    if isinstance(schema, str):
        schema = rows.sparkSession.createDataFrame([], schema).schema
    arrow = schema if isinstance(schema, pa.Schema) else arrow_schema(schema)
    whole = sail.gather(rows, *keys)
    if order and sail.is_sail(rows.sparkSession):
        # Sail omits a sort before a Python function (until 0.7.2 at least).
        kernel = partial(worker_rows.sort_first, kernel=kernel, order=[*keys, *order])
    elif order:
        whole = whole.sortWithinPartitions(*keys, *order)
    return sail.map_in_arrow(whole, partial(worker_rows.run, kernel=kernel, schema=arrow), from_arrow_schema(arrow))
