"""Finds what differs between a table as it was and as it is now, once, and counts it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from dbt_spark_python import known_lines
from dbt_spark_python.earlier import MOST_SENT
from dbt_spark_python.groups import DIGEST
from dbt_spark_python.row_texts import row_digest, row_text

_ROW, _KEY, _WAS, _NOW = "__row", "__key", "__was", "__now"
_COUNTS = "rows_added", "rows_changed", "rows_removed"


@dataclass(frozen=True)
class Differing:
    """The rows that are not as often in two versions of a table, in parquet files.

    Attributes:
        folder: Of the files. They have the columns whose values were asked for; what a row is told by; how often it was
            and is now; where changes are counted, a hash of its key.
    """

    spark: SparkSession
    folder: Path

    @property
    def count(self) -> int:
        """How many rows; those that are several times count once."""
        return count_rows(self.folder) if self.folder.is_dir() else 0  # not every engine writes a file without rows

    @property
    def is_any_old(self) -> bool:
        """Whether any of them was there before; true also where the files do not say."""
        return self.count > 0 and _largest(self.folder, _WAS) != 0

    def new_rows(self, after: DataFrame) -> DataFrame:
        """Those of the new version that are among them: the rows to be added, unless any is old."""
        rows = after.withColumn(_ROW, sf.unhex(row_digest(after, after.columns)))
        found = self.spark.read.parquet(str(self.folder)).select(_ROW)
        return rows.join(sf.broadcast(found) if self.count <= MOST_SENT else found, _ROW, "left_semi").drop(_ROW)

    def count_changes(self) -> dict[str, int]:
        """Count the rows that are new, those that say something else, and those that are gone, by their keys.

        As `count_differing`, which see.
        """
        if not self.count:
            return dict.fromkeys(_COUNTS, 0)
        return _count(
            self.spark.read.parquet(str(self.folder))
            .groupBy(_KEY)
            .agg(
                sf.sum(_WAS).alias("was"),
                sf.sum(_NOW).alias("now"),
                # A row that is there more or less often than it was says nothing else.
                sf.expr(f"bool_or({_WAS} > {_NOW}) and bool_or({_WAS} < {_NOW})").alias("is_other"),
            )
        )


def count_differing(before: DataFrame, after: DataFrame, grain: Sequence[str]) -> dict[str, int]:
    """Count the rows that are new in a table, those that say something else, and those that are gone, by their keys.

    Keys and rows are compared by hashes of 64 bits: of ten million rows, a count is off by one in less than one case of
    a hundred thousand, unless who writes the rows wants it so. Nothing but these counts rests on it.

    Args:
        before: The table as it was.
        after: As it is now.
        grain: As for `find_differing`. Of rows that share a key the least and the greatest hash are compared.
    """
    sides = [
        rows.select(
            _key(rows, grain, before).alias(_KEY),
            _hash(rows, rows.columns).alias(_ROW),
            sf.lit(is_now).alias(_NOW),
        )
        for rows, is_now in ((before, False), (after, True))
    ]
    old, new = f"if({_NOW}, null, {_ROW})", f"if({_NOW}, {_ROW}, null)"
    return _count(
        sides[0]
        .unionAll(sides[1])
        .groupBy(_KEY)
        .agg(
            sf.expr(f"count({old})").alias("was"),
            sf.expr(f"count({new})").alias("now"),
            sf.expr(f"min({old}) <> min({new}) or max({old}) <> max({new})").alias("is_other"),
        )
    )


def _count(keys: DataFrame) -> dict[str, int]:
    """Count keys: of each how many rows it had and has, and whether one of them is another."""
    conditions = "was = 0", "was > 0 and now > 0 and is_other", "now = 0"
    told = (sf.count_if(sf.expr(condition)) for condition in conditions)
    return dict(zip(_COUNTS, keys.agg(*told).first(), strict=True))


def find_differing(
    before: DataFrame,
    after: DataFrame,
    folder: Path,
    told: Sequence[str],
    grain: Sequence[str] | None = None,
    by_digests: bool = False,
) -> Differing:
    """Find the rows that are not as often in both versions of a table, by SHA-256: none only if both are the same.

    Args:
        before: A table as it was.
        after: As it is now.
        folder: Where to write what is found; there is none yet.
        told: The columns whose values are wanted, one at least.
        grain: The columns by which a row is the same one, for counting; null is a value. With none, or where the table
            had not all of them, a row that says something else is another. Nothing is counted where this is None.
        by_digests: The tables are of `reduced_by_group` or of `check_lines`, made in the same way: rows follow from
            the digest of their group or line that they have, and that alone is compared. Not where changes are counted.
    """
    sides = []
    for rows, was, now in (before, 1, 0), (after, 0, 1):
        columns = {_ROW: _told_by(rows, by_digests and grain is None)}
        if grain is not None:
            # Keys are several ids as a rule, of some 50 bytes each; of a hash 8 are moved and held.
            columns[_KEY] = _key(rows, grain, before)
        columns |= {_WAS: sf.lit(was), _NOW: sf.lit(now)}
        sides.append(rows.select(*told, *(column.alias(name) for name, column in columns.items())))
    same = sides[0].unionAll(sides[1]).groupBy(*told, *(name for name in (_ROW, _KEY) if name in sides[0].columns))
    counts = same.agg(sf.sum(_WAS).alias(_WAS), sf.sum(_NOW).alias(_NOW))
    counts.where(f"{_WAS} <> {_NOW}").write.parquet(str(folder))
    return Differing(before.sparkSession, folder)


def _told_by(rows: DataFrame, by_digests: bool) -> Column:
    if by_digests and DIGEST in rows.columns:
        return sf.col(DIGEST)
    whole = sf.unhex(row_digest(rows, rows.columns))
    if by_digests and {known_lines.DIGEST, *known_lines.PLACE} <= set(rows.columns):
        placed = sf.unhex(row_digest(rows, [*known_lines.PLACE, known_lines.DIGEST]))
        return sf.when(sf.col(known_lines.DIGEST).isNull(), whole).otherwise(placed)
    return whole


def _key(rows: DataFrame, grain: Sequence[str], before: DataFrame) -> Column:
    """A hash of the columns by which a row is the same one, of those that the table had before; without any, of all."""
    return _hash(rows, [key for key in grain if key in before.columns] or rows.columns)


def _hash(rows: DataFrame, columns: Sequence[str]) -> Column:
    return sf.xxhash64(row_text(rows, columns))


def count_rows(folder: Path) -> int:
    """The rows of the parquet files in a folder, as these say."""
    return sum(pq.read_metadata(file).num_rows for file in folder.rglob("*.parquet"))


def _largest(folder: Path, column: str) -> int | None:
    """The largest number in a column of the parquet files in a folder, as these say; None where they do not."""
    found = []
    for file in folder.rglob("*.parquet"):
        metadata = pq.read_metadata(file)
        place = metadata.schema.names.index(column)
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            statistics = group.column(place).statistics
            if statistics is None or not statistics.has_min_max:
                return None
            found.append(statistics.max)
    return max(found, default=None)
