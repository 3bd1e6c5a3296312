"""Finds a part of a line by what stands behind it."""

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf

from dbt_spark_python.engines.sail import is_sail
from dbt_spark_python.table_store.catalog import literal


def text_before(spark: SparkSession, column: str, mark: str, length: int, within: int) -> Column:
    """The column of what stands before a mark, for bringing lines together that have the same there.

    A search from the start of a line costs an engine several times what it costs to hand the line on. So the end is
    searched first, and the whole only where that does not have it.

    Args:
        spark: The session.
        column: Of bytes.
        mark: ASCII.
        length: So many characters before it; fewer where the line begins before.
        within: So many bytes of the end are searched first (on Sail, characters).

    Returns:
        Strings. What they are where there is no mark says nothing; null where the bytes are no text to the engine.
    """
    text = f"try_cast({column} as string)"
    # Of bytes, Sail cannot cut any (until 0.6.6); of a string, Spark would count the characters first.
    end = f"right({text}, {within:d})" if is_sail(spark) else f"try_cast(substring({column}, -{within:d}) as string)"
    at_end, anywhere = (f"locate('{literal(mark)}', {where})" for where in (end, text))
    return sf.expr(
        f"case when {at_end} > {length:d} then substring({end}, {at_end} - {length:d}, {length:d}) "
        f"else substring({text}, greatest({anywhere} - {length:d}, 1), {length:d}) end"
    )
