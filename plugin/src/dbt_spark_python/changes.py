"""Counts what differs between a table as it was and as it is now."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from dbt_spark_python.row_texts import row_text


def count_changes(before: DataFrame, after: DataFrame, keys: Sequence[str]) -> dict[str, int]:
    """Count the rows that are new, those that say something else, and those that are gone.

    Keys and rows are compared by hashes of 64 bits: of ten million rows, a count is off by one in less than one case of
    a hundred thousand, unless who writes the rows wants it so. Nothing but these counts rests on it.

    Args:
        before: The table as it was.
        after: As it is now.
        keys: The columns by which a row is the same one; null is a value. Without any, or where the table had not all
            of them, a row that says something else is another.

    Returns:
        `rows_added`, `rows_changed` and `rows_removed`.
    """
    keys = [key for key in keys if key in before.columns]
    sides = []
    for rows, now in (before, False), (after, True):
        digest = sf.xxhash64(row_text(rows, rows.columns))
        # Keys are several ids as a rule, of some 50 bytes each; of a hash 8 are moved and held.
        key = sf.xxhash64(row_text(rows, keys)) if keys else digest
        found = [sf.when(sf.lit(side == now), digest).alias(name) for name, side in (("was", False), ("is", True))]
        sides.append(rows.select(key.alias("key"), *found))
    same = sides[0].union(sides[1]).groupBy("key").agg(sf.max("was").alias("was"), sf.max("is").alias("is"))
    counts = same.select(
        *(
            sf.coalesce(sf.sum(sf.expr(f"cast({condition} as bigint)")), sf.lit(0)).alias(name)
            for name, condition in {
                "rows_added": "`was` is null",
                "rows_changed": "`was` is not null and `is` is not null and `was` <> `is`",
                "rows_removed": "`is` is null",
            }.items()
        )
    )
    return counts.first().asDict()


def count_rows(folder: Path) -> int:
    """The rows of the parquet files in a folder, as these say."""
    return sum(pq.read_metadata(file).num_rows for file in folder.rglob("*.parquet"))
