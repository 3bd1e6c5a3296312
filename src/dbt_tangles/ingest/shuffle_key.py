"""Extracts the text before a mark in a line, as a key to partition lines by."""

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf

from dbt_spark_python.engines.sail import is_sail
from dbt_spark_python.table_store.catalog import literal


def text_before(spark: SparkSession, column: str, mark: str, length: int, within: int) -> Column:
    """Return the column of the text before a mark, so that lines with the same text can be shuffled together.

    Searching a line from its start costs several times as much as passing it on. Therefore the end of the line is
    searched first, and the whole line only if the mark is not there.

    Args:
        spark: The session.
        column: A binary column.
        mark: An ASCII text.
        length: The number of characters before the mark; fewer if the line starts later.
        within: The number of bytes at the end that are searched first (on Sail, characters).

    Returns:
        Strings. Without a mark their value is arbitrary; they are null if the bytes are not valid text.
    """
    text = f"try_cast({column} as string)"
    # Sail before 0.7 cut strings only; Spark would count all characters of a string first.
    end = f"right({text}, {within:d})" if is_sail(spark) else f"try_cast(substring({column}, -{within:d}) as string)"
    at_end, anywhere = (f"locate('{literal(mark)}', {where})" for where in (end, text))
    return sf.expr(
        f"case when {at_end} > {length:d} then substring({end}, {at_end} - {length:d}, {length:d}) "
        f"else substring({text}, greatest({anywhere} - {length:d}, 1), {length:d}) end"
    )
