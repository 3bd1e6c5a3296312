"""Gives a Python model its own earlier table and the rows of changed groups."""

import hashlib
import json
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as sf

from dbt_spark_python.incremental.plan import KEY, VERSION
from dbt_spark_python.input_files import Tail

#: Up to this many narrow rows are broadcast to all workers, which spares a shuffle of the larger side.
MOST_BROADCAST_ROWS = 500_000
#: The limit for the keys of groups, which a log can make long: 128 characters a row.
MOST_BROADCAST_CHARACTERS = 128 * MOST_BROADCAST_ROWS


class ExtendedTable(NamedTuple):
    """The result of a model that keeps all its earlier rows: the new rows, and the whole table.

    A model of the materialization `group_versions` may return it.
    """

    added: DataFrame  # The new rows. Only these are written if the files of the earlier table can be linked
    whole: DataFrame  # All rows


def earlier(spark: SparkSession, relation: object) -> DataFrame | None:
    """Return the earlier table of a model by its name (`dbt.this`), if it exists and the model may continue from it."""
    plan = _plan_of(spark, relation)
    is_continued = plan is None or plan["has_earlier_rows"]
    return spark.table(str(relation)) if is_continued and spark.catalog.tableExists(str(relation)) else None


def tails(spark: SparkSession, relation: object) -> list[Tail] | None:
    """Return the bytes that the log of a model gained since its table was built; see `input_files.find_tails`."""
    plan = _plan_of(spark, relation)
    return [Tail(*tail) for tail in json.loads(plan["tails"])] if plan and plan["tails"] else None


def only_changed(spark: SparkSession, relation: object, rows: DataFrame, key: str, versions: DataFrame) -> DataFrame:
    """Keep the rows of groups that changed since a model's table was built; all rows in a full build.

    Args:
        spark: The session.
        relation: The model's name (`dbt.this`).
        rows: The rows.
        key: The column of `rows` that names the group, spelled as in the model's own rows.
        versions: The table of group versions.
    """
    plan = _plan_of(spark, relation)
    if plan is None or not plan["since"]:
        return rows
    return rows_of_groups(rows, key, changed_groups(versions, plan["since"], are_few=plan["are_few"]))


def plan_view_name(relation: object) -> str:
    """Return the name of the temporary view with the part of a plan that a Python model reads, in one row.

    Its columns are `since`, the version since which the model's groups are rebuilt (0 rebuilds all), `are_few`, whether
    joins broadcast the keys of these groups, `has_earlier_rows`, whether the model continues from its own earlier
    table, `has_kept_rows`, whether rows of unchanged groups are added to its result, and `tails`, the JSON of the
    result of `tails`.
    """
    return f"plan_{_digest(relation)}"


def kept_view_name(relation: object) -> str:
    """Return the name of the temporary view with the earlier rows that are added to the new ones of a model."""
    return f"kept_{_digest(relation)}"


def add_kept_rows(spark: SparkSession, relation: object, rows: DataFrame) -> DataFrame:
    """Add the earlier rows of unchanged groups to the rows of a Python model, if its plan says so."""
    plan = _plan_of(spark, relation)
    return rows.unionByName(spark.table(kept_view_name(relation))) if plan and plan["has_kept_rows"] else rows


def _plan_of(spark: SparkSession, relation: object) -> Row | None:
    view = plan_view_name(relation)
    return spark.table(view).first() if spark.catalog.tableExists(view) else None


def _digest(relation: object) -> str:
    return hashlib.sha256(str(relation).replace("`", "").lower().encode()).hexdigest()[:32]


def compare_rows(now: DataFrame, before: DataFrame) -> DataFrame:
    """Return the distinct rows of two frames with the flags `is_now` and `was_before`, each 1 or 0."""
    sides = (now, 1, 0), (before, 0, 1)
    marked = [
        rows.withColumn("is_now", sf.lit(is_now)).withColumn("was_before", sf.lit(was)) for rows, is_now, was in sides
    ]
    found = marked[0].unionByName(marked[1]).groupBy(*now.columns)
    return found.agg(sf.max("is_now").alias("is_now"), sf.max("was_before").alias("was_before"))


def changed_groups(versions: DataFrame, since: int, column: str = KEY, are_few: bool = False) -> DataFrame:
    """Return the keys of the groups with a later version than `since`, for semi and anti joins.

    Args:
        versions: The table of group versions; groups without rows are included.
        since: The version.
        column: The column that names a group. A key may occur twice.
        are_few: Broadcast the keys. Spark estimates their size by the whole table of versions, so without a hint it
            shuffles both sides of a join.
    """
    keys = versions.where(sf.col(VERSION) > since).select(group_key_text(column).alias(KEY))
    return sf.broadcast(keys) if are_few else keys


def rows_of_groups(rows: DataFrame, key: str, groups: DataFrame, how: str = "left_semi") -> DataFrame:
    """Return the rows of some groups, or with `left_anti` all others; `key` is the SQL expression of a row's group."""
    return rows.join(groups, group_key_text(key) == groups[KEY], how)


def group_key_text(key: str) -> Column:
    """Return the column that names a row's group: the key as text, empty if the key is null."""
    return sf.expr(f"coalesce(cast({key} as string), '')")


class NarrowRows:
    """Narrow rows that are computed once; joins broadcast them if they are few."""

    def __init__(self, rows: DataFrame) -> None:
        self.rows = rows.localCheckpoint()
        self.count = self.rows.count()

    def broadcast_if_small(self, rows: DataFrame) -> DataFrame:
        """Add a broadcast hint to rows derived from these, if they are few."""
        return sf.broadcast(rows) if self.count <= MOST_BROADCAST_ROWS else rows
