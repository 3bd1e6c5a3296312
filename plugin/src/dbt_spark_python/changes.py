"""Counts and finds what differs between a table as it was and as it is now."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from dbt_spark_python import known_lines
from dbt_spark_python.earlier import Few
from dbt_spark_python.groups import DIGEST
from dbt_spark_python.row_texts import row_digest, row_text


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


def find_differing(before: DataFrame, after: DataFrame, columns: Sequence[str], by_digests: bool = False) -> DataFrame:
    """Find the values that some columns have in the rows that are not as often in both tables; each once.

    There are none if and only if the rows are the same: they are compared by SHA-256.

    Args:
        before: A table as it was.
        after: As it is now.
        columns: Whose values are wanted.
        by_digests: The tables are of `reduced_by_group` or of `check_lines`, made in the same way: rows follow from
            the digest of their group or line that they have, and that alone is compared.
    """
    sides = [
        rows.select(*columns, _told_by(rows, by_digests).alias("row_digest"), sf.lit(side).alias("side"))
        for rows, side in ((before, -1), (after, 1))
    ]
    same = sides[0].unionAll(sides[1]).groupBy(*columns, "row_digest").agg(sf.sum("side").alias("side"))
    return same.where("side <> 0").select(*columns).distinct()


def find_rows(before: DataFrame, after: DataFrame) -> tuple[Few, DataFrame]:
    """Find the rows that are not as often in both tables, by SHA-256.

    Returns:
        Their digests, with how often they were (`was`) and are (`now`); and the rows of `after` that are among them.
    """
    after = after.withColumn("row_digest", sf.unhex(row_digest(after, after.columns)))
    sides = (
        before.select(
            sf.unhex(row_digest(before, before.columns)).alias("row_digest"),
            sf.lit(1).alias("was"),
            sf.lit(0).alias("now"),
        ),
        after.select("row_digest", sf.lit(0).alias("was"), sf.lit(1).alias("now")),
    )
    counts = (
        sides[0].unionAll(sides[1]).groupBy("row_digest").agg(sf.sum("was").alias("was"), sf.sum("now").alias("now"))
    )
    found = Few(counts.where("was <> now"))
    rows = after.join(found.sent(found.rows.select("row_digest")), "row_digest", "left_semi")
    return found, rows.drop("row_digest")


def _told_by(rows: DataFrame, by_digests: bool) -> Column:
    if by_digests and DIGEST in rows.columns:
        return sf.col(DIGEST)
    whole = sf.unhex(row_digest(rows, rows.columns))
    if by_digests and {known_lines.DIGEST, *known_lines.PLACE} <= set(rows.columns):
        placed = sf.unhex(row_digest(rows, [*known_lines.PLACE, known_lines.DIGEST]))
        return sf.when(sf.col(known_lines.DIGEST).isNull(), whole).otherwise(placed)
    return whole


def count_rows(folder: Path) -> int:
    """The rows of the parquet files in a folder, as these say."""
    return sum(pq.read_metadata(file).num_rows for file in folder.rglob("*.parquet"))
