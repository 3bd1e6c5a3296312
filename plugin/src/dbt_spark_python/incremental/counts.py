"""Counts the rows in which two versions of a table differ."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

from dbt_spark_python.table_store.public_folders import Publication

_ROW, _KEY, _NOW = "__row", "__key", "__now"
COUNTS = "rows_added", "rows_changed", "rows_removed"
#: Types that are hashed as JSON: a hash of their values would skip nulls within them, and boundaries between lists.
_NESTED = ArrayType, MapType, StructType, VariantType


def count_changes(before: DataFrame, after: DataFrame, publication: Publication) -> dict[str, int]:
    """Count the rows in which a new table differs from the published one; if groups were replaced, among their rows."""
    changed = publication.changed
    is_partial = changed is not None and changed.others_stay
    sides = [changed.rows_in(rows) if is_partial else rows for rows in (before, after)]
    return count_differing(*sides, publication.key_columns or [])


def count_differing(before: DataFrame, after: DataFrame, key_columns: Sequence[str]) -> dict[str, int]:
    """Count the rows that were added, changed and removed between two versions of a table, by their keys.

    Keys and rows are compared by 64-bit hashes. For ten million rows a count is off by one with a probability below 1
    in 100,000, unless the rows' author constructs collisions. Only these counts depend on the hashes.

    Null counts as a value of a key. Without key columns, or if the earlier version lacks them, a changed row counts as
    one removed and one added row. Among rows with the same key, the smallest and the largest hash are compared.
    """
    keys = [key for key in key_columns if key in before.columns]
    sides = [
        rows.select(
            row_hash(rows, keys or rows.columns).alias(_KEY),
            row_hash(rows, rows.columns).alias(_ROW),
            sf.lit(is_now).alias(_NOW),
        )
        for rows, is_now in ((before, False), (after, True))
    ]
    old, new = f"if({_NOW}, null, {_ROW})", f"if({_NOW}, {_ROW}, null)"
    counted = (
        sides[0]
        .unionAll(sides[1])
        .repartition(_KEY)  # an aggregation before the shuffle would meet few rows with equal keys
        .groupBy(_KEY)
        .agg(
            sf.expr(f"count({old})").alias("was"),
            sf.expr(f"count({new})").alias("now"),
            sf.expr(f"min({old}) <> min({new}) or max({old}) <> max({new})").alias("is_other"),
        )
    )
    conditions = "was = 0", "was > 0 and now > 0 and is_other", "now = 0"
    return dict(zip(COUNTS, counted.agg(*(sf.count_if(sf.expr(each)) for each in conditions)).first(), strict=True))


def row_hash(rows: DataFrame, names: Sequence[str]) -> Column:
    """Return a 64-bit hash of some columns of a row: of their names and values.

    `xxhash64` skips nulls, so the hash covers for each column whether it has a value. 0.0 and -0.0 count as equal.
    """
    kinds = {field.name: field.dataType for field in rows.schema.fields}
    nested = [name for name in names if isinstance(kinds[name], _NESTED)]
    values = [*map(sf.isnotnull, names), *(sf.col(name) for name in names if name not in nested)]
    if nested:
        values.append(sf.to_json(sf.struct(*nested)))
    return sf.xxhash64(sf.lit(repr([*names])), *values)
