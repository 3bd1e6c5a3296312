"""Columns of tables, as Spark has them."""

import re
from collections.abc import Iterable

from pyspark.sql.types import StructField, StructType

_COUNT = re.compile(r"\bcount\s*\(\s*\*\s*\)", re.IGNORECASE)
# By these a query reads columns of which it has no name; a star beside a slash is a comment's.
_UNNAMED = re.compile(r"(?<!/)\*(?!/)|\|>|\b(natural|pivot|unpivot|table)\b", re.IGNORECASE)


def nullable(columns: StructType) -> StructType:
    """The same columns, any of which may be null, as those of files are to Spark."""
    return StructType([StructField(column.name, column.dataType) for column in columns])


def mentioned(names: Iterable[str], query: str) -> list[str]:
    """Those of some columns that a query may read: all where it reads any without naming them.

    A name may be in it for something else: then a column is read that need not be.
    """
    names, query = list(names), _COUNT.sub("", query)
    if _UNNAMED.search(query):
        return names
    return [name for name in names if re.search(rf"(?<!\w){re.escape(_quoted(name))}(?!\w)", query, re.IGNORECASE)]


def _quoted(name: str) -> str:
    return name.replace("`", "``")
