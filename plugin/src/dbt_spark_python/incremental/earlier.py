"""What a table was before, for a model that goes on from it; and what differs from that, sent to where the rest is."""

import hashlib
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from dbt_spark_python.engines.sail import checkpoint
from dbt_spark_python.incremental.plan import KEY, VERSION

#: So many rows of few columns go to every worker, where that spares moving all others.
MOST_SENT = 500_000


class Grown(NamedTuple):
    """A table that is what it was and some more rows, as a `republished` model may return it.

    Attributes:
        added: The new rows. They are all that is written where the earlier table's files are at hand.
        whole: All rows.
    """

    added: DataFrame
    whole: DataFrame


def earlier(spark: SparkSession, relation: object) -> DataFrame | None:
    """The table that a model's name (`dbt.this`) leads to; None where there is none."""
    return spark.table(str(relation)) if spark.catalog.tableExists(str(relation)) else None


def only_changed(spark: SparkSession, relation: object, rows: DataFrame, key: str, versions: DataFrame) -> DataFrame:
    """Those of some rows whose group has changed since a model's table was built; all of them in a full build.

    Args:
        spark: The session.
        relation: The model's name (`dbt.this`).
        rows: The rows.
        key: Their column that names the group, as the model's own rows name it.
        versions: The table with the versions of the groups.
    """
    view = since_view(relation)
    if not spark.catalog.tableExists(view):
        return rows
    return of_groups(rows, key, changed_groups(versions, spark.table(view).first()[0]))


def since_view(relation: object) -> str:
    """The name of the temporary view with the version since which the groups of a table are made again."""
    return f"since_{hashlib.sha256(str(relation).replace('`', '').lower().encode()).hexdigest()[:32]}"


def compared(now: DataFrame, before: DataFrame) -> DataFrame:
    """The distinct rows of two frames with the same columns, with `is_now` and `was_before`: 1 where they are, or 0."""
    sides = (now, 1, 0), (before, 0, 1)
    marked = [
        rows.withColumn("is_now", sf.lit(is_now)).withColumn("was_before", sf.lit(was)) for rows, is_now, was in sides
    ]
    found = marked[0].unionByName(marked[1]).groupBy(*now.columns)
    return found.agg(sf.max("is_now").alias("is_now"), sf.max("was_before").alias("was_before"))


def changed_groups(versions: DataFrame, since: int, column: str = KEY) -> DataFrame:
    """The keys of the groups with a later version than a number, groups that are gone included."""
    return versions.where(sf.col(VERSION) > since).select(group_name(column).alias(KEY)).distinct()


def of_groups(rows: DataFrame, key: str, groups: DataFrame, how: str = "left_semi") -> DataFrame:
    """The rows of some groups, or with `left_anti` the others; `key` is the SQL expression of a row's group."""
    return rows.join(groups, group_name(key) == groups[KEY], how)


def group_name(key: str) -> Column:
    """The name of a row's group by the SQL expression of its key: a text, which is empty where the key is null."""
    return sf.expr(f"coalesce(cast({key} as string), '')")


class Few:
    """Rows of few columns that are computed once, and joined in the cheapest way for as many as they are."""

    def __init__(self, rows: DataFrame) -> None:
        self.rows = checkpoint(rows)
        self.count = self.rows.count()

    def sent(self, rows: DataFrame) -> DataFrame:
        """What was made of these rows, with a hint to send it to all workers if they are few."""
        return sf.broadcast(rows) if self.count <= MOST_SENT else rows
