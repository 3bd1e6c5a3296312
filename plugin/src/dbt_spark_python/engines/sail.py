"""Functions that hide the differences between Sail and Spark, each with the version in which it was seen.

Code marked "until" can be removed once a later version of Sail behaves as Spark does. `sail_server` starts the server.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache, partial, reduce
from typing import TYPE_CHECKING

from dbt_common.exceptions import DbtRuntimeError
from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, StructType

from dbt_spark_python.fences import single_query

if TYPE_CHECKING:
    from dbt_spark_python.python_model.worker_rows import Batches

# Blanks and comments, which dbt puts before a statement.
_BEFORE = r"(\s|/\*.*?\*/|--[^\n]*\n)*"

# Statements that return a count of type uint64, which pyspark's client cannot read (until 0.7.2 at least).
_COUNTING = re.compile(_BEFORE + r"(create|insert|merge|with\b.*?\binsert)\b", re.IGNORECASE | re.DOTALL)

# Statements that only return rows.
_QUERY = re.compile(_BEFORE + r"(select|with|describe)\b", re.IGNORECASE | re.DOTALL)

# The statement before dbt-spark replaces single partitions, which Sail cannot do (until 0.7.2 at least).
_PARTITIONS = re.compile(_BEFORE + r"set\s+spark[.]sql[.]sources[.]partitionOverwriteMode", re.IGNORECASE | re.DOTALL)


_BITS = 62  # bits of a bigint that are used as markers


def execute(session: SparkSession, sql: str) -> tuple[DataFrame | None, list[Row] | None]:
    """Execute a statement on Sail, and return its rows: to be collected, or also as collected."""
    if _PARTITIONS.match(sql):
        raise DbtRuntimeError(
            "on Sail `insert_overwrite` replaces whole tables: remove `partition_by`, or build with Spark"
        )
    if not _COUNTING.match(sql) and _QUERY.match(sql):
        rows = single_query.query_once(session, sql)
        return rows, rows.collect()
    rows = session.sql(sql)
    return (None, []) if _COUNTING.match(sql) else (rows, None)


@cache
def is_sail(session: SparkSession) -> bool:
    """Whether a session runs on Sail."""
    return "connect" in type(session).__module__ and session.sql("select current_catalog()").first()[0] == "sail"


def gather(rows: DataFrame, *keys: Column | str) -> DataFrame:
    """Bring the rows of each key into one partition; the engine chooses the number of partitions.

    Without a number of partitions Sail uses a single one (until 0.7.2 at least). Spark omits the shuffle after a join
    by the same columns, and then splits partitions of that join that are much larger than others (until 4.3 at least);
    partitioning by a hash of the keys avoids this.
    """
    if is_sail(rows.sparkSession):
        return rows.repartition(os.cpu_count() or 1, *keys)
    return rows.repartition(sf.xxhash64(*keys))


def map_in_arrow(rows: DataFrame, function: Callable[[Batches], Batches], schema: StructType | str) -> DataFrame:
    """Pass rows to a Python function like `mapInArrow`; on Spark, null lists are encoded so that they are fast."""
    from dbt_spark_python.python_model import worker_rows

    # The module is sent to the workers by value: importing this package there would require dbt.
    cloudpickle.register_pickle_by_value(worker_rows)
    lists = [field for field in rows.schema.fields if isinstance(field.dataType, ArrayType)][:_BITS]
    if is_sail(rows.sparkSession) or not lists:
        return rows.mapInArrow(function, schema)
    names = [field.name for field in lists]
    bits = (sf.when(sf.col(name).isNull(), 1 << number).otherwise(0) for number, name in enumerate(names))
    filled = {field.name: sf.coalesce(field.name, sf.array().cast(field.dataType)) for field in lists}
    rows = rows.withColumns({worker_rows.NULL_LISTS: reduce(Column.__add__, bits).cast("bigint"), **filled})
    return rows.mapInArrow(partial(worker_rows.with_null_lists, function=function, lists=names), schema)


def leading_bytes(session: SparkSession, column: str, count: int) -> Column:
    """Cut a binary column to its first bytes; on Sail it stays whole, because Sail (0.7.2) cuts valid text only.

    Readers on Sail cut lines themselves.
    """
    return sf.col(column) if is_sail(session) else sf.expr(f"substring({column}, 1, {count:d})").alias(column)
