"""Extracts the text before a mark in a line, as a key to partition lines by."""

from pyspark.sql import Column
from pyspark.sql import functions as sf

from dbt_spark_python.table_store.catalog import literal


def text_before(column: str, mark: str, length: int, within: int) -> Column:
    """Return the column of the text before a mark, so that lines with the same text can be shuffled together.

    Searching a line from its start costs several times as much as passing it on. Therefore the end of the line is
    searched first, and the whole line only if the mark is not there.

    Args:
        column: A binary column.
        mark: An ASCII text.
        length: The number of characters before the mark; fewer if the line starts later.
        within: The number of characters at the end that are searched first.

    Returns:
        Strings. Without a mark their value is arbitrary; they are null if the bytes are not valid text.
    """
    text = f"try_cast({column} as string)"
    end = f"right({text}, {within:d})"
    at_end, anywhere = (f"locate('{literal(mark)}', {where})" for where in (end, text))
    return sf.expr(
        f"case when {at_end} > {length:d} then substring({end}, {at_end} - {length:d}, {length:d}) "
        f"else substring({text}, greatest({anywhere} - {length:d}, 1), {length:d}) end"
    )
