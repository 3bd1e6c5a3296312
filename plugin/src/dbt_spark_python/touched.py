"""Which groups of rows are touched: those with rows, in any of some tables, that are not what they were."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from dbt_spark_python.changes import Differing
from dbt_spark_python.earlier import Few
from dbt_spark_python.groups import join_groups
from dbt_spark_python.steps import find_steps, has_columns
from dbt_spark_python.warehouse import Warehouse


@dataclass(frozen=True)
class Touched:
    """Groups that are touched.

    Attributes:
        keys: The columns that name a group, in the table that is made.
        names: The names of the groups, in columns of the names of `keys`.
    """

    keys: Sequence[str]
    names: Few

    def of(self, rows: DataFrame, columns: Sequence[str] | None = None) -> DataFrame:
        """Those of some rows that are of these groups, by the columns that name them there."""
        return self._joined(rows, columns or self.keys, "left_semi")

    def others(self, rows: DataFrame) -> DataFrame:
        """Those that are of no such group."""
        return self._joined(rows, self.keys, "left_anti")

    def _joined(self, rows: DataFrame, columns: Sequence[str], how: str) -> DataFrame:
        return join_groups(rows, list(columns), self.names.sent(self.names.rows.toDF(*columns)), how)


@dataclass(frozen=True)
class Told:
    """What a new table is to tell of its rows that differ.

    Attributes:
        columns: Those whose values are kept.
        by_digests: See `changes.find_differing`.
        differing: What differs, where that is known; without it, both versions are compared.
        touched: The groups in which they may differ; without it, in any.
    """

    columns: Sequence[str]
    by_digests: bool = False
    differing: Differing | None = None
    touched: Touched | None = None


def find_touched(
    spark: SparkSession,
    warehouse: Warehouse,
    before: Mapping[str, str],
    now: Mapping[str, str],
    of: Mapping[str, Sequence[str]],
    keys: Sequence[str],
) -> Touched | None:
    """Find the groups with rows that differ between what a table was made of and what it would be made of now.

    Args:
        spark: The session.
        warehouse: Where these tables are.
        before: The digests of the contents of the tables it was made of, by `schema.name`.
        now: Those of now.
        of: The tables of which a group is made by group, by `schema.name`, and their columns that name it; none where
            rows follow from those of other tables, so that what they are decides nothing.
        keys: The columns that name it in the result.

    Returns:
        The groups; None where they cannot be told: other tables, one that is read whole has changed, or steps are
        missing between two contents.
    """
    if before.keys() != now.keys():
        return None
    frames = []
    for table in (name for name, content in now.items() if content != before[name]):
        schema, _, name = table.partition(".")
        columns = of.get(table)
        if columns is not None and not columns:
            continue
        steps = find_steps(warehouse, schema, name, before[table], now[table]) if columns else None
        if steps is None or not has_columns(steps, columns):
            return None
        for step in steps:
            named = (sf.col(column).alias(key) for column, key in zip(columns, keys, strict=True))
            frames.append(spark.read.parquet(str(step)).select(*named))
    if not frames:
        return None
    return Touched(keys, Few(reduce(DataFrame.unionAll, frames).distinct()))
